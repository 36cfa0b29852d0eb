#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

// How fast workloads run on a GPU, alone and beside others, as pure functions of catalogue figures;
// no libm, so the same bits everywhere.
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

// What a switch costs when nobody says: measured where the catalogue has it, else switch_cost()
// with the usual kappa.
Duration usual_switch_cost(const GpuModel& gpu);

// Whether a measurement stands behind it: the catalogue's, or that of A100 which anchors the
// formula.
bool switch_cost_is_measured(const GpuModel& gpu);

// Driver memory that every process pays for its CUDA context.
// Where the catalogue has no measurement it is an estimate, which the caller marks Assumed.
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
// (1 - beta) F_from/F_to + beta B_from/B_to with F = FP32 peak, half of it for compute capability
// 8.6 (A10G, A40), and B = DRAM bandwidth. Why half:
// models/MODELS.md, "One process on a part of a GPU".
// REQUIRES: both GPUs have FP32 figures; beta in [0, 1]. 1.0 when from and to are the same model.
double roofline_scale(const GpuModel& from, const GpuModel& to, double beta);

// beta when a workload does not say how memory-limited it is. Assumed.
inline constexpr double kDefaultBandwidthShare = 0.5;

// One process tree per domain at a time: nvidia.com/gpu as the device plugin advertises it by
// default, or one MIG instance.
struct Exclusive {};

// `replicas` tickets per domain; the driver's round robin decides who runs.
struct TimeSlicing {
  int replicas = 2;
  TimeSlice slice;
};

// Clients run side by side in one set of scheduling resources (shared_speeds).
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

// How fast clients run that share the SMs and the memory bandwidth of a domain at the same time: a
// MIG instance, an MPS server, or both.

// p when nobody fitted it, of requests, batch work and steps of language models alike: of all p the
// least mean error over five sources of published rows, of which each has its own best from 1 to
// 6 and above (models/MODELS.md). A host phase that takes turns with the GPU is p = 1 by
// definition.
inline constexpr double kDefaultNorm = 3;
inline constexpr double kSerialNorm = 1;

// What one workload needs, relative to its own time T1 alone on the whole GPU. Law E1:
//   T(f, n) = || T0, n W ((1 - beta)/f_c + beta/f_m) ||_p,   ||a, b||_p = (a^p + b^p)^(1/p)
// with u = W/T1, hence T0 = T1 (1 - u^p)^(1/p).
struct ClientLaw {
  double capacity_share = 1;     // u in [0, 1]
  double bandwidth_share = 0;    // beta in [0, 1]
  double norm_p = kDefaultNorm;  // p >= 1; kHardNorm and above is the maximum norm
  // Measured against neighbours under MPS: slowdown_i = 1 + alpha_i sum c_j.
  std::optional<double> sensitivity;  // alpha >= 0
  std::optional<double> pressure;     // c >= 0
  Duration kernel_time{};      // K: mean length of its kernels alone on the whole GPU, 0 unknown
  bool copies_by_law = false;  // u is known: copies go by it, not by alpha and c
};

// From here on p-norms are taken as the maximum.
inline constexpr double kHardNorm = 64;

// (a^p + b^p)^(1/p). REQUIRES: a, b >= 0; p >= 1.
double norm(double a, double b, double p);

// How many times longer something takes that needs the share `part` in [0, 1] of a resource for its
// time alone, when `demand` of it is asked for in all:
// || (1 - part^p)^(1/p), max(part, demand) ||_p. 1 while demand <= part.
double slowdown(double part, double demand, double p);

// How softly work whose host phase overlaps meets the limit of the GPU's time under time-slicing.
// Fitted together with scenarios::kBusyOfGpuUtil, switches counted, over pairs of training jobs on
// RTX 3090 without MPS (Lucid, ASPLOS'23): 7.7 % mean error on the pairs' speeds.
inline constexpr double kOverlappedNorm = 6;

// How many times longer such a job takes that alone holds the GPU for the share `duty` of its time,
// when the duties of all jobs on the GPU, its own included, add up to `duties`, and while two or
// more take turns every unit of work costs `overhead` = c/q more.
double overlapped_slowdown(double duty, double duties, double overhead);

// A context that takes turns with others.
struct TurnTaker {
  double duty = 1;      // share of its time alone in which it needs the GPU, (0, 1]
  double turn_use = 1;  // part of a turn that it uses before it has nothing to do for a moment
};

// U_i, the `duties` of overlapped_slowdown where contexts leave turns before their ends: between
// two turns of its own a context waits for one of each other, or for all that the other needs,
//   U_i = d_i + sum_{j != i} min(d_i w_j/w_i, d_j max(1, U_i))
// which is sum d_j where duties and turns are alike and the GPU is full. O(n^2) at most.
double demand_in_turns(std::span<const TurnTaker> takers, std::size_t i);

// The part of a GPU that a domain has: of its SMs and of its memory bandwidth, each in (0, 1].
struct DomainShare {
  double compute = 1;    // f_c
  double bandwidth = 1;  // f_m
};

// A client alone in a domain, its SMs limited to the share `active_threads` of the domain's.
// Figures are shares of its own time there, T(f).
struct DomainClient {
  double stretch = 1;    // T(f) / T1
  double gpu_part = 1;   // of T(f), what grows when the domain is shared: g in [0, 1]
  double compute = 1;    // of the domain's SM time: what it takes while alone
  double bandwidth = 0;  // of the domain's memory bandwidth
  double norm_p = kDefaultNorm;
  double active_threads = 1;  // (0, 1]; below 1 the client is limited
  double duty = 1;            // share of T(f) in which kernels run
  std::optional<double> sensitivity;
  std::optional<double> pressure;
  Duration kernel_time{};  // K: mean length here on all SMs of the domain, 0 when unknown
  bool copies_by_law = false;
  double unlimited = 1;        // T(f) on all SMs of the domain / T(f)
  std::uint32_t workload = 0;  // equal for its copies, also with other batches; 0: those are alike

  bool operator==(const DomainClient&) const = default;
};

// A client limited to the share l of a domain's SMs reaches min(1, 2.2 l) of its memory bandwidth.
// Source: decoding with LLaMA 7B and 13B at batch 1, all memory traffic, on A100-80GB under MPS
// (MuxServe): 1.09-1.12 times as long with 50 % of the threads, 1.41-1.51 with 30 %.
inline constexpr double kBandwidthPerThreads = 2.2;

// Law E1 with n = 1. REQUIRES: shares and active_threads in (0, 1].
DomainClient client_in(const ClientLaw& law, DomainShare share, double active_threads);

// Slowdown that stays when clients hold disjoint halves of the SMs: L2, DRAM and power are shared.
// Source: V100, two processes limited to 50 %: 1.05 (AlexNet, ResNet-50), 1.13 (VGG19), 1.09 (SSD).
inline constexpr double kResidualInterference = 1.07;

// Law E2: the speeds of clients that are active at the same time in one domain, each relative to
// being alone there (1 = undisturbed). Identical clients without limits run as E1 says:
//   1/x_i = (1 - g_i^p + max(g_i, U)^p)^(1/p),   U = sum of compute_j + bandwidth_j
// On SMs of its own a client meets others where a resource is full, U = max(sum compute_j, sum
// bandwidth_j), but 1/x_i >= sum compute_j + bandwidth_j: limits do not add capacity. Kernels, not
// the host's part, take up to kResidualInterference times as long there. Where limits overlap, x_i
// is no more than if all SMs that it may use were its own, and no less than if it kept to those
// that nobody else may use. With a measured sensitivity: 1/x_i = (1 + alpha_i sum c_j) times what
// its copies cost it, where a neighbour without a measured pressure counts as compute_j +
// bandwidth_j, its copies count there unless u is known, and all are O(n^2). Under limits it
// takes as long as on all SMs, but no less than among its copies on those that it may use.
//
// Where nobody has a limit, kernels whose length K is known take turns: between two of its own a
// client waits for no more than one of each such neighbour, nor for more than that has work. Then
//   U_i = C_i + sum of min(C_i K_j/K_i, C_j max(1, U_i)) over these j + sum of C_j over the others
// with C = compute + bandwidth, and is no less than U when there are others. Clients that are alike
// share alike; who needs little loses next to nothing beside kernels as short as its own, and is
// slowed without bound beside long ones. Source: blocks of a kernel leave the SMs when they end,
// and who waits is served in the order of launches (Elvinger et al., SoCC '25; Amert et al., RTSS
// '17); the equation is ours, nothing in it is fitted.
//
// More threads never slow who gets them; no client that is added speeds up another, in any order.
// Both but for the first limit among kernels of known length: SMs are kept free by it, and the
// turns end. `speeds` has one entry per client. O(n), O(n^2) with measured sensitivities, O(n^3) at
// most with lengths of kernels.
void shared_speeds(std::span<const DomainClient> clients, std::span<double> speeds);

// Mean length in ns of the kernels that client i waits for among them, each by how long it waits
// for its kind. 0 where kernels do not take turns, or lengths are not known.
double awaited_kernel_ns(std::span<const DomainClient> clients, std::size_t i);

}  // namespace slicewise::models
