#include "slicewise/sim/device/memory_ledger.hpp"

#include <algorithm>
#include <cassert>

#include "slicewise/models/execution_law.hpp"

namespace slicewise::sim {
namespace {

constexpr Bytes kPlenty = gibibytes(2);

}  // namespace

MemoryLedger::MemoryLedger(std::uint32_t contexts, Bytes usable, Bytes context_memory,
                           Bytes greedy_reserve, Bytes server)
    : usable_(usable),
      context_memory_(context_memory),
      greedy_reserve_(greedy_reserve),
      server_(server),
      held_(contexts) {
  assert(usable.count >= 0 && context_memory.count >= 0 && greedy_reserve.count >= 0);
}

// All that is free but for the reserve.
Bytes MemoryLedger::greedy_share(Bytes available) const {
  return available - (available < kPlenty ? models::kSmallGreedyReserve : greedy_reserve_);
}

std::optional<Bytes> MemoryLedger::open(std::uint32_t context, const Process& process) {
  assert(process.needed.count >= 0 && process.copies >= 1 && held_[context] == Bytes{});
  if (process.needed > usable_) return std::nullopt;  // and sums below cannot overflow
  const Bytes one = context_memory_ + process.needed;
  const Bytes available = usable_ - used_;
  if (process.limit && one + process.spare > *process.limit) return std::nullopt;
  if (Bytes{one.count * process.copies} + process.spare > available) return std::nullopt;
  Bytes held{one.count * process.copies};
  if (process.greedy) {
    const Bytes contexts{context_memory_.count * process.copies};
    Bytes mapped = contexts + greedy_share(available - contexts);
    if (process.limit) mapped = std::min(mapped, Bytes{process.limit->count * process.copies});
    held = std::max(held, mapped);
  }
  held_[context] = held;
  used_ += held;
  peak_ = std::max(peak_, used());
  return held;
}

void MemoryLedger::close(std::uint32_t context) {
  used_ -= held_[context];
  held_[context] = Bytes{};
}

}  // namespace slicewise::sim
