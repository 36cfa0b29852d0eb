#include "queues.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

namespace slicewise::scenarios {
namespace {

template <class Named>
bool has(const std::vector<Named>& list, const std::string& name) {
  return std::ranges::any_of(list, [&](const Named& one) { return one.name.value == name; });
}

bool is_quota(const ClusterQueue& queue, const ResourceQuota& quota) {
  const auto is_quantity = [&](const std::optional<Located<std::string>>& limit) {
    return !limit || quota_amount(quota.resource.value, limit->value);
  };
  const bool has_limit = quota.borrowing_limit || quota.lending_limit;
  return is_quantity(quota.nominal) && is_quantity(quota.borrowing_limit) &&
         is_quantity(quota.lending_limit) && !(has_limit && queue.cohort.empty());
}

// Whether Kueue takes it, as far as a scenario is held to that.
bool is_sound(const ClusterQueue& queue) {
  bool sound = !queue.groups.empty();
  for (const ResourceGroup& group : queue.groups) {
    std::set<std::string> covered;
    for (const auto& name : group.covered) covered.insert(name.value);
    sound = sound && !group.flavors.empty() && !covered.empty();
    for (const FlavorQuotas& flavor : group.flavors) {
      std::set<std::string> given;
      for (const ResourceQuota& quota : flavor.resources) given.insert(quota.resource.value);
      sound = sound && given == covered && !flavor.flavor.value.empty();
    }
  }
  for_each_quota(queue, [&](const std::string&, const ResourceQuota& quota) {
    sound = sound && is_quota(queue, quota);
  });
  return sound;
}

// Those of a queue with one flavor go to its nodes: Kueue gives them its labels as a selector.
void select_nodes(const ClusterFiles& files, const ClusterQueue& queue, DraftWorkload& workload) {
  for (const ResourceGroup& group : queue.groups) {
    const bool has_gpus = std::ranges::any_of(
        group.covered, [&](const auto& name) { return name.value == workload.resource; });
    if (!has_gpus || group.flavors.size() != 1) continue;
    const auto flavor = std::ranges::find_if(files.flavors, [&](const ResourceFlavor& one) {
      return one.name.value == group.flavors.front().flavor.value;
    });
    if (flavor == files.flavors.end()) return;
    for (const auto& label : flavor->node_labels) {
      const bool is_there = std::ranges::any_of(
          workload.node_selector, [&](const auto& own) { return own.first == label.first; });
      if (!is_there) workload.node_selector.emplace_back(label.first, label.second);
    }
  }
}

}  // namespace

void QueueImport::note(std::string_view what, const SourceLocation& where) {
  report_.remark(ImportRemark::Kind::Note, std::string(what), [&] { return where; });
}

void QueueImport::take(const PodFile& pod, DraftWorkload& workload) {
  const ClusterQueue* queue = cluster_queue_of(files_, pod);
  if (queue == nullptr) {
    if (pod.queue.value.empty()) return;
    return note("queues of Kueue that are not here: their Jobs have no quota", pod.queue.where);
  }
  if (workload.kind != DraftWorkload::Kind::Job) {
    return note(fmt::format("{}s in a queue of Kueue: only Jobs wait for a quota here", pod.kind),
                pod.queue.where);
  }
  if (!workload.claim.empty()) {
    return note("claims of DRA in a queue of Kueue: they have no quota here", pod.queue.where);
  }
  if (!is_sound(*queue)) {
    return note(
        "ClusterQueues without quotas, or that Kueue refuses: their Jobs have no quota here",
        pod.queue.where);
  }
  if (workload.gang.empty() && workload.pods > 1 &&
      annotation_of(pod, kLeastParallelism) == nullptr) {
    note(
        fmt::format("{}s in a queue of Kueue: their pods wait for quota one by one, there until it "
                    "has room for all (the annotation {} lets fewer begin)",
                    pod.kind, kLeastParallelism),
        pod.queue.where);
  }
  workload.queue = queue->name.value;
  select_nodes(files_, *queue, workload);
}

void QueueImport::add_flavors(const ClusterQueue& queue, ScenarioDraft& draft) {
  for_each_quota(queue, [&](const std::string& name, const ResourceQuota& quota) {
    if (has(draft.flavors, name)) return;
    const auto file = std::ranges::find_if(
        files_.flavors, [&](const ResourceFlavor& one) { return one.name.value == name; });
    if (file != files_.flavors.end()) return draft.flavors.push_back(*file);
    report_.guessed("ResourceFlavors that are not here: any node",
                    [&] { return quota.resource.where; });
    draft.flavors.emplace_back().name.value = name;
  });
}

void QueueImport::add_to(ScenarioDraft& draft) {
  const auto is_used = [&](const ClusterQueue& queue) {
    return std::ranges::any_of(draft.workloads, [&](const DraftWorkload& workload) {
      return workload.queue == queue.name.value;
    });
  };
  for (const ClusterQueue& queue : files_.cluster_queues) {
    const auto lends = [&](const ClusterQueue& other) {
      return !queue.cohort.empty() && other.cohort == queue.cohort && is_used(other);
    };
    const bool counts = is_used(queue) || std::ranges::any_of(files_.cluster_queues, lends);
    if (!counts || !is_sound(queue) || has(draft.cluster_queues, queue.name.value)) continue;
    draft.cluster_queues.push_back(queue);
    add_flavors(queue, draft);
  }
}

}  // namespace slicewise::scenarios
