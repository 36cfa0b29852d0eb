#include "admission.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slicewise/sim/world.hpp"

namespace slicewise::sim {
namespace {

bool tolerates(const scenarios::Toleration& toleration, const scenarios::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.op == "Exists";
  if (toleration.key != taint.key) return false;
  return toleration.op == "Exists" || toleration.value == taint.value;
}

}  // namespace

bool tolerates_any(std::span<const scenarios::Toleration> tolerations,
                   const scenarios::Taint& taint) {
  return std::ranges::any_of(tolerations,
                             [&](const auto& toleration) { return tolerates(toleration, taint); });
}

scenarios::Toleration toleration_of_resource(std::string resource) {
  return {std::move(resource), "Exists", "", "NoSchedule"};
}

std::vector<scenarios::Toleration> admitted_tolerations(const scenarios::PodTemplate& pod) {
  std::vector<scenarios::Toleration> all = pod.tolerations;
  for (const scenarios::ExtendedRequest& request : pod.extended) {
    all.push_back(toleration_of_resource(request.name.value));
  }
  return all;
}

const scenarios::Taint* untolerated(std::span<const scenarios::Taint> taints,
                                    std::span<const scenarios::Toleration> tolerations) {
  const auto found = std::ranges::find_if(taints, [&](const scenarios::Taint& taint) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return false;
    return !tolerates_any(tolerations, taint);
  });
  return found == taints.end() ? nullptr : &*found;
}

bool has_untolerated_taint(const PoolModel& pool, const scenarios::PodTemplate& pod) {
  return untolerated(pool.taints, pod.tolerations) != nullptr;
}

bool matches_selector(const PoolModel& pool, const scenarios::PodTemplate& pod) {
  return std::ranges::all_of(pod.node_selector, [&](const auto& wanted) {
    const auto label = pool.labels.find(wanted.first);
    return label != pool.labels.end() && label->second == wanted.second;
  });
}

bool admits(const PoolModel& pool, const scenarios::PodTemplate& pod) {
  return !has_untolerated_taint(pool, pod) && matches_selector(pool, pod);
}

bool refuses(const scenarios::Workload& a, const scenarios::Workload& b) {
  return std::ranges::any_of(a.pod.anti_affinity, [&](const scenarios::PodAffinityTerm& term) {
    const auto& spaces = term.namespaces;
    const bool in_reach = spaces.empty()
                              ? a.namespace_name == b.namespace_name
                              : std::ranges::find(spaces, b.namespace_name) != spaces.end();
    return in_reach && std::ranges::all_of(term.match_labels, [&](const auto& wanted) {
             const auto label = b.pod.labels.find(wanted.first);
             return label != b.pod.labels.end() && label->second == wanted.second;
           });
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

int gpus_of_pod(const PoolModel& pool, std::size_t offer, std::int64_t count) {
  const bool whole = std::ranges::all_of(pool.kinds, [&](const DomainKind& kind) {
    const bool offered =
        std::ranges::find(kind.tickets, offer, &Tickets::offer) != kind.tickets.end();
    const bool alone = std::holds_alternative<models::Exclusive>(kind.sharing) ||
                       pool.offers[offer].claim == ResourceOffer::Claim::OfEachPod ||
                       (pool.offers[offer].part && pool.offers[offer].part->alone);
    return !offered || (kind.partition.empty() && alone);
  });
  return whole ? static_cast<int>(std::min<std::int64_t>(count, GpuSets::kMostGpus)) : 1;
}

}  // namespace slicewise::sim
