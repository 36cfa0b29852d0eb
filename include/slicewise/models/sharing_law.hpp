#pragma once

#include <optional>
#include <span>
#include <vector>

// How fast clients run that share the SMs and the memory bandwidth of a domain at the same time: a
// MIG instance, an MPS server, or both. Pure functions; no libm, so the same bits everywhere.
namespace slicewise::models {

// What one workload needs, relative to its own time T1 alone on the whole GPU. Law E1:
//   T(f, n) = || T0, n W ((1 - beta)/f_c + beta/f_m) ||_p,   ||a, b||_p = (a^p + b^p)^(1/p)
// with u = W/T1, hence T0 = T1 (1 - u^p)^(1/p).
struct ClientLaw {
  double capacity_share = 1;   // u in [0, 1]
  double bandwidth_share = 0;  // beta in [0, 1]
  double norm_p = 2;           // p >= 1; kHardNorm and above is the maximum norm
  // Measured against neighbours under MPS: slowdown_i = 1 + alpha_i sum c_j.
  std::optional<double> sensitivity;  // alpha >= 0
  std::optional<double> pressure;     // c >= 0
};

// From here on p-norms are taken as the maximum.
inline constexpr double kHardNorm = 64;

// p when nobody fitted it. Source: fits over ParvaGPU, MISO and MIGPerf measurements; synchronous
// single-threaded clients are nearer to 1, launch-bound inference to the maximum norm.
inline constexpr double kSerialNorm = 1;
inline constexpr double kTrainingNorm = 2;
inline constexpr double kInferenceNorm = 3;

// (a^p + b^p)^(1/p). REQUIRES: a, b >= 0; p >= 1.
double norm(double a, double b, double p);

// How many times longer something takes that needs the share `part` in [0, 1] of a resource for its
// time alone, when `demand` of it is asked for in all:
// || (1 - part^p)^(1/p), max(part, demand) ||_p. 1 while demand <= part.
double slowdown(double part, double demand, double p);

// How softly work whose host phase overlaps meets the limit of the GPU's time under time-slicing,
// and the share of nvidia-smi's GPU utilisation during which the GPU really is held (it counts
// every sample in which some kernel ran). Fitted together, switches counted, over pairs of training
// jobs on RTX 3090 without MPS (Lucid, ASPLOS'23): 7.7 % mean error on the pairs' speeds.
inline constexpr double kOverlappedNorm = 6;
inline constexpr double kBusyOfGpuUtil = 0.75;

// How many times longer such a job takes that alone holds the GPU for the share `duty` of its time,
// when the duties of all jobs on the GPU, its own included, add up to `duties`, and while two or
// more take turns every unit of work costs `overhead` = c/q more.
double overlapped_slowdown(double duty, double duties, double overhead);

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
  double norm_p = 2;
  double active_threads = 1;  // (0, 1]; below 1 the client is limited
  std::optional<double> sensitivity;
  std::optional<double> pressure;
};

// A client limited to the share l of a domain's SMs reaches min(1, 2.2 l) of its memory bandwidth.
// Source: decoding with LLaMA 7B and 13B at batch 1, all memory traffic, on A100-80GB under MPS
// (MuxServe): 1.09-1.12 times as long with 50 % of the threads, 1.41-1.51 with 30 %.
inline constexpr double kBandwidthPerThreads = 2.2;

// Law E1 with n = 1. REQUIRES: shares and active_threads in (0, 1].
DomainClient client_in(const ClientLaw& law, DomainShare share, double active_threads);

// n copies of the same client without a limit on threads: T_n(f) / T1 of law E1.
double identical_clients(const ClientLaw& law, DomainShare share, int n);

// Slowdown that stays when clients hold disjoint halves of the SMs: L2, DRAM and power are shared.
// Source: V100, two processes limited to 50 %: 1.05 (AlexNet, ResNet-50), 1.13 (VGG19), 1.09 (SSD).
inline constexpr double kResidualInterference = 1.07;

// Law E2: the speeds of clients that are active at the same time in one domain, each relative to
// being alone there (1 = undisturbed). Identical clients without limits run as E1 says:
//   1/x_i = k_i (1 - g_i^p + max(g_i, U)^p)^(1/p),   U = sum of compute_j + bandwidth_j
// When all are limited to disjoint SMs (sum of limits <= 1), they meet only where a resource is
// full, U = max(sum compute_j, sum bandwidth_j), and 1/x_i is at least sum compute_j + bandwidth_j:
// limits do not add capacity. k_i = kResidualInterference for a limited client
// with company, else 1. A client with a measured sensitivity: 1/x_i = 1 + alpha_i sum c_j, where a
// neighbour without a measured pressure counts as compute_j + bandwidth_j. O(n^2) then.
// No speed rises when a client is added; the order of the clients does not matter.
// `speeds` has one entry per client. O(n) without measured sensitivities.
void shared_speeds(std::span<const DomainClient> clients, std::span<double> speeds);

}  // namespace slicewise::models
