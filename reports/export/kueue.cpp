#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/printable.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/sim/world.hpp"

#include "../document/document_text.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "node_settings.hpp"
#include "pod_owner.hpp"
#include "pod_remarks.hpp"

// A Kueue ClusterQueue whose quotas are what was simulated. Field by field against the CRDs of
// Kueue 0.17 (sigs.k8s.io/kueue config/components/crd/bases).
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::ClusterQueue;
using scenarios::FlavorSearch;
using scenarios::PodQueue;
using scenarios::QuotaPreemption;
using scenarios::Scenario;
using scenarios::Workload;
using scenarios::WorkloadKind;

constexpr std::string_view kApi = "kueue.x-k8s.io/v1beta2";
constexpr std::string_view kQueue = "slicewise";
constexpr std::string_view kApply =
    "  kubectl apply --server-side -f kueue.yaml\n"
    "  kubectl get clusterqueue -o wide\n";
constexpr std::string_view kCpu = "cpu";
constexpr std::string_view kMemory = "memory";

// How much of each resource, CPU in thousandths and memory in bytes.
using Amounts = std::map<std::string, std::int64_t, std::less<>>;

struct Flavor {
  const scenarios::NodePool* pool;
  const sim::PoolModel* model;
  Amounts quota;
};

Amounts asked_by(const Workload& workload) {
  Amounts out = {{std::string(kCpu), workload.pod.cpu_request.count},
                 {std::string(kMemory), workload.pod.memory_request.count}};
  for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
    out[request.name.value] = request.count;
  }
  return out;
}

Amounts offered_by(const scenarios::NodePool& pool, const sim::PoolModel& model) {
  const std::int64_t nodes = pool.most_nodes.value_or(pool.nodes);
  Amounts out = {{std::string(kCpu), nodes * model.allocatable_cpu.count},
                 {std::string(kMemory), nodes * model.allocatable_memory.count}};
  for (std::size_t offer = 0; offer < model.offers.size(); ++offer) {
    out[model.offers[offer].name] = nodes * model.most_tickets_per_node(offer);
  }
  return out;
}

// How many of the pods fit, one resource beside the other.
std::int64_t room_for(const Amounts& asked, const Amounts& left, std::int64_t pods) {
  for (const auto& [name, amount] : asked) {
    if (amount == 0) continue;
    const auto known = left.find(name);
    pods = std::min(pods, known == left.end() ? 0 : known->second / amount);
  }
  return pods;
}

// Kueue does not see pods that no queue holds.
void leave_room(const Workload& workload, std::vector<Flavor>& flavors) {
  const Amounts asked = asked_by(workload);
  std::int64_t pods = workload.pods_at_once();
  for (Flavor& flavor : flavors) {
    if (!sim::admits(*flavor.model, workload.pod)) continue;
    const std::int64_t here = room_for(asked, flavor.quota, pods);
    for (const auto& [name, amount] : asked) {
      if (here > 0) flavor.quota[name] -= here * amount;
    }
    pods -= here;
  }
}

std::string quota_text(std::string_view resource, std::int64_t amount) {
  if (resource == kCpu) return fmt::format("{}m", amount);
  return resource == kMemory ? fmt::format("{}Mi", amount >> 20) : std::to_string(amount);
}

// Kueue looks at those labels of a Job's node selector only that some flavor has.
std::map<std::string, std::string> labels_of(const Flavor& flavor, const Scenario& scenario) {
  const bool by_karpenter = scenario.provisioner.kind == scenarios::Provisioner::Kind::Karpenter;
  const bool is_type = is_of_node_pool(*flavor.pool);  // of a NodePool, perhaps beside others
  const std::string group = label_of_nodes(*flavor.pool);
  const std::size_t equals = group.find('=');
  std::map<std::string, std::string> labels = {
      by_karpenter && !is_type
          ? std::pair(std::string(scenarios::kNodePoolLabel), flavor.pool->name.value)
          : std::pair(group.substr(0, equals), group.substr(equals + 1))};
  if (is_type) labels.emplace(scenarios::kInstanceTypeLabel, flavor.pool->instance_type.value);
  for (const Workload& workload : scenario.workloads) {
    if (workload.kind != WorkloadKind::Job) continue;
    for (const auto& [name, value] : workload.pod.node_selector) {
      const auto known = flavor.model->labels.find(name);
      if (known != flavor.model->labels.end()) labels[name] = known->second;
    }
  }
  return labels;
}

bool takes_places(const Scenario& scenario) {
  return scenarios::preempts(scenario.pod_queue) ||
         std::ranges::any_of(scenario.workloads, [](const Workload& workload) {
           return workload.priority != 0 &&
                  workload.preemption_policy == scenarios::PreemptionPolicy::PreemptLowerPriority;
         });
}

// The queue of a scenario that has none: what its pools have.
ClusterQueue queue_of_pools(const Scenario& scenario, const std::vector<Flavor>& flavors) {
  ClusterQueue queue;
  queue.name.value = kQueue;
  if (scenario.pod_queue == PodQueue::Fifo) queue.strategy = ClusterQueue::Strategy::StrictFifo;
  if (takes_places(scenario)) queue.within_queue = QuotaPreemption::LowerPriority;
  std::set<std::string> covered;
  for (const Flavor& flavor : flavors) {
    for (const auto& [name, amount] : flavor.quota) covered.insert(name);
  }
  scenarios::ResourceGroup& group = queue.groups.emplace_back();
  for (const std::string& name : covered) group.covered.push_back({name, {}});
  for (const Flavor& flavor : flavors) {
    scenarios::FlavorQuotas& quotas = group.flavors.emplace_back();
    quotas.flavor = flavor.pool->name;
    for (const std::string& name : covered) {
      const auto known = flavor.quota.find(name);
      const std::int64_t amount = known == flavor.quota.end() ? 0 : known->second;
      scenarios::ResourceQuota& quota = quotas.resources.emplace_back();
      quota.resource.value = name;
      quota.nominal.value = quota_text(name, amount);
    }
  }
  return queue;
}

json flavor_object(const scenarios::ResourceFlavor& flavor) {
  json spec = json::object();
  if (!flavor.node_labels.empty()) spec["nodeLabels"] = flavor.node_labels;
  json taints = taints_of(flavor.node_taints);
  if (!taints.empty()) spec["nodeTaints"] = std::move(taints);
  return kubernetes_object(kApi, "ResourceFlavor", {{"name", flavor.name.value}}, std::move(spec));
}

json group_json(const scenarios::ResourceGroup& group) {
  json covered = json::array();
  for (const auto& name : group.covered) covered.push_back(name.value);
  json flavors = json::array();
  for (const scenarios::FlavorQuotas& flavor : group.flavors) {
    json resources = json::array();
    for (const scenarios::ResourceQuota& quota : flavor.resources) {
      json one = {{"name", quota.resource.value}, {"nominalQuota", quota.nominal.value}};
      if (quota.borrowing_limit) one["borrowingLimit"] = quota.borrowing_limit->value;
      if (quota.lending_limit) one["lendingLimit"] = quota.lending_limit->value;
      resources.push_back(std::move(one));
    }
    flavors.push_back({{"name", flavor.flavor.value}, {"resources", std::move(resources)}});
  }
  return {{"coveredResources", std::move(covered)}, {"flavors", std::move(flavors)}};
}

std::string_view word_of(QuotaPreemption policy) {
  switch (policy) {
    case QuotaPreemption::Never:
      return "Never";
    case QuotaPreemption::LowerPriority:
      return "LowerPriority";
    case QuotaPreemption::LowerOrNewerEqualPriority:
      return "LowerOrNewerEqualPriority";
    case QuotaPreemption::Any:
      return "Any";
  }
  return "Never";
}

std::string_view word_of(FlavorSearch search) {
  return search == FlavorSearch::MayStopSearch ? "MayStopSearch" : "TryNextFlavor";
}

json preemption_json(const ClusterQueue& queue) {
  json out = {{"withinClusterQueue", word_of(queue.within_queue)}};
  if (queue.reclaim != QuotaPreemption::Never) out["reclaimWithinCohort"] = word_of(queue.reclaim);
  if (queue.borrow_within_cohort == QuotaPreemption::Never) return out;
  out["borrowWithinCohort"]["policy"] = word_of(queue.borrow_within_cohort);
  if (queue.most_priority_preempted) {
    out["borrowWithinCohort"]["maxPriorityThreshold"] = *queue.most_priority_preempted;
  }
  return out;
}

// Of the Jobs that wait in it.
std::set<std::string> namespaces_of(const Scenario& scenario, const ClusterQueue& queue) {
  std::set<std::string> namespaces;
  for (const Workload& workload : scenario.workloads) {
    if (workload.queue.value == queue.name.value) namespaces.insert(workload.namespace_name);
  }
  return namespaces;
}

json selector_of(const std::set<std::string>& namespaces) {
  return {{"matchExpressions", json::array({{{"key", "kubernetes.io/metadata.name"},
                                             {"operator", "In"},
                                             {"values", namespaces}}})}};
}

json queue_spec(const ClusterQueue& queue) {
  const bool is_strict = queue.strategy == ClusterQueue::Strategy::StrictFifo;
  json spec = {{"queueingStrategy", is_strict ? "StrictFIFO" : "BestEffortFIFO"},
               {"preemption", preemption_json(queue)},
               {"resourceGroups", json::array()}};
  if (!queue.cohort.empty()) spec["cohortName"] = queue.cohort;
  const ClusterQueue usual;
  if (queue.when_can_borrow != usual.when_can_borrow ||
      queue.when_can_preempt != usual.when_can_preempt) {
    spec["flavorFungibility"] = {{"whenCanBorrow", word_of(queue.when_can_borrow)},
                                 {"whenCanPreempt", word_of(queue.when_can_preempt)}};
  }
  for (const scenarios::ResourceGroup& group : queue.groups) {
    spec["resourceGroups"].push_back(group_json(group));
  }
  return spec;
}

json queue_object(const ClusterQueue& queue, json spec) {
  return kubernetes_object(kApi, "ClusterQueue", {{"name", queue.name.value}}, std::move(spec));
}

json local_queue(const std::string& space, const std::string& queue) {
  return kubernetes_object(kApi, "LocalQueue", {{"name", queue}, {"namespace", space}},
                           {{"clusterQueue", queue}});
}

// Whether its patch has several pods of which each is a Job of its own.
bool is_several_jobs(const Workload& workload) {
  return workload.part_of.value.empty() && workload.pods_per_job == 1 &&
         workload.pods_of_run() > 1 && workload.pods_at_once() > 1 &&
         workload.manifest.kind != "CronJob";
}

// With how many of its pods the object begins; "": with all.
std::string least_parallelism(const Workload& workload) {
  if (workload.min_parallelism) return std::to_string(*workload.min_parallelism);
  return is_several_jobs(workload) ? "1" : "";
}

// The Jobs of a CronJob have the label of its template.
json queue_patch(const Workload& workload) {
  json label = {{"labels", {{"kueue.x-k8s.io/queue-name", workload.queue.value}}}};
  if (const std::string least = least_parallelism(workload); !least.empty()) {
    label["annotations"] = {{scenarios::kLeastParallelism, least}};
  }
  if (workload.schedule) return patch_of_owner(workload, {{"jobTemplate", {{"metadata", label}}}});
  json patch = patch_of_owner(workload, nullptr);
  patch.erase("spec");
  patch["metadata"].update(label);
  return patch;
}

// A component whose patches put the Jobs into the queue.
std::string component(const Scenario& scenario, bool is_made_up) {
  std::string out =
      is_made_up ? "" : comment("Only with new-queues.yaml: Jobs that have a LocalQueue keep it.");
  out += comment("Name it in your own kustomization, beside the Jobs that it queues:") +
         commented("  components:\n  - kueue\n") +
         "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n";
  for (const Workload& workload : scenario.workloads) {
    if (workload.queue.value.empty()) continue;
    const PodOwner owner = owner_of(workload);
    if (owner.api_version.empty()) {
      out += comment(printable(
          fmt::format("By hand: {} {} in namespace {} makes the pods; give it the label "
                      "kueue.x-k8s.io/queue-name: {}{}",
                      owner.kind, owner.name, workload.namespace_name, workload.queue.value,
                      owner.kind == "CronJob" ? " in spec.jobTemplate.metadata" : "")));
      continue;
    }
    // Where nobody queues them yet, Jobs may be objects of their own.
    Workload one = workload;
    if (is_made_up) one.queue.value.clear();
    const std::vector<std::string> names = object_names(scenario, one);
    one = workload;
    if (names.size() > 1) one.count = 1;
    for (const std::string& name : names) {
      out += "- patch: |-\n" + indented(for_each_object({name}, queue_patch(one)), 4);
    }
  }
  return out;
}

std::string kueue_title(const Scenario& scenario, bool is_made_up) {
  std::string several;
  if (std::ranges::any_of(scenario.workloads, is_several_jobs)) {
    several = fmt::format(
        "Jobs of one workload are the pods of one Job. {}: 1 lets Kueue start those that the "
        "quota of one flavor has room for (it lowers spec.parallelism, for as long as the Job "
        "runs); without it all would wait until all fit.\n",
        scenarios::kLeastParallelism);
  }
  return head(is_made_up ? head_files::kueue_made_up_txt() : head_files::kueue_txt(),
              {{"variant", yaml_scalar(scenario.name)}, {"several", several}, {"apply", kApply}});
}

std::string local_queues(const Scenario& scenario) {
  std::string out;
  for (const ClusterQueue& queue : scenario.cluster_queues) {
    for (const std::string& space : namespaces_of(scenario, queue)) {
      out += "---\n" + yaml_text(local_queue(space, queue.name.value));
    }
  }
  return out;
}

// What lets Jobs into queues that a cluster did not have. A manager of its own: one that applies a
// part of an object takes back what else it had applied of it.
std::string new_queues(const Scenario& scenario) {
  std::string out =
      comment(
          "Only for queues of kueue.yaml that the cluster did not have: their namespaces. The "
          "kustomization beside it is a component that gives the Jobs of yours their label:") +
      commented("  kubectl apply --server-side --field-manager=new-queues -f new-queues.yaml\n");
  for (const ClusterQueue& queue : scenario.cluster_queues) {
    const std::set<std::string> namespaces = namespaces_of(scenario, queue);
    if (namespaces.empty()) continue;  // it lends, and holds no Job
    const json spec = {{"namespaceSelector", selector_of(namespaces)}};
    out += "---\n" + yaml_text(queue_object(queue, spec));
  }
  return out + local_queues(scenario);
}

Diagnostics refusals(const Scenario& scenario) {
  const auto unfit = [&](std::string what, std::string help) {
    return Diagnostics{
        make_diagnostic(Code::ExportUnfit, scenario.where, std::move(what), std::move(help))};
  };
  const bool has_jobs = std::ranges::any_of(
      scenario.workloads, [](const Workload& w) { return w.kind == WorkloadKind::Job; });
  if (!has_jobs) return unfit("no Job that a queue could hold", "Kueue is for batch workloads");
  if (is_without_its_quotas(scenario)) {
    return unfit(
        "it was simulated without the quotas of its clusterQueues: none of its Jobs is in one",
        "name the `queue` of its Jobs; of an option, export the scenario that was planned");
  }
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    if (!pool.hami && !pool.kai) continue;
    return unfit(fmt::format("node pool \"{}\" gives away parts of GPUs, by books of {}",
                             pool.name.value, pool.hami ? "HAMi's own" : "KAI's own"),
                 "KAI has queues itself: kaiQueues");
  }
  switch (scenario.pod_queue) {
    case PodQueue::Easy:
    case PodQueue::ShortestTime:
    case PodQueue::ShortestService:
      return unfit("Kueue has no queue that looks at how long Jobs take",
                   "export a variant with podQueue backfill, fifo or priority");
    case PodQueue::Backfill:
    case PodQueue::Fifo:
    case PodQueue::Priority:
      break;
  }
  return {};
}

// Gives a scenario without queues one for all of its Jobs, with what its pools have.
Expected<Scenario> with_queues(Scenario scenario, const models::Catalogue& catalogue) {
  const Expected<sim::World> world = sim::build_world(scenario, catalogue);
  if (!world) return tl::unexpected(world.error());
  if (!scenario.cluster_queues.empty()) return scenario;
  std::vector<Flavor> flavors;
  for (std::size_t p = 0; p < scenario.node_pools.size(); ++p) {
    const scenarios::NodePool& pool = scenario.node_pools[p];
    flavors.push_back({&pool, &world->pools[p], offered_by(pool, world->pools[p])});
  }
  for (Workload& workload : scenario.workloads) {
    if (workload.kind == WorkloadKind::Job) {
      workload.queue.value = kQueue;
    } else {
      leave_room(workload, flavors);
    }
  }
  for (const Flavor& flavor : flavors) {
    scenario.flavors.push_back(
        {flavor.pool->name, labels_of(flavor, scenario), flavor.pool->taints, {}});
  }
  scenario.cluster_queues.push_back(queue_of_pools(scenario, flavors));
  return scenario;
}

// A queue of which the scenario does not say a parent is one of all.
std::string kai_queues(const Scenario& scenario) {
  std::string out = head(head_files::kai_queues_txt(), {{"variant", yaml_scalar(scenario.name)}});
  for (const scenarios::KaiQueue& queue : scenario.kai_queues) {
    const json unlimited = {{"quota", -1}, {"limit", -1}, {"overQuotaWeight", 1}};
    json spec = {{"resources",
                  {{"gpu",
                    {{"quota", queue.quota},
                     {"limit", queue.limit},
                     {"overQuotaWeight", queue.over_quota_weight}}},
                   {"cpu", unlimited},
                   {"memory", unlimited}}}};
    if (!queue.parent.empty()) spec["parentQueue"] = queue.parent;
    out += "---\n" + yaml_text({{"apiVersion", "scheduling.run.ai/v2"},
                                {"kind", "Queue"},
                                {"metadata", {{"name", queue.name.value}}},
                                {"spec", std::move(spec)}});
  }
  return out;
}

}  // namespace

Expected<ExportFiles> render_kueue(const Scenario& base, const models::Catalogue& catalogue,
                                   const ExportOptions& /*options*/) {
  if (!base.kai_queues.empty()) return ExportFiles{{"kai-queues.yaml", kai_queues(base)}};
  if (Diagnostics found = refusals(base); !found.empty()) return tl::unexpected(found);
  const Expected<Scenario> scenario = with_queues(base, catalogue);
  if (!scenario) return tl::unexpected(scenario.error());
  const bool is_made_up = base.cluster_queues.empty();
  std::string text = kueue_title(*scenario, is_made_up);
  for (const scenarios::ResourceFlavor& flavor : scenario->flavors) {
    text += "---\n" + yaml_text(flavor_object(flavor));
  }
  for (const ClusterQueue& queue : scenario->cluster_queues) {
    json spec = queue_spec(queue);
    if (is_made_up) spec["namespaceSelector"] = selector_of(namespaces_of(*scenario, queue));
    text += "---\n" + yaml_text(queue_object(queue, std::move(spec)));
  }
  ExportFiles files = {{"kustomization.yaml", component(*scenario, is_made_up)}};
  if (is_made_up) {
    text += local_queues(*scenario);
  } else {
    files.insert(files.begin(), {"new-queues.yaml", new_queues(*scenario)});
  }
  files.insert(files.begin(), {"kueue.yaml", std::move(text)});
  return files;
}

}  // namespace slicewise::reports
