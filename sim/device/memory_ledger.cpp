#include "slicewise/sim/device/memory_ledger.hpp"

#include <algorithm>
#include <cassert>

namespace slicewise::sim {
namespace {

// What TensorFlow's allocator leaves to the system when it maps "all" memory. Assumed: the rule of
// MinSystemMemory in TensorFlow 1.x gpu_device.cc; later versions keep more on newer GPUs.
constexpr Bytes kLeastReserve = mebibytes(300);
constexpr std::int64_t kReserveDivisor = 20;  // 5 %

Bytes reserve_of(Bytes available) {
  return std::max(kLeastReserve, Bytes{available.count / kReserveDivisor});
}

}  // namespace

MemoryLedger::MemoryLedger(std::uint32_t contexts, Bytes usable, Bytes context_memory)
    : usable_(usable), context_memory_(context_memory), held_(contexts) {
  assert(usable.count >= 0 && context_memory.count >= 0);
}

std::optional<Bytes> MemoryLedger::open(std::uint32_t context, Bytes needed, bool greedy) {
  assert(needed.count >= 0 && held_[context] == Bytes{});
  const Bytes available = usable_ - used_ - context_memory_;
  if (needed > available) return std::nullopt;
  const Bytes mapped = greedy ? std::max(needed, available - reserve_of(available)) : needed;
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
