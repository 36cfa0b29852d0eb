#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/findings.hpp"
#include "manifest_reader.hpp"

// Queues of KAI scheduler: each has a quota, what it may have beyond it by its weight, and a limit.
// Source: NVIDIA/KAI-Scheduler pkg/apis/scheduling/v2/queue_types.go, queue_webhook.go, and
// docs/queues/README.md.
namespace slicewise::scenarios::manifests {
namespace {

// -1 is no limit.
void judge_limit(Context& context, const Node& object, const char* resource) {
  const Node* amounts = node_below(&object, {"spec", "resources", resource});
  const Located<std::string> limit = located_below(amounts, {"limit"});
  const auto most = quantity_in_thousandths(limit.value);
  const auto quota = quantity_in_thousandths(text_below(amounts, {"quota"}));
  if (!most || !quota || *most < 0 || *quota <= *most) return;
  report(context, Code::SettingConflict, limit.where,
         fmt::format("limit of {} is below its quota: the queue never has what it is guaranteed",
                     resource),
         "raise the limit, or write -1 for none");
}

// As the API has it what is left out is 0, and -1 no limit.
double gpus_of(const Node& object, const char* key) {
  const std::string amount = text_below(&object, {"spec", "resources", "gpu", key});
  if (amount.starts_with('-')) return -1;
  return static_cast<double>(quantity_in_thousandths(amount).value_or(0)) / 1'000;
}

void tell_of_queue(Context& context, const KeyValue& label, std::string what, std::string help) {
  Diagnostic told =
      make_diagnostic(Code::QueueUnknown, label.where, std::move(what), std::move(help));
  told.severity = Severity::Warning;
  report(context, std::move(told));
}

}  // namespace

bool read_kai_queue(Context& context, const Node& object, std::string_view kind) {
  if (kind != "Queue" || !text_below(&object, {"apiVersion"}).starts_with("scheduling.run.ai/")) {
    return false;
  }
  context.kai_queues.emplace_back(text_below(&object, {"metadata", "name"}),
                                  text_below(&object, {"spec", "parentQueue"}));
  if (!is_map(node_below(&object, {"spec", "resources"}))) {
    report(context, Code::FieldMissing, place_below(object, {"spec"}),
           "\"resources\" is missing: KAI refuses the queue",
           "resources: {gpu: {quota: 4, overQuotaWeight: 1, limit: -1}}");
  }
  for (const char* resource : {"gpu", "cpu", "memory"}) judge_limit(context, object, resource);
  KaiQueue queue;
  queue.name = located_below(&object, {"metadata", "name"});
  queue.parent = text_below(&object, {"spec", "parentQueue"});
  queue.quota = gpus_of(object, "quota");
  queue.limit = gpus_of(object, "limit");
  queue.over_quota_weight = gpus_of(object, "overQuotaWeight");
  const bool is_limited = queue.limit >= 0 && (queue.quota < 0 || queue.quota > queue.limit);
  if (is_limited) queue.quota = queue.limit;  // which is told
  if (!queue.name.value.empty()) context.files.kai_queues.push_back(std::move(queue));
  for (const char* key : {"priority", "preemptMinRuntime", "reclaimMinRuntime"}) {
    if (node_below(&object, {"spec", key}) == nullptr) continue;
    context.files.not_simulated.push_back(
        {fmt::format("{} of KAI's queues", key), place_below(object, {"spec", key})});
  }
  return true;
}

// Only queues without children hold pods. Those of a cluster may be in other files, if none is
// here.
void judge_kai_queues(Context& context) {
  if (context.kai_queues.empty()) return;
  std::vector<std::string> leaves;
  const auto is_parent = [&](const std::string& name) {
    return std::ranges::any_of(context.kai_queues,
                               [&](const auto& queue) { return queue.second == name; });
  };
  for (const auto& queue : context.kai_queues) {
    if (!is_parent(queue.first)) leaves.push_back(queue.first);
  }
  for (const PodFile& pod : context.files.pods) {
    const auto label = std::ranges::find(pod.labels, kKaiQueueLabel, &KeyValue::key);
    if (label == pod.labels.end() || !is_placed_by_kai(pod)) continue;
    if (std::ranges::find(leaves, label->value) != leaves.end()) continue;
    if (is_parent(label->value)) {
      tell_of_queue(context, *label,
                    fmt::format("queue {} has queues below it: KAI places no pods of it",
                                label->value.substr(0, 60)),
                    "name one of those");
      continue;
    }
    const auto near = nearest_name(label->value, leaves);
    tell_of_queue(context, *label,
                  fmt::format("no Queue of KAI here is called {}: its pods stay Pending",
                              label->value.substr(0, 60)),
                  near ? fmt::format("did you mean {}?", *near) : "");
  }
}

}  // namespace slicewise::scenarios::manifests
