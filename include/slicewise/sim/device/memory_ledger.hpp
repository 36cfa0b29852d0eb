#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// Who holds how much of one GPU's memory. Time-slicing sets no limit per process: the allocation
// that does not fit fails that process, whoever filled the GPU.
class MemoryLedger {
 public:
  // `greedy_reserve`: what a greedy process leaves free, see models::greedy_reserve.
  MemoryLedger(std::uint32_t contexts, Bytes usable, Bytes context_memory, Bytes greedy_reserve);

  // A process opens its CUDA context and allocates `needed`. A greedy process then maps what is
  // left, but for the reserve that TensorFlow leaves. Returns the bytes it holds (context
  // included), or nullopt when context + needed do not fit: CUDA out of memory, nothing is held.
  // REQUIRES: the context holds nothing.
  std::optional<Bytes> open(std::uint32_t context, Bytes needed, bool greedy);
  void close(std::uint32_t context);  // no effect when it holds nothing

  Bytes used() const { return used_; }
  Bytes peak() const { return peak_; }
  Bytes held_by(std::uint32_t context) const { return held_[context]; }

 private:
  Bytes greedy_share(Bytes available) const;

  Bytes usable_;
  Bytes context_memory_;
  Bytes greedy_reserve_;
  Bytes used_;
  Bytes peak_;
  std::vector<Bytes> held_;
};

}  // namespace slicewise::sim
