#pragma once

#include "slicewise/models/gpu_model.hpp"
#include "slicewise/units.hpp"

// How fast a workload runs on a GPU, as pure functions of catalogue figures.
namespace slicewise::models {

// The knobs of the driver's time-slice scheduler on one GPU.
struct TimeSlice {
  Duration turn;         // q: how long a context may run while others wait
  Duration switch_cost;  // c: not charged to the turn
};

// Part of a switch that does not depend on the state saved. Source: closes GPreempt's (ATC'25)
// measured total of about 100 us on A100 against its 40 us of state saving.
inline constexpr Duration kSwitchBase = microseconds(20);

// Register files and shared memory of all SMs: the state that a preempted context leaves behind.
Bytes context_state(const GpuModel& gpu);

// c = c0 + 2 S/B + kappa L2/B with S = context_state, B = 0.71 x peak DRAM bandwidth.
// kappa in [0, 1] is the share of the L2 cache that the next context has to refill.
// Anchored by measurements on A100 only; elsewhere the formula is an estimate. The L2 term is left
// out where the size of the L2 cache is unknown (B300).
Duration switch_cost(const GpuModel& gpu, double kappa);

// kappa that reproduces nos' time-slicing of 3, 5 and 7 pods on A100 (0.0-0.1 % error).
inline constexpr double kDefaultColdCache = 1.0;

// The kappa to take when nobody says: kDefaultColdCache, which also gives what GH200 (9.2 %) and T4
// lose; 0 on Ada (compute capability 8.9), whose caches of 48 to 96 MB the formula would refill at
// every switch, while RTX 4090 loses 2 to 10 %.
double usual_cold_cache(const GpuModel& gpu);

// Driver memory that every process pays for its CUDA context.
// Source: T4 100 MiB measured; the others are estimates, which the caller marks Assumed.
struct ContextMemory {
  Bytes bytes;
  bool measured = false;
};
ContextMemory context_memory(const GpuModel& gpu);

// What TensorFlow leaves to others when it maps "all" GPU memory at start and 2 GiB or more are
// free: 500 MiB up to compute capability 6, 1,050 MiB for 7, 1,536 MiB for 8, 1,800 MiB from 9 on.
// Source: tensorflow/core/common_runtime/gpu/gpu_device.cc, MinSystemMemory.
Bytes greedy_reserve(const GpuModel& gpu);

// The same when less than 2 GiB are free.
inline constexpr Bytes kSmallGreedyReserve = mebibytes(225);

// Roofline rule: how many times longer the same GPU work takes on `to` than on `from`:
// (1 - beta) F_from/F_to + beta B_from/B_to with F = FP32 peak and B = DRAM bandwidth.
// REQUIRES: both GPUs have FP32 figures; beta in [0, 1]. 1.0 when from and to are the same model.
double roofline_scale(const GpuModel& from, const GpuModel& to, double beta);

// beta when a workload does not say how memory-limited it is. Assumed.
inline constexpr double kDefaultBandwidthShare = 0.5;

}  // namespace slicewise::models
