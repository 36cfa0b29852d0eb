#include "slicewise/sim/device/memory_ledger.hpp"

#include <algorithm>
#include <cassert>

#include "slicewise/models/execution_law.hpp"

namespace slicewise::sim {
namespace {

constexpr Bytes kPlenty = gibibytes(2);

}  // namespace

MemoryLedger::MemoryLedger(std::uint32_t contexts, Bytes usable, Bytes context_memory,
                           Bytes greedy_reserve)
    : usable_(usable),
      context_memory_(context_memory),
      greedy_reserve_(greedy_reserve),
      held_(contexts) {
  assert(usable.count >= 0 && context_memory.count >= 0 && greedy_reserve.count >= 0);
}

// All that is free but for the reserve.
Bytes MemoryLedger::greedy_share(Bytes available) const {
  return available - (available < kPlenty ? models::kSmallGreedyReserve : greedy_reserve_);
}

std::optional<Bytes> MemoryLedger::open(std::uint32_t context, Bytes needed, bool greedy) {
  assert(needed.count >= 0 && held_[context] == Bytes{});
  const Bytes available = usable_ - used_ - context_memory_;
  if (needed > available) return std::nullopt;
  const Bytes mapped = greedy ? std::max(needed, greedy_share(available)) : needed;
  held_[context] = context_memory_ + mapped;
  used_ += held_[context];
  peak_ = std::max(peak_, used_);
  return held_[context];
}

void MemoryLedger::close(std::uint32_t context) {
  used_ -= held_[context];
  held_[context] = Bytes{};
}

}  // namespace slicewise::sim
