#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// Who holds how much of one domain's memory. Time-slicing sets no limit per process: the allocation
// that does not fit fails that process, whoever filled the GPU. MPS and vGPU set one.
class MemoryLedger {
 public:
  // `usable`: by processes. `greedy_reserve`: what a greedy process leaves free, see
  // models::greedy_reserve. `server`: what an MPS server takes beside while there are any.
  MemoryLedger(std::uint32_t contexts, Bytes usable, Bytes context_memory, Bytes greedy_reserve,
               Bytes server = {});

  struct Process {
    Bytes needed;  // without its CUDA context
    bool greedy = false;
    int copies = 1;              // of the process, in one pod
    std::optional<Bytes> limit;  // of each copy, its CUDA context included
    Bytes spare{};               // that must be free beside what they take
  };

  // The processes of a pod open their CUDA contexts and allocate what they need. Greedy ones then
  // map what is left up to their limit, but for the reserve that TensorFlow leaves. Returns the
  // bytes they hold (contexts included), or nullopt when they do not fit or one passes its limit:
  // CUDA out of memory, nothing is held. REQUIRES: the context holds nothing.
  std::optional<Bytes> open(std::uint32_t context, const Process& process);
  void close(std::uint32_t context);  // no effect when it holds nothing

  // With the server.
  Bytes used() const { return used_ == Bytes{} ? used_ : used_ + server_; }
  Bytes peak() const { return peak_; }
  Bytes held_by(std::uint32_t context) const { return held_[context]; }

 private:
  Bytes greedy_share(Bytes available) const;

  Bytes usable_;
  Bytes context_memory_;
  Bytes greedy_reserve_;
  Bytes server_;
  Bytes used_;  // by processes
  Bytes peak_;
  std::vector<Bytes> held_;
};

}  // namespace slicewise::sim
