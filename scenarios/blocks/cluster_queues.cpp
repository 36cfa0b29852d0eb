#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

// spec.resourceFlavors and spec.clusterQueues: Kueue's ResourceFlavor and ClusterQueue, their spec
// pasted as it is; spec.kaiQueues: KAI's. Source: sigs.k8s.io/kueue 0.17, apis/kueue/v1beta2.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kStrategyWords[] = {{"BestEffortFIFO", ClusterQueue::Strategy::BestEffortFifo},
                                   {"StrictFIFO", ClusterQueue::Strategy::StrictFifo}};
constexpr Word kWithinWords[] = {
    {"Never", QuotaPreemption::Never},
    {"LowerPriority", QuotaPreemption::LowerPriority},
    {"LowerOrNewerEqualPriority", QuotaPreemption::LowerOrNewerEqualPriority}};
constexpr Word kReclaimWords[] = {{"Never", QuotaPreemption::Never},
                                  {"LowerPriority", QuotaPreemption::LowerPriority},
                                  {"Any", QuotaPreemption::Any}};
constexpr Word kBorrowWords[] = {{"Never", QuotaPreemption::Never},
                                 {"LowerPriority", QuotaPreemption::LowerPriority}};
constexpr Word kSearchWords[] = {{"MayStopSearch", FlavorSearch::MayStopSearch},
                                 {"TryNextFlavor", FlavorSearch::TryNextFlavor}};

// As its webhook has it: each flavor has a quota of each covered resource, place by place
// (validateFlavorQuotas).
void check_group(ResourceGroup& group, const Node& map, Reading& reading) {
  if (group.covered.empty()) return;
  for (const FlavorQuotas& flavor : group.flavors) {
    const auto lacks_name = [](const ResourceQuota& quota) { return quota.resource.value.empty(); };
    if (std::ranges::any_of(flavor.resources, lacks_name)) continue;  // FIELD_MISSING
    const bool is_same = std::ranges::equal(
        group.covered, flavor.resources, {}, [](const auto& name) { return name.value; },
        [](const ResourceQuota& quota) { return quota.resource.value; });
    if (is_same) continue;
    const bool is_permuted = std::ranges::is_permutation(
        group.covered, flavor.resources, {}, [](const auto& name) { return name.value; },
        [](const ResourceQuota& quota) { return quota.resource.value; });
    reading.findings.add(
        Code::SettingConflict, key_place(map, "coveredResources"),
        fmt::format("flavor \"{}\" has quotas {} coveredResources", flavor.flavor.value,
                    is_permuted ? "in another order than" : "of other resources than"),
        "Kueue wants one of each, in each flavor of the group, in the order of coveredResources");
  }
}

void check_queue(ClusterQueue& queue, const Node& map, Reading& reading) {
  std::set<std::string> seen;
  bool limits = false;
  for (const ResourceGroup& group : queue.groups) {
    for (const Located<std::string>& name : group.covered) {
      if (seen.insert(name.value).second) continue;
      reading.findings.add(Code::NameDuplicate, name.where,
                           fmt::format("\"{}\" is covered by two resource groups", name.value),
                           "a resource is in one group");
    }
    for (const FlavorQuotas& flavor : group.flavors) {
      for (const ResourceQuota& quota : flavor.resources) {
        limits = limits || quota.borrowing_limit || quota.lending_limit;
      }
    }
  }
  if (queue.cohort.empty() && limits) {
    reading.findings.add(Code::SettingConflict, key_place(map, "resourceGroups"),
                         "limits on borrowing and lending without a cohortName",
                         "nobody lends to a queue without a cohort: name one");
  }
  if (queue.reclaim == QuotaPreemption::Never &&
      queue.borrow_within_cohort != QuotaPreemption::Never) {
    reading.findings.add(Code::SettingConflict, key_place(map, "preemption"),
                         "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
                         "Kueue refuses it: set reclaimWithinCohort, or leave it out");
  }
}

constexpr Field kFlavorFields[] = {
    field<&ResourceFlavor::name>("name", "spot", "What quotas call it.").needed().positive(),
    field<&ResourceFlavor::node_labels>(
        "nodeLabels", "{karpenter.sh/capacity-type: spot}",
        "Of its nodes: pods that are admitted to it go to node pools with these labels.")
        .otherwise("any node"),
    field<&ResourceFlavor::node_taints>(
        "nodeTaints", "[{key: nvidia.com/gpu, effect: NoSchedule}]",
        "Of its nodes: jobs that do not tolerate them are not admitted to it.")
        .of(kTaint),
    plain(T::Refused, "tolerations", "", "write them into podTemplate.tolerations"),
    plain(T::Refused, "topologyName", "", "topology-aware scheduling is not simulated"),
};

constexpr Field kQuotaFields[] = {
    field<&ResourceQuota::resource>("name", "nvidia.com/gpu",
                                    "A resource that pods ask for, or `pods`: their number.")
        .needed()
        .positive(),
    field<&ResourceQuota::nominal>("nominalQuota", "4",
                                   "What the queue may have of it, whatever others do.")
        .as(T::Quantity)
        .needed(),
    field<&ResourceQuota::borrowing_limit>("borrowingLimit", "2",
                                           "What it may borrow of its cohort beyond that.")
        .as(T::Quantity)
        .otherwise("what the others do not use"),
    field<&ResourceQuota::lending_limit>(
        "lendingLimit", "1",
        "What others of the cohort may have of its quota while it does not use it.")
        .as(T::Quantity)
        .otherwise("all of it"),
};
constexpr FieldList kQuota = block<ResourceQuota>(kQuotaFields);

constexpr Field kFlavorQuotasFields[] = {
    field<&FlavorQuotas::flavor>("name", "spot", "One of spec.resourceFlavors.")
        .needed()
        .positive(),
    field<&FlavorQuotas::resources>("resources", "[{name: nvidia.com/gpu, nominalQuota: 4}]",
                                    "The quotas, one of each covered resource.")
        .needed()
        .positive()
        .of(kQuota),
};
constexpr FieldList kFlavorQuotas = block<FlavorQuotas>(kFlavorQuotasFields);

constexpr Field kGroupFields[] = {
    field<&ResourceGroup::covered>("coveredResources", "[cpu, memory, nvidia.com/gpu]",
                                   "Resources that a job has in one and the same flavor.")
        .needed()
        .positive(),
    field<&ResourceGroup::flavors>(
        "flavors", "[{name: spot, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]",
        "In the order in which they are tried.")
        .needed()
        .positive()
        .of(kFlavorQuotas),
};
constexpr FieldList kGroup = block<ResourceGroup, &check_group>(kGroupFields);

constexpr Field kBorrowFields[] = {
    field<&ClusterQueue::borrow_within_cohort>(
        "policy", "LowerPriority",
        "Which jobs of others it may stop for one that borrows even then.")
        .one_of(kBorrowWords),
    field<&ClusterQueue::most_priority_preempted>("maxPriorityThreshold", "100",
                                                  "Of those, the highest priority.")
        .between(-2'147'483'648, 1'000'000'000)
        .otherwise("any that is lower"),
};
constexpr FieldList kBorrow = block<ClusterQueue>(kBorrowFields);

constexpr Field kPreemptionFields[] = {
    field<&ClusterQueue::reclaim>(
        "reclaimWithinCohort", "Any",
        "Which jobs of queues that borrow are stopped for one that fits the queue's own quota.")
        .one_of(kReclaimWords),
    field<&ClusterQueue::within_queue>("withinClusterQueue", "LowerPriority",
                                       "Which jobs of the queue itself are stopped for another.")
        .one_of(kWithinWords),
    inner("borrowWithinCohort", "{policy: LowerPriority}",
          "Whether jobs of others are stopped for one that borrows, too.")
        .of(kBorrow),
};
constexpr FieldList kPreemption = block<ClusterQueue>(kPreemptionFields);

constexpr Field kFungibilityFields[] = {
    field<&ClusterQueue::when_can_borrow>("whenCanBorrow", "TryNextFlavor",
                                          "Whether the next flavor is tried before it borrows.")
        .one_of(kSearchWords),
    field<&ClusterQueue::when_can_preempt>("whenCanPreempt", "MayStopSearch",
                                           "... and before it stops other jobs.")
        .one_of(kSearchWords),
};
constexpr FieldList kFungibility = block<ClusterQueue>(kFungibilityFields);

constexpr Field kQueueFields[] = {
    field<&ClusterQueue::name>("name", "research", "What workloads.queue calls it.")
        .needed()
        .positive(),
    field<&ClusterQueue::cohort>("cohortName", "labs",
                                 "Queues of one cohort lend each other what they do not use.")
        .otherwise("none: it has its own quota alone"),
    field<&ClusterQueue::strategy>("queueingStrategy", "StrictFIFO",
                                   "BestEffortFIFO: jobs that do not fit let younger ones by; "
                                   "StrictFIFO: the first holds up the others.")
        .one_of(kStrategyWords),
    inner("preemption", "{reclaimWithinCohort: Any}",
          "Which admitted jobs are stopped, and wait in their queue anew, for one that waits.")
        .of(kPreemption),
    inner("flavorFungibility", "{whenCanBorrow: TryNextFlavor}",
          "When the next flavor of a resource group is tried although this one would do.")
        .of(kFungibility),
    field<&ClusterQueue::groups>("resourceGroups",
                                 "[{coveredResources: [nvidia.com/gpu], flavors: [{name: spot, "
                                 "resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]}]",
                                 "Its quotas. What a pod asks for of CPU, memory or GPUs and no "
                                 "group covers keeps its job out.")
        .needed()
        .positive()
        .of(kGroup),
};

void check_kai_queue(KaiQueue& queue, const Node& map, Reading& reading) {
  const auto is_amount = [](double amount) { return amount >= 0 || amount == -1; };
  if (!is_amount(queue.quota) || !is_amount(queue.limit)) {
    reading.findings.add(Code::SettingConflict, map.where, "quota and limit are GPUs, or -1",
                         "-1 is without limit");
  } else if (queue.limit >= 0 && (queue.quota < 0 || queue.quota > queue.limit)) {
    reading.findings.add(Code::SettingConflict, value_place(map, "limit"),
                         "limit is below the quota: the queue never has what it is guaranteed",
                         "raise the limit, or write -1 for none");
  }
}

constexpr Field kKaiQueueFields[] = {
    field<&KaiQueue::name>("name", "research", "What workloads.queue calls it.")
        .needed()
        .positive(),
    field<&KaiQueue::parent>("parentQueue", "department", "The queue whose share it has a part of.")
        .otherwise("none: it has a part of all GPUs"),
    field<&KaiQueue::quota>("quota", "4", "GPUs that it gets back from others; -1: all.")
        .as(T::Number)
        .between(-1, 1e6),
    field<&KaiQueue::limit>("limit", "8", "The most GPUs that it has; -1: no limit.")
        .as(T::Number)
        .between(-1, 1e6),
    field<&KaiQueue::over_quota_weight>("overQuotaWeight", "2",
                                        "Its weight where GPUs beyond the quotas are shared.")
        .as(T::Number)
        .between(0, 1e6),
};

template <class Named>
void check_known(const Located<std::string>& name, const std::vector<Named>& known,
                 std::string_view list, Findings& findings) {
  if (name.value.empty()) return;  // its field is missing, which is told
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const Named& one : known) names.push_back(one.name.value);
  if (std::ranges::find(names, name.value) != names.end()) return;
  const auto near = nearest_name(name.value, names);
  findings.add(Code::QueueUnknown, name.where,
               fmt::format("spec.{} has no \"{}\"", list, name.value),
               near ? fmt::format("did you mean {}?", *near) : "add it there");
}

// Each parent is there, and none is below itself.
void check_parents(const std::vector<KaiQueue>& queues, Findings& findings) {
  for (const KaiQueue& queue : queues) {
    check_known({queue.parent, queue.name.where}, queues, "kaiQueues", findings);
    const std::string* name = &queue.parent;
    for (std::size_t up = 0; up < queues.size() && *name != queue.name.value; ++up) {
      const auto parent =
          std::ranges::find(queues, *name, [](const KaiQueue& one) { return one.name.value; });
      if (parent == queues.end()) break;
      name = &parent->parent;
    }
    if (queue.name.value.empty() || *name != queue.name.value) continue;
    return findings.add(Code::SettingConflict, queue.name.where,
                        fmt::format("\"{}\" is below itself by parentQueue", queue.name.value),
                        "leave parentQueue out of the topmost queue");
  }
}

}  // namespace

constinit const FieldList kKaiQueue = block<KaiQueue, &check_kai_queue>(kKaiQueueFields);
constinit const FieldList kResourceFlavor = block<ResourceFlavor>(kFlavorFields);
constinit const FieldList kClusterQueue = block<ClusterQueue, &check_queue>(kQueueFields);

std::optional<std::int64_t> quota_amount(std::string_view resource, std::string_view quantity) {
  const auto thousandths = quantity_in_thousandths(quantity);
  if (!thousandths) return std::nullopt;
  return std::min(resource == "cpu" ? *thousandths : *thousandths / 1'000, kMostQuota);
}

std::int64_t amount_of(const ResourceQuota& quota, const Located<std::string>& quantity) {
  return quota_amount(quota.resource.value, quantity.value).value_or(0);
}

std::int64_t quota_of_pods(std::int64_t each, std::int64_t pods) {
  return pods > 0 && each > kMostQuota / pods ? kMostQuota : each * pods;
}

void check_queues(const Scenario& scenario, const Node& spec, Findings& findings) {
  for (const ClusterQueue& queue : scenario.cluster_queues) {
    for (const ResourceGroup& group : queue.groups) {
      for (const FlavorQuotas& flavor : group.flavors) {
        check_known(flavor.flavor, scenario.flavors, "resourceFlavors", findings);
      }
    }
  }
  check_parents(scenario.kai_queues, findings);
  const bool has_kai = std::ranges::any_of(scenario.node_pools, &NodePool::kai);
  if (!scenario.kai_queues.empty() && (!has_kai || !scenario.cluster_queues.empty())) {
    findings.add(Code::SettingConflict, key_place(spec, "kaiQueues"),
                 has_kai ? "kaiQueues beside clusterQueues" : "kaiQueues without KAI scheduler",
                 has_kai ? "keep one of the two" : "a node pool with `kai: true`");
  }
  bool any = false;
  for (const Workload& workload : scenario.workloads) {
    if (workload.queue.value.empty()) continue;
    any = any || workload.count > 0;
    if (scenario.kai_queues.empty()) {
      check_known(workload.queue, scenario.cluster_queues, "clusterQueues", findings);
    } else {
      check_known(workload.queue, scenario.kai_queues, "kaiQueues", findings);
    }
    if (workload.pod.claim.value.empty()) continue;
    findings.add(Code::StrategyNotModelled, workload.queue.where,
                 "quotas of devices that pods claim by DRA are not simulated",
                 "leave the queue out, or ask for a resource of the device plugin");
  }
  const bool is_plain =
      scenario.pod_queue == PodQueue::Backfill || scenario.pod_queue == PodQueue::Fifo;
  if (any && !is_plain) {
    findings.add(
        Code::StrategyNotModelled, key_place(spec, "scheduler"),
        "queues of Kueue or KAI before another queue than kube-scheduler's are not simulated",
        "leave scheduler.queue out, or write fifo");
  }
  constexpr std::size_t kMostPools = 64;
  if (any && scenario.node_pools.size() > kMostPools) {
    findings.add(
        Code::StrategyNotModelled, key_place(spec, "clusterQueues"),
        fmt::format("queues of Kueue or KAI before more than {} node pools are not simulated",
                    kMostPools),
        "leave node pools out that no job may have");
  }
}

}  // namespace slicewise::scenarios
