#include "admission.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
scenarios::Toleration toleration_of_resource(std::string resource) {
  return {std::move(resource), "Exists", "", "NoSchedule"};
}

std::vector<scenarios::Toleration> admitted_tolerations(const PodTemplate& pod) {
  std::vector<scenarios::Toleration> all = pod.tolerations;
  for (const scenarios::ExtendedRequest& request : pod.extended) {
    all.push_back(toleration_of_resource(request.name.value));
  }
  return all;
}

bool has_untolerated_taint(const PoolModel& pool, const PodTemplate& pod) {
  return untolerated(pool.taints, pod.tolerations) != nullptr;
}

bool matches_selector(const PoolModel& pool, const PodTemplate& pod) {
  return std::ranges::includes(pool.labels, pod.node_selector);
}

bool admits(const PoolModel& pool, const PodTemplate& pod) {
  return !has_untolerated_taint(pool, pod) && matches_selector(pool, pod);
}

bool has_uncounted_pods(const PoolModel& pool, const World& world) {
  return std::ranges::any_of(world.workloads, [&](const WorkloadModel& model) {
    return !model.resource && model.spec.uses_gpu() && admits(pool, model.spec.pod);
  });
}

bool selects(const Workload& a, const scenarios::PodAffinityTerm& term, const Workload& b) {
  const auto& spaces = term.namespaces;
  const bool in_reach =
      spaces.empty() ? a.namespace_name == b.namespace_name : contains(spaces, b.namespace_name);
  return in_reach && std::ranges::includes(b.pod.labels, term.match_labels);
}

bool selects(const Workload& a, const scenarios::TopologySpread& spread, const Workload& b) {
  return !spread.match_labels.empty() && a.namespace_name == b.namespace_name &&
         std::ranges::includes(b.pod.labels, spread.match_labels);
}

bool meets(const std::map<std::string, std::string>& labels,
           const scenarios::PreferredNodes& nodes) {
  return std::ranges::all_of(nodes.requirements, [&](const scenarios::NodeRequirement& one) {
    const auto label = labels.find(one.key);
    return label == labels.end() ? scenarios::allows(one, std::nullopt)
                                 : scenarios::allows(one, label->second);
  });
}

bool shuns(const Workload& a, const Workload& b) {
  return std::ranges::any_of(a.pod.anti_affinity, [&](const scenarios::PodAffinityTerm& term) {
    return selects(a, term, b);
  });
}

bool shares_port(const PodTemplate& a, const PodTemplate& b) {
  return std::ranges::any_of(a.host_ports, [&](const auto& port) {
    return contains(b.host_ports, port.value, [](const auto& other) { return other.value; });
  });
}

int most_gpus(const WorkloadModel& workload) {
  int most = 1;
  for (const PoolDemand& demand : workload.on_pool) most = std::max(most, demand.gpus);
  return most;
}

models::LlmStep all_reduces_of(const PoolModel& pool, const LlmDemand& demand, GpuMask gpus) {
  return models::all_reduces(*demand.shared, {pool.gpu_sets.all_reduce_latency_s(gpus),
                                              pool.gpu_sets.all_reduce_bytes_per_second(gpus)});
}

Duration all_reduce_time(const World& world, PoolId id, const WorkloadModel& workload,
                         GpuMask gpus) {
  constexpr double kLongest = 1e9;  // s; whatever links a user's catalogue has
  if (std::has_single_bit(gpus)) return {};
  const PoolModel& pool = world.pools[index(id)];
  const std::vector<LlmDemand>& llm = workload.on_pool[index(id)].llm;
  if (!llm.empty()) {
    const double of_token = models::step_seconds(all_reduces_of(pool, llm.front(), gpus), 1, 0);
    return from_seconds(std::min(of_token, kLongest));
  }
  const auto& work = workload.spec.work;
  if (!work || !work->all_reduce) return {};
  const double bytes = static_cast<double>(work->all_reduce->bytes_per_step.count);
  const double seconds = bytes / pool.gpu_sets.all_reduce_bytes_per_second(gpus);
  return from_seconds(std::min(seconds, kLongest));
}

namespace {

template <class Condition>
bool all_that_offer(const PoolModel& pool, std::size_t offer, const Condition& condition) {
  return std::ranges::all_of(pool.kinds, [&](const DomainKind& kind) {
    const bool offered = contains(kind.tickets, offer, &Tickets::offer);
    return !offered || (kind.partition.empty() && condition(kind.sharing));
  });
}

bool are_whole(const PoolModel& pool, std::size_t offer) {
  return all_that_offer(pool, offer, [&](const models::Sharing& sharing) {
    return std::holds_alternative<models::Exclusive>(sharing) ||
           pool.offers[offer].claim == ResourceOffer::Claim::OfEachPod ||
           (pool.offers[offer].part && pool.offers[offer].part->alone);
  });
}

// Of GPUs that NVIDIA's device plugin shares.
bool are_replicas(const PoolModel& pool, std::size_t offer) {
  const ResourceOffer& what = pool.offers[offer];
  const bool by_plugin = pool.strategy == scenarios::Strategy::TimeSlicing ||
                         pool.strategy == scenarios::Strategy::Mps;
  return by_plugin && what.shared && !what.refuses_more_than_one &&
         what.claim == ResourceOffer::Claim::None && !what.part &&
         all_that_offer(pool, offer, [](const models::Sharing& sharing) {
           return !std::holds_alternative<models::Exclusive>(sharing);
         });
}

// Whether its pods have a process on each GPU that they see. A recorded job's kernels are on one,
// people at a notebook use one, and layer by layer GPUs that others share do not keep step.
bool has_ranks(const Workload& workload) {
  return workload.kind != WorkloadKind::Notebook && !workload.trace && !workload.llm;
}

}  // namespace

int gpus_of_pod(const PoolModel& pool, std::size_t offer, const Workload& workload,
                std::int64_t count) {
  if (are_whole(pool, offer)) {
    return static_cast<int>(std::min<std::int64_t>(count, GpuSets::kMostGpus));
  }
  const bool fits_node = count <= pool.tickets_per_node(offer, 0);
  const bool several = fits_node && pool.gpus_per_node <= GpuSets::kMostGpus &&
                       has_ranks(workload) && are_replicas(pool, offer);
  return several ? static_cast<int>(std::min<std::int64_t>(count, pool.gpus_per_node)) : 1;
}

void take_gpus(const PoolModel& pool, const Workload& workload, std::int64_t count,
               PoolDemand& demand) {
  demand.gpus = gpus_of_pod(pool, *demand.offer, workload, count);
  demand.shares_several = demand.gpus > 1 && are_replicas(pool, *demand.offer);
}

}  // namespace slicewise::sim
