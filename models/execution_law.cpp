#include "slicewise/models/execution_law.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "slicewise/portable_math.hpp"

namespace slicewise::models {
namespace {

// Share of the peak DRAM bandwidth that saving and restoring state reaches: GPreempt (ATC'25)
// measured 1.1 TB/s of the 1.555 TB/s of an A100.
constexpr double kReachedBandwidth = 0.71;

}  // namespace

Bytes context_state(const GpuModel& gpu) {
  return {gpu.sm_count * (gpu.register_file_per_sm.count + gpu.shared_memory_per_sm.count)};
}

Duration switch_cost(const GpuModel& gpu, double kappa) {
  assert(kappa >= 0 && kappa <= 1);
  const double bandwidth = kReachedBandwidth * gpu.memory_bandwidth_bytes_per_second;
  const auto state = static_cast<double>(context_state(gpu).count);
  const auto cache = static_cast<double>(gpu.l2_cache.value_or(Bytes{}).count);
  return kSwitchBase + from_seconds((2 * state + kappa * cache) / bandwidth);
}

double usual_cold_cache(const GpuModel& gpu) {
  return gpu.compute_capability == "8.9" ? 0.0 : kDefaultColdCache;
}

Duration usual_switch_cost(const GpuModel& gpu) {
  return gpu.switch_cost.value_or(switch_cost(gpu, usual_cold_cache(gpu)));
}

bool switch_cost_is_measured(const GpuModel& gpu) {
  return gpu.switch_cost.has_value() || gpu.name.starts_with("A100");
}

ContextMemory context_memory(const GpuModel& gpu) {
  if (gpu.context_memory) return {*gpu.context_memory, true};
  // RTX 4090 384 MiB was measured; P100, Volta's predecessor, took 100-200 MiB.
  if (gpu.compute_capability.starts_with("7.")) return {mebibytes(150), false};
  return {mebibytes(384), false};
}

namespace {

// Of GA10x half of the FP32 lanes do the integer work, too, and its other units are those of an SM
// without them.
double compute_rate(const GpuModel& gpu) {
  const bool is_shared_with_integers = gpu.compute_capability == "8.6";
  return *gpu.fp32_tflops * (is_shared_with_integers ? 0.5 : 1.0);
}

}  // namespace

double roofline_scale(const GpuModel& from, const GpuModel& to, double beta) {
  if (from.name == to.name) return 1.0;
  assert(from.fp32_tflops && to.fp32_tflops && beta >= 0 && beta <= 1);
  const double compute = compute_rate(from) / compute_rate(to);
  const double bandwidth =
      from.memory_bandwidth_bytes_per_second / to.memory_bandwidth_bytes_per_second;
  return (1 - beta) * compute + beta * bandwidth;
}

Bytes greedy_reserve(const GpuModel& gpu) {
  // compute_capability is "major.minor"; a major of two digits is newer than all listed here.
  const std::size_t dot = gpu.compute_capability.find('.');
  if (dot != 1 || gpu.compute_capability[0] >= '9') return mebibytes(1'800);
  if (gpu.compute_capability[0] == '8') return mebibytes(1'536);
  return gpu.compute_capability[0] == '7' ? mebibytes(1'050) : mebibytes(500);
}

namespace {

// e^x is 0 to every sum with 1 from here on, and portable_exp takes no less than -700.
constexpr double kVanishes = -600;

// x^p for x >= 0: the exponents that matter most without a logarithm.
double power(double x, double p) {
  if (x <= 0) return 0;
  if (p == 1) return x;
  if (p == 2) return x * x;
  if (p == 3) return x * x * x;
  if (p == 6) return x * x * x * (x * x * x);
  const double exponent = p * portable_log(x);
  return exponent < kVanishes ? 0 : portable_exp(exponent);
}

double root(double x, double p) {
  if (x <= 0) return 0;
  if (p == 1) return x;
  if (p == 2) return std::sqrt(x);
  return portable_exp(portable_log(x) / p);
}

// GPU time of what takes so long on all SMs of a domain, computing and moving, on a part of them.
double gpu_time_on(double threads, double compute, double bandwidth) {
  return compute / threads + bandwidth / std::min(1.0, kBandwidthPerThreads * threads);
}

// What all clients together ask of the domain.
struct Demand {
  double compute = 0;
  double bandwidth = 0;
  double threads = 0;            // as many as all of them may use, 1 for all SMs
  std::size_t with_kernels = 0;  // clients whose kernels' length is known
  std::size_t limited = 0;

  // One resource after the other, as law E1 counts.
  double capacity() const { return compute + bandwidth; }
};

void add(const DomainClient& client, Demand& together) {
  together.compute += client.compute;
  together.bandwidth += client.bandwidth;
  together.threads += client.active_threads;
  if (client.kernel_time.ns > 0) ++together.with_kernels;
  if (client.active_threads < 1) ++together.limited;
}

Demand demand(std::span<const DomainClient> clients) {
  Demand together;
  for (const DomainClient& client : clients) add(client, together);
  return together;
}

double capacity_of(const DomainClient& client) { return client.compute + client.bandwidth; }
double capacity_of(const TurnTaker& taker) { return taker.duty; }

// How long it has the SMs when its turn comes, in a unit that all have alike; 0 unknown.
double turn_of(const DomainClient& client) { return static_cast<double>(client.kernel_time.ns); }
double turn_of(const TurnTaker& taker) { return taker.turn_use; }

double pressure_of(const DomainClient& client) {
  return client.pressure.value_or(capacity_of(client));
}

// Measured where everybody has half of the SMs; nobody is near who has them all.
double residual_interference(double threads) {
  return 1 + (kResidualInterference - 1) * std::min(1.0, 2 * (1 - threads));
}

// On `threads` SMs of its own a client meets others where a resource is full, and all together
// never get more done than without limits. REQUIRES: 0 < threads <= client.active_threads.
double slowdown_apart(const Demand& together, const DomainClient& client, double threads) {
  double work = client.gpu_part;
  double alone = 1;
  if (threads < client.active_threads) {
    work = gpu_time_on(threads, client.compute, client.bandwidth);
    alone = slowdown(client.gpu_part, work, client.norm_p);
  }
  const double compute = together.compute + (alone - 1) * (together.compute - client.compute);
  const double bandwidth =
      together.bandwidth + (alone - 1) * (together.bandwidth - client.bandwidth);
  const double own = residual_interference(threads);
  const double spared = (own - 1) * (1 - client.duty);
  const double demand = std::max({work, compute, bandwidth});
  return std::max(own * slowdown(client.gpu_part, demand, client.norm_p) - spared,
                  compute + bandwidth);
}

// As all who share whatever they may use, but no better than if it were the client's own, and no
// worse than on the SMs that nobody else may use.
double slowdown_under(const Demand& together, const DomainClient& client) {
  constexpr double kRounding = 1e-9;
  const double mine = client.active_threads;
  const double own = 1 - (together.threads - mine);
  if (own > mine - kRounding) return slowdown_apart(together, client, mine);
  double slower = slowdown(client.gpu_part, together.capacity(), client.norm_p);
  if (mine < 1) slower = std::max(slower, slowdown_apart(together, client, mine));
  if (own > kRounding) slower = std::min(slower, slowdown_apart(together, client, own));
  return slower;
}

// U_i where clients take turns, kernel by kernel or context by context: the one demand, its own
// work included, that is what it says of itself.
template <class Client>
class Turns {
 public:
  // REQUIRES: how long client i has its turns is known.
  Turns(std::span<const Client> clients, std::size_t i)
      : clients_(clients), i_(i), own_(capacity_of(clients[i])) {}

  double demand() const {
    const Line undisturbed = waits_during(1);
    const double beside_all = undisturbed.constant + undisturbed.per_time;
    if (beside_all <= 1) return beside_all;
    // A concave function of the time, from above: cut by the line that touches it, until that is
    // the function. Each time a neighbour more has no work left for a turn, so no more often.
    double time = waits_during(std::numeric_limits<double>::infinity()).constant;
    while (true) {
      const Line line = waits_during(time);
      if (line.per_time >= 1) return time;
      const double next = line.constant / (1 - line.per_time);
      if (!(next < time)) return time;
      time = next;
    }
  }

  // Mean length of the kernels that are waited for, each by its part of the waiting.
  double awaited_ns() const {
    const double time = std::max(1.0, demand());
    double waits = 0;
    double lengths = 0;
    for (std::size_t j = 0; j < clients_.size(); ++j) {
      const Client& other = clients_[j];
      if (j == i_ || turn_of(other) == 0) continue;
      const double wait = std::min(turns_of(other), capacity_of(other) * time);
      waits += wait;
      lengths += wait * turn_of(other);
    }
    return waits > 0 ? lengths / waits : 0;
  }

 private:
  struct Line {
    double constant = 0;
    double per_time = 0;
  };

  // A turn of `other` for each of its own.
  double turns_of(const Client& other) const {
    return own_ * (turn_of(other) / turn_of(clients_[i_]));
  }

  // Own work and that of others between: a kernel each for one of its own, or all that they have.
  Line waits_during(double time) const {
    Line line{own_, 0};
    for (std::size_t j = 0; j < clients_.size(); ++j) {
      const Client& other = clients_[j];
      if (j == i_) continue;
      if (turn_of(other) == 0) {
        line.constant += capacity_of(other);
        continue;
      }
      const double turns = turns_of(other);
      if (turns <= capacity_of(other) * time) {
        line.constant += turns;
      } else {
        line.per_time += capacity_of(other);
      }
    }
    return line;
  }

  std::span<const Client> clients_;
  std::size_t i_;
  double own_;
};

// Copies of one workload.
bool are_alike(const DomainClient& a, const DomainClient& b) {
  return a.gpu_part == b.gpu_part && a.compute == b.compute && a.bandwidth == b.bandwidth &&
         a.norm_p == b.norm_p && a.duty == b.duty && a.active_threads == b.active_threads &&
         a.kernel_time == b.kernel_time && a.sensitivity == b.sensitivity &&
         a.pressure == b.pressure;
}

// Of one workload, whatever its batches are at the moment.
bool are_copies(const DomainClient& a, const DomainClient& b) {
  return a.workload == 0 ? are_alike(a, b) : a.workload == b.workload;
}

// 1 + alpha_i sum c_j over unlike neighbours, for a client whose sensitivity was measured, times
// what its copies cost it by the law where that was fitted; else they are as any neighbour.
// Measured without limits: who has SMs of its own, alone or with its copies, has paid for them
// already. Beside few: no number of them gets more done than the domain can where shares are known.
double calibrated_slowdown(std::span<const DomainClient> clients, std::size_t i) {
  const DomainClient& client = clients[i];
  Demand copies;
  std::size_t alike = 0;
  double others = 0;
  double known = 0;
  for (std::size_t j = 0; j < clients.size(); ++j) {
    if (clients[j].copies_by_law) known += capacity_of(clients[j]);
    if (j == i || (client.copies_by_law && are_copies(clients[j], client))) {
      add(clients[j], copies);
      ++alike;
    } else {
      others += pressure_of(clients[j]);
    }
  }
  const double free = client.unlimited;
  const double among =
      slowdown(capacity_of(client) / free, copies.capacity() / free, client.norm_p);
  const double under = alike > 1 ? slowdown_under(copies, client) : 1;
  return std::max({under, known, among * (1 + *client.sensitivity * others) * free});
}

bool kernels_take_turns(const Demand& together) {
  return together.with_kernels > 1 && together.limited == 0;
}

double slowdown_in_turns(std::span<const DomainClient> clients, const Demand& together,
                         std::size_t i) {
  double demand = Turns(clients, i).demand();
  // Where somebody's kernels are unknown nobody gets more than in proportion.
  if (together.with_kernels < clients.size()) demand = std::max(demand, together.capacity());
  return slowdown(clients[i].gpu_part, demand, clients[i].norm_p);
}

// As much longer as the work is on the part of the GPU that a domain has.
Duration kernel_in(const ClientLaw& law, double gpu_work) {
  if (law.kernel_time.ns == 0 || law.capacity_share <= 0) return {};
  constexpr double kLongestNs = 4e18;  // 127 years
  const double here = static_cast<double>(law.kernel_time.ns) * (gpu_work / law.capacity_share);
  return std::max(nanoseconds(1), nanoseconds(std::llround(std::min(here, kLongestNs))));
}

// Replicas of one workload are many: no need to take the same root for each.
bool same_slowdown(const DomainClient& a, const DomainClient& b) {
  return !a.sensitivity && are_alike(a, b);
}

}  // namespace

double norm(double a, double b, double p) {
  assert(a >= 0 && b >= 0 && p >= 1);
  const double larger = std::max(a, b);
  if (larger <= 0 || p >= kHardNorm) return larger;
  // Scaled, so that no power overflows.
  return larger * root(1 + power(std::min(a, b) / larger, p), p);
}

double slowdown(double part, double demand, double p) {
  const double fixed = p >= kHardNorm ? 1 : root(std::max(0.0, 1 - power(part, p)), p);
  return std::max(1.0, norm(fixed, std::max(part, demand), p));
}

double overlapped_slowdown(double duty, double duties, double overhead) {
  return slowdown(duty, duties * (1 + overhead), kOverlappedNorm);
}

double demand_in_turns(std::span<const TurnTaker> takers, std::size_t i) {
  return Turns(takers, i).demand();
}

DomainClient client_in(const ClientLaw& law, DomainShare share, double active_threads) {
  assert(share.compute > 0 && share.bandwidth > 0 && active_threads > 0 && active_threads <= 1);
  const double u = law.capacity_share;
  const double fixed =
      law.norm_p >= kHardNorm ? 1 : root(std::max(0.0, 1 - power(u, law.norm_p)), law.norm_p);
  const double compute = u * (1 - law.bandwidth_share) / share.compute;
  const double bandwidth = u * law.bandwidth_share / share.bandwidth;
  const double gpu_work = gpu_time_on(active_threads, compute, bandwidth);
  DomainClient client;
  client.stretch = norm(fixed, gpu_work, law.norm_p);
  client.gpu_part = gpu_work / client.stretch;
  client.compute = compute / client.stretch;
  client.bandwidth = bandwidth / client.stretch;
  client.norm_p = law.norm_p;
  client.active_threads = active_threads;
  client.sensitivity = law.sensitivity;
  client.pressure = law.pressure;
  client.copies_by_law = law.copies_by_law;
  if (active_threads < 1) {
    client.unlimited = norm(fixed, compute + bandwidth, law.norm_p) / client.stretch;
  }
  client.kernel_time = kernel_in(law, compute + bandwidth);
  return client;
}

void shared_speeds(std::span<const DomainClient> clients, std::span<double> speeds) {
  assert(clients.size() == speeds.size());
  if (clients.size() == 1) {
    speeds[0] = 1;
    return;
  }
  const Demand together = demand(clients);
  const bool turns = kernels_take_turns(together);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const DomainClient& client = clients[i];
    if (i > 0 && same_slowdown(client, clients[i - 1])) {
      speeds[i] = speeds[i - 1];
    } else if (client.sensitivity) {
      speeds[i] = 1 / calibrated_slowdown(clients, i);
    } else if (turns && client.kernel_time.ns > 0) {
      speeds[i] = 1 / slowdown_in_turns(clients, together, i);
    } else {
      speeds[i] = 1 / slowdown_under(together, client);
    }
  }
}

double awaited_kernel_ns(std::span<const DomainClient> clients, std::size_t i) {
  if (clients[i].kernel_time.ns == 0 || !kernels_take_turns(demand(clients))) return 0;
  return Turns(clients, i).awaited_ns();
}

}  // namespace slicewise::models
