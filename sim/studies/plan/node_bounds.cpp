#include "node_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/device/company.hpp"
#include "slicewise/sim/kernel/random.hpp"

#include "../../result/merge.hpp"
#include "../../world/admission.hpp"
#include "../../world/parts.hpp"
#include "../probe/probe.hpp"
#include "lone_queue.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Figure;
using scenarios::Objective;
using scenarios::ServiceTime;

// A bound that comes so near to its limit may be missed by chance, and is left to the simulation.
constexpr double kMargin = 0.9;

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

// The fastest that a request, or a unit of batch work, is done where the pod may run.
const Demand* fastest(const World& world, const WorkloadModel& workload) {
  const PoolModel& pool = world.pools.front();
  const PoolDemand& demand = workload.on_pool.front();
  const Demand* best = nullptr;
  for (std::size_t k = 0; k < demand.in_kind.size(); ++k) {
    const bool offered = !demand.offer || std::ranges::any_of(pool.kinds[k].tickets, [&](auto& t) {
      return t.offer == *demand.offer;
    });
    if (offered && (best == nullptr || demand.in_kind[k].gpu < best->gpu)) {
      best = &demand.in_kind[k];
    }
  }
  return best;
}

bool limits_latency(const std::vector<Objective>& objectives) {
  return std::ranges::any_of(objectives, [](const Objective& objective) {
    return std::holds_alternative<Duration>(objective.limit) && latency_quantile(objective.figure);
  });
}

// The same rate all the time, and every request for itself.
bool is_steady(const WorkloadModel& workload) {
  return workload.spec.kind == WorkloadKind::Service && workload.spec.traffic &&
         !workload.spec.llm && !workload.spec.serving.queue_limit &&
         !workload.spec.serving.timeout &&
         std::holds_alternative<std::monostate>(workload.spec.traffic->shape);
}

// Requests that are alone in the system miss the limit already.
Reason too_slow_alone(const WorkloadModel& workload, const Demand& demand) {
  if (workload.spec.llm || !workload.spec.measured || !workload.spec.measured->request_gpu_time) {
    return {};
  }
  for (const Objective& objective : workload.spec.objectives) {
    const auto q = latency_quantile(objective.figure);
    const auto* limit = std::get_if<Duration>(&objective.limit);
    if (!q || limit == nullptr) continue;
    const double alone =
        quantile_seconds(*workload.spec.measured->request_gpu_time, demand.gpu, *q);
    if (alone * kMargin <= to_seconds(*limit)) continue;
    return reason(
        fmt::format(
            "\"{}\" needs {{}} ms of GPU time at that quantile, alone; its limit is {{}} ms",
            workload.name),
        short_number(to_seconds(from_seconds(alone)) * 1e3),
        short_number(to_seconds(*limit) * 1e3));
  }
  return {};
}

// A queue with an offered load of 1 or more grows for as long as it is looked at: that a run is
// over before a limit is missed proves nothing.
Reason too_much_for_its_pods(const WorkloadModel& workload, const Demand& demand) {
  if (!is_steady(workload) || !limits_latency(workload.spec.objectives)) return {};
  if (workload.spec.count == 0) return {};
  const double load =
      workload.spec.traffic->mean.per_second * seconds_per_request(demand) / workload.spec.count;
  if (load < 1) return {};
  return reason(fmt::format("\"{}\" keeps its {{}} {} {{}} % busy even alone on their GPUs: "
                            "requests arrive faster than they are served; add pods{}",
                            workload.name, workload.spec.count == 1 ? "pod" : "pods",
                            workload.spec.serving.max_batch > 1 ? "" : " or batches (--max-batch)"),
                workload.spec.count, fmt::format("{:.0f}", 100 * load));
}

// A quantile of a request's latency where others keep its GPU busy for `others` of the time: turns
// are a processor that is shared, before which its own requests queue.
double latency_beside(const ServiceTime& law, double mean, double rate, double q, double others) {
  const double stretch = 1 / (1 - others);
  const double load = rate * mean * stretch;
  if (load >= 1) return std::numeric_limits<double>::infinity();
  const double alone = quantile_seconds(law, from_seconds(mean), q) * stretch;
  if (load <= 1 - q) return alone;
  const double spread = law.law == ServiceTime::Law::Deterministic ? 0.5 : 1;
  const double waits = spread * mean * stretch / (1 - load) * portable_log(load / (1 - q));
  return std::max(alone, mean * stretch + waits);
}

// Each of its pods is sent requests at random, and works on one after the other.
bool queues_alone(const WorkloadModel& workload) {
  const scenarios::Serving& serving = workload.spec.serving;
  const bool at_random = serving.routing == scenarios::Routing::Random || workload.spec.count == 1;
  return is_steady(workload) && workload.spec.traffic->gaps == Traffic::Gaps::Poisson &&
         at_random && !workload.spec.autoscaling && workload.spec.count > 0 &&
         workload.spec.processes_per_pod == 1 && serving.max_batch <= 1 && serving.bursts == 1 &&
         serving.concurrency == 0 && serving.retries == 0 && workload.spec.measured &&
         workload.spec.measured->request_gpu_time;
}

// E[S^2] / E[S]^2.
double second_moment(const ServiceTime& law) {
  switch (law.law) {
    case ServiceTime::Law::Deterministic:
      return 1;
    case ServiceTime::Law::Exponential:
      return 2;
    case ServiceTime::Law::LogNormal:
      return portable_exp(law.sigma * law.sigma);
  }
  return 1;
}

// Requests that wait for each other miss the limit already, without any neighbour. Chance may bring
// less work than the mean: by three standard deviations of what a run brings. So much less also
// leaves a queue that remembers no more than a ninth of the run, m / (1 - load)^2, however empty it
// began, and with more requests nobody waits less.
Reason too_slow_in_its_queue(const World& world, const WorkloadModel& workload,
                             const Demand& demand, KnownQueues* queues) {
  if (!queues_alone(workload) || !world.duration || *world.duration <= world.warmup) return {};
  constexpr double kDeviations = 3;
  const ServiceTime& law = *workload.spec.measured->request_gpu_time;
  const double rate = workload.spec.traffic->mean.per_second / workload.spec.count;
  const double requests = rate * to_seconds(*world.duration - world.warmup);
  const double fewer = kDeviations * std::sqrt(second_moment(law) / requests);
  if (fewer >= 1) return {};
  const LoneQueue queue{law, demand.gpu, rate * (1 - fewer)};
  const auto may_miss = [&](double q, double limit) {
    constexpr double kFarBelow = 0.5;
    return latency_beside(law, to_seconds(demand.gpu), rate, q, 0) > kFarBelow * limit;
  };
  for (const Objective& objective : workload.spec.objectives) {
    const auto q = latency_quantile(objective.figure);
    const auto* limit = std::get_if<Duration>(&objective.limit);
    if (!q || limit == nullptr) continue;
    // Most are far from it: to know how far takes as long as a short simulation.
    if (!may_miss(*q, to_seconds(*limit))) continue;
    const Duration late = from_seconds(to_seconds(*limit) / kMargin);
    const double share =
        queues != nullptr ? queues->least_share_above(queue, late) : least_share_above(queue, late);
    if (share <= 1 - *q) continue;
    return reason(fmt::format("\"{}\" answers {{}} % of its requests later than {{}} ms even alone "
                              "on its GPUs; add pods",
                              workload.name),
                  short_number(100 * share), short_number(to_seconds(*limit) * 1e3));
  }
  return {};
}

Reason job_takes_too_long(const WorkloadModel& workload, const Demand& demand) {
  if (workload.spec.kind != WorkloadKind::Job || !workload.spec.measured ||
      workload.spec.measured->unit_time_cv > 0 || workload.spec.trace) {
    return {};
  }
  const double alone = static_cast<double>(workload.units) * to_seconds(demand.gpu);
  for (const Objective& objective : workload.spec.objectives) {
    if (objective.figure != Figure::CompletionP95 && objective.figure != Figure::Deadline) continue;
    const auto* limit = std::get_if<Duration>(&objective.limit);
    if (limit == nullptr || alone * kMargin <= to_seconds(*limit)) continue;
    return reason(
        fmt::format("a job of \"{}\" needs {{}} s of GPU time, alone; its limit is {{}} s",
                    workload.name),
        short_number(alone), short_number(to_seconds(*limit)));
  }
  return {};
}

}  // namespace

int at_once(const WorkloadModel& workload) {
  const bool ends = workload.spec.kind == WorkloadKind::Job || workload.spec.notebooks;
  return ends ? 0 : workload.spec.pods_kept();
}

std::int64_t packed_parts(std::int64_t k, std::int64_t gpus, std::int64_t per_node) {
  const std::int64_t times = (k + 1) * gpus;
  return times % per_node == 0 ? k * gpus : times / per_node * per_node;
}

int least_nodes_alone(const WorkloadModel& workload, std::int64_t gpus_per_node) {
  if (workload.spec.count == 0) return 1;
  const auto nodes_for = [&](std::int64_t needed, std::int64_t per_node) {
    return static_cast<int>((needed + per_node - 1) / per_node);
  };
  const int pods = workload.pods_per_job;
  int least = std::max(1, nodes_for(pods * workload.tickets, gpus_per_node));
  for (const std::int64_t k : kPackings) {
    const std::int64_t parts = packed_parts(k, workload.tickets, gpus_per_node);
    least = std::max(least, nodes_for(pods * parts, k * gpus_per_node));
  }
  return least;
}

namespace {

struct Resource {
  std::int64_t needed = 0;
  std::int64_t per_node = 0;
  Reason name;
};

// Pods of which each refuses all others of them, those of `first` among them.
std::int64_t pods_apart(const World& world, const WorkloadModel& first) {
  std::vector<const WorkloadModel*> apart;
  std::int64_t pods = 0;
  const auto add = [&](const WorkloadModel& workload) {
    const auto keeps_off = [&](const WorkloadModel* other) {
      return refuses(workload.spec, other->spec) || refuses(other->spec, workload.spec);
    };
    if (!keeps_off(&workload) || !std::ranges::all_of(apart, keeps_off)) return;
    apart.push_back(&workload);
    pods += at_once(workload);
  };
  add(first);
  for (const WorkloadModel& workload : world.workloads) {
    if (&workload != &first) add(workload);
  }
  return pods;
}

std::int64_t most_pods_apart(const World& world) {
  std::int64_t most = 0;
  for (const WorkloadModel& workload : world.workloads) {
    if (refuses_some(workload.spec.pod)) {
      most = std::max(most, pods_apart(world, workload));
    }
  }
  return most;
}

// Of the tickets of an offer, their sum and what whole pods take of them.
constexpr std::size_t kMeasures = 1 + kPackings.size();

std::vector<Resource> resources_of(const World& world) {
  const PoolModel& pool = world.pools.front();
  std::vector<Resource> all;
  for (std::size_t o = 0; o < pool.offers.size(); ++o) {
    // Layouts of a GPU offer other instances each.
    const bool differs = !pool.kinds.front().partition.empty();
    const std::string& name = pool.offers[o].name;
    const Reason plain = differs ? reason("{}", name) : Reason{name};
    const std::int64_t tickets = pool.tickets_per_node(o, 0);
    all.push_back({0, tickets, plain});
    for (const std::int64_t k : kPackings) {
      all.push_back({0, k * tickets, joined(plain, {" of pods that are whole on a node"})});
    }
  }
  const std::size_t cpu = all.size();
  all.push_back({0, pool.allocatable_cpu.count, {"host CPU requests"}});
  all.push_back({0, pool.allocatable_memory.count, {"host memory requests"}});
  all.push_back({0, pool.max_pods, {"pods per node"}});
  all.push_back({most_pods_apart(world), 1, {"pods that no node has two of"}});
  for (const WorkloadModel& workload : world.workloads) {
    const int pods = at_once(workload);
    if (const auto offer = workload.on_pool.front().offer) {
      Resource* const measures = &all[*offer * kMeasures];
      const std::int64_t tickets = measures[0].per_node;
      const auto add = [&](Resource& measure, std::int64_t of_pod) {
        measure.needed += of_pod * pods;
        // A gang is there as a whole, or not at all.
        if (workload.pods_per_job > 1) {
          measure.needed = std::max(measure.needed, of_pod * workload.pods_per_job);
        }
      };
      add(measures[0], workload.tickets);
      for (std::size_t k = 0; k < kPackings.size() && tickets > 0; ++k) {
        add(measures[1 + k], packed_parts(kPackings[k], workload.tickets, tickets));
      }
    }
    all[cpu].needed += workload.spec.pod.cpu_request.count * pods;
    all[cpu + 1].needed += workload.spec.pod.memory_request.count * pods;
    all[cpu + 2].needed += pods;
  }
  return all;
}

void raise(NodeBound& bound, std::int64_t nodes, const Reason& why) {
  if (nodes <= bound.least) return;
  bound.least = static_cast<int>(std::min<std::int64_t>(nodes, std::numeric_limits<int>::max()));
  bound.why = why;
}

// Kernels of different processes take turns on the whole GPU.
bool takes_turns(const PoolModel& pool) {
  return pool.kinds.size() == 1 && pool.kinds.front().partition.empty() &&
         !std::holds_alternative<models::Mps>(pool.kinds.front().sharing);
}

// What the Services with a limit ask of the GPUs' time.
struct SteadyLoad {
  double total = 0;             // GPUs
  std::vector<double> of_pods;  // the most that each may get of it, largest first
};

SteadyLoad steady_load(const World& world) {
  SteadyLoad load;
  for (const WorkloadModel& workload : world.workloads) {
    const Demand* demand = fastest(world, workload);
    if (demand == nullptr || !is_steady(workload) || !limits_latency(workload.spec.objectives)) {
      continue;
    }
    const double own = workload.spec.traffic->mean.per_second * seconds_per_request(*demand);
    const auto routing = workload.spec.serving.routing;
    const bool evenly =
        routing == scenarios::Routing::Random || routing == scenarios::Routing::RoundRobin;
    const double of_pod = evenly ? own / workload.spec.count : std::min(1.0, own);
    load.total += own;
    load.of_pods.insert(load.of_pods.end(), static_cast<std::size_t>(workload.spec.count), of_pod);
  }
  std::ranges::sort(load.of_pods, std::greater<>());
  return load;
}

// GPUs' time that goes into switching at the very least, were the busiest pod of each GPU never
// idle: the others take a turn for each q of their work, it takes one between two rounds of theirs,
// and each turn begins with a switch. A queue that grows under such a load is not stable.
double switching(const World& world, const SteadyLoad& load, int gpus) {
  const auto* slicing =
      std::get_if<models::TimeSlicing>(&world.pools.front().kinds.front().sharing);
  if (slicing == nullptr || slicing->replicas < 2) return 0;
  double beside = load.total;
  for (std::size_t p = 0; p < load.of_pods.size() && p < static_cast<std::size_t>(gpus); ++p) {
    beside -= load.of_pods[p];
  }
  const double others = slicing->replicas - 1;
  return std::max(0.0, beside) * overhead_of(slicing->slice) * (others + 1) / others;
}

// GPU time that the Services with a limit ask for, and what switching between them takes, against
// that of all GPUs.
void bound_by_gpu_time(const World& world, NodeBound& bound) {
  const PoolModel& pool = world.pools.front();
  if (!takes_turns(pool)) return;
  const SteadyLoad load = steady_load(world);
  const auto is_too_much = [&](int nodes) {
    const int gpus = nodes * pool.gpus_per_node;
    return load.total + switching(world, load, gpus) >= gpus;
  };
  int nodes = bound.least;
  while (nodes < bound.most && is_too_much(nodes)) ++nodes;
  if (nodes == bound.least) return;
  const double switched = switching(world, load, (nodes - 1) * pool.gpus_per_node);
  const Reason kernels{"GPU time"};
  raise(bound, nodes,
        switched <= 0 ? kernels
                      : reason("GPU time ({} GPUs of kernels and {} of switching between pods)",
                               short_number(load.total), short_number(switched)));
}

// The most of a GPU's time that others may take.
double others_borne(const std::function<bool(double others)>& holds) {
  double low = 0;
  double high = 1;
  constexpr int kHalvings = 12;
  for (int n = 0; n < kHalvings; ++n) {
    const double middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

// What an objective lets others take of the GPU.
double others_borne(const WorkloadModel& workload, const Demand& demand,
                    const Objective& objective) {
  const auto* limit = std::get_if<Duration>(&objective.limit);
  if (limit == nullptr) return 1;
  const double most = to_seconds(*limit);
  if (workload.spec.kind == WorkloadKind::Job) {
    const double alone = static_cast<double>(workload.units) * to_seconds(demand.gpu);
    return std::max(0.0, 1 - alone / most);
  }
  const auto q = latency_quantile(objective.figure);
  if (!q || !is_steady(workload) || !workload.spec.measured ||
      !workload.spec.measured->request_gpu_time) {
    return 1;
  }
  const double rate = workload.spec.traffic->mean.per_second / std::max(1, workload.spec.count);
  const double mean = seconds_per_request(demand);
  return others_borne([&](double others) {
    return latency_beside(*workload.spec.measured->request_gpu_time, mean, rate, *q, others) <=
           most;
  });
}

}  // namespace

GpuNeed gpu_need(const World& world, const WorkloadModel& workload) {
  GpuNeed need;
  const Demand* demand = fastest(world, workload);
  if (demand == nullptr || workload.spec.count == 0) return need;
  double own = 0;  // of one pod
  if (workload.spec.traffic && !workload.spec.llm) {
    own =
        workload.spec.traffic->mean.per_second * seconds_per_request(*demand) / workload.spec.count;
    const bool is_bound = is_steady(workload) && limits_latency(workload.spec.objectives);
    if (is_bound) need.busy = own * workload.spec.count;
    need.sm_busy = need.busy * std::min(1.0, demand->client.compute);
  } else if (workload.spec.kind != WorkloadKind::Notebook) {
    // One that is always there takes every other turn.
    const double whole = to_seconds(demand->gpu) + to_seconds(demand->host);
    own = whole > 0 ? 0.5 * to_seconds(demand->gpu) / whole : 0;
  }
  need.company = own * workload.spec.pods_at_once();
  for (const Objective& objective : workload.spec.objectives) {
    need.bears = std::min(need.bears, own + others_borne(workload, *demand, objective));
  }
  return need;
}

namespace {

// Those that hold the pods that are always there. REQUIRES: `least` counts tickets, CPU and memory.
int nodes_kept(const World& world, const NodeBound& bound) {
  int pods = 0;
  bool gangs = false;  // which may not be there most of the time
  for (const WorkloadModel& workload : world.workloads) {
    pods += at_once(workload);
    gangs = gangs || workload.pods_per_job > 1;
  }
  if (pods == 0) return 0;
  return gangs ? 1 : bound.least;
}

}  // namespace

NodeBound node_bound(const World& world, KnownQueues* queues) {
  NodeBound bound;
  for (const WorkloadModel& workload : world.workloads) {
    if (bound.refused.empty() && !admits(world.pools.front(), workload.spec.pod)) {
      bound.refused = {fmt::format(
          "\"{}\" selects other nodes (nodeSelector, taints) than its neighbours", workload.name)};
    }
    const Demand* demand = fastest(world, workload);
    if (demand == nullptr) continue;
    for (Reason refused :
         {too_slow_alone(workload, *demand), too_much_for_its_pods(workload, *demand),
          too_slow_in_its_queue(world, workload, *demand, queues),
          job_takes_too_long(workload, *demand)}) {
      if (!refused.empty() && bound.refused.empty()) bound.refused = std::move(refused);
    }
    bound.most += workload.spec.count;
  }
  bound.most = std::max(1, bound.most - 1);
  for (const Resource& resource : resources_of(world)) {
    if (resource.needed == 0) continue;
    if (resource.per_node == 0) {
      bound.refused = joined({"a node offers no "}, resource.name);
      continue;
    }
    raise(bound, (resource.needed + resource.per_node - 1) / resource.per_node, resource.name);
  }
  bound.most = std::max(bound.most, bound.least);
  bound.kept = nodes_kept(world, bound);
  bound_by_gpu_time(world, bound);
  return bound;
}

}  // namespace slicewise::sim
