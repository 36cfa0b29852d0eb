#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

// One process tree per domain at a time: nvidia.com/gpu as the device plugin advertises it by
// default, or one MIG instance.
struct Exclusive {};

// `replicas` tickets per domain; the driver's round robin decides who runs.
struct TimeSlicing {
  int replicas = 2;
  TimeSlice slice;
};

// Clients run side by side in one set of scheduling resources (sharing_law.hpp).
struct Mps {
  int replicas = 2;
  double active_threads = 1;  // the most of the domain's SMs that one client may use, (0, 1]
  std::optional<Bytes> memory_limit;  // of one client process; nullopt: none
  int client_limit = 48;              // CUDA contexts per GPU
  Bytes server_memory;                // of the MPS server itself, once per GPU
};

// NVIDIA vGPU's scheduler. Best effort is the work-conserving round robin of TimeSlicing; equal
// share gives every running vGPU 1/n of the time, fixed share 1/per_gpu for ever, used or not.
struct Vgpu {
  enum class Policy : std::uint8_t { BestEffort, EqualShare, FixedShare };
  Policy policy = Policy::BestEffort;
  int per_gpu = 2;
  TimeSlice slice;
};

// How the processes in one domain (a whole GPU or a MIG instance) share it. Code that depends on it
// visits the variant, so a new strategy does not compile until every place has handled it. MIG with
// time-slicing or MPS is MIG domains with that sharing inside.
using Sharing = std::variant<Exclusive, TimeSlicing, Mps, Vgpu>;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace slicewise::models
