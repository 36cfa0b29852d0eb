#include "queues.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/kai_part.hpp"

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

template <class Named>
bool has(const std::vector<Named>& list, const std::string& name) {
  return std::ranges::any_of(list, [&](const Named& one) { return one.name.value == name; });
}

void select(const std::pair<const std::string, std::string>& label, DraftWorkload& workload) {
  const bool is_there = std::ranges::any_of(
      workload.node_selector, [&](const auto& own) { return own.first == label.first; });
  if (!is_there) workload.node_selector.emplace_back(label.first, label.second);
}

bool is_flavor(const ResourceFlavorFile& file, const std::string& name) {
  return file.flavor.name.value == name;
}

}  // namespace

// Kueue gives its Jobs what the flavor says: its labels as a selector, which is known before only
// where the queue has one flavor, and its tolerations.
void QueueImport::take_flavors(const ClusterQueue& queue, DraftWorkload& workload) {
  for (const ResourceGroup& group : queue.groups) {
    const bool has_gpus = std::ranges::any_of(
        group.covered, [&](const auto& name) { return name.value == workload.resource; });
    if (!has_gpus) continue;
    for (const FlavorQuotas& quotas : group.flavors) {
      const auto file = std::ranges::find_if(files_.flavors, [&](const ResourceFlavorFile& one) {
        return is_flavor(one, quotas.flavor.value);
      });
      if (file == files_.flavors.end()) continue;
      for (const Toleration& toleration : file->tolerations) {
        workload.tolerations.push_back(toleration);
      }
      if (group.flavors.size() == 1) {
        for (const auto& label : file->flavor.node_labels) select(label, workload);
      } else if (!file->tolerations.empty()) {
        note("tolerations of ResourceFlavors: Jobs have those of all flavors of their queue",
             quotas.flavor.where);
      }
    }
  }
}

void QueueImport::note(std::string_view what, const SourceLocation& where) {
  report_.noted(std::string(what), where);
}

bool QueueImport::is_of_kai(const PodFile& pod, DraftWorkload& workload) {
  const auto label = std::ranges::find(pod.labels, kKaiQueueLabel, &KeyValue::key);
  if (label == pod.labels.end() || !is_placed_by_kai(pod)) return false;
  if (!has(files_.kai_queues, label->value)) return false;
  if (workload.kind == DraftWorkload::Kind::Job) {
    workload.queue = label->value;
  } else {
    note(fmt::format("{}s in a queue of KAI: only Jobs wait for their share here", pod.kind),
         label->where);
  }
  return true;
}

void QueueImport::take(const PodFile& pod, DraftWorkload& workload) {
  const bool is_one_job = workload.kind == DraftWorkload::Kind::Job && workload.gang.empty() &&
                          workload.pods > 1 && pod.kind != "Pod";
  const bool has_completions = pod.kind == "Job" || pod.kind == "CronJob";
  if (is_one_job && has_completions && !pod.fails_by_index) workload.part_of = workload.object_name;
  const ClusterQueueFile* file = cluster_queue_of(files_, pod);
  if (file == nullptr) {
    if (is_of_kai(pod, workload)) return;
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
  if (!file->is_sound) {
    return note(
        "ClusterQueues without quotas, or that Kueue refuses: their Jobs have no quota here",
        pod.queue.where);
  }
  workload.queue = file->queue.name.value;
  if (is_one_job) workload.part_of = workload.object_name;
  const KeyValue* least = annotation_of(pod, kLeastParallelism);
  const auto pods = least == nullptr ? std::nullopt : whole_of(least->value);
  if (is_one_job && pods && *pods > 0) workload.min_parallelism = *pods;
  take_flavors(file->queue, workload);
}

void QueueImport::add_flavors(const ClusterQueue& queue, ScenarioDraft& draft) {
  for_each_quota(queue, [&](const std::string& name, const ResourceQuota& quota) {
    if (has(draft.flavors, name)) return;
    const auto file = std::ranges::find_if(
        files_.flavors, [&](const ResourceFlavorFile& one) { return is_flavor(one, name); });
    if (file != files_.flavors.end()) return draft.flavors.push_back(file->flavor);
    report_.guessed("ResourceFlavors that are not here: any node", quota.resource.where);
    draft.flavors.emplace_back().name.value = name;
  });
}

// Kinds of pods of one object are admitted together, and fail together.
void QueueImport::name_parts(ScenarioDraft& draft) {
  const auto is_same_object = [](const DraftWorkload& a, const DraftWorkload& b) {
    return std::tie(a.queue, a.space, a.object_kind, a.object_name) ==
           std::tie(b.queue, b.space, b.object_kind, b.object_name);
  };
  for (DraftWorkload& part : draft.workloads) {
    if (part.kind != DraftWorkload::Kind::Job || part.object_kind == "Pod" || part.cron) continue;
    const bool has_others = std::ranges::any_of(draft.workloads, [&](const DraftWorkload& other) {
      return &other != &part && is_same_object(part, other);
    });
    if (has_others) part.part_of = part.object_name;
  }
}

void QueueImport::add_to(ScenarioDraft& draft) {
  name_parts(draft);
  const auto is_used = [&](const ClusterQueue& queue) {
    return std::ranges::any_of(draft.workloads, [&](const DraftWorkload& workload) {
      return workload.queue == queue.name.value;
    });
  };
  const bool any_kai = std::ranges::any_of(files_.kai_queues, [&](const KaiQueue& queue) {
    return std::ranges::find(draft.workloads, queue.name.value, &DraftWorkload::queue) !=
           draft.workloads.end();
  });
  if (any_kai) draft.kai_queues = files_.kai_queues;
  for (KaiQueue& queue : draft.kai_queues) {
    if (!has(draft.kai_queues, queue.parent)) queue.parent.clear();  // it is in no file
  }
  for (const ClusterQueueFile& file : files_.cluster_queues) {
    const ClusterQueue& queue = file.queue;
    const auto lends = [&](const ClusterQueueFile& other) {
      return !queue.cohort.empty() && other.queue.cohort == queue.cohort && is_used(other.queue);
    };
    const bool counts = is_used(queue) || std::ranges::any_of(files_.cluster_queues, lends);
    if (!counts || !file.is_sound || has(draft.cluster_queues, queue.name.value)) continue;
    draft.cluster_queues.push_back(queue);
    add_flavors(queue, draft);
  }
}

}  // namespace slicewise::scenarios
