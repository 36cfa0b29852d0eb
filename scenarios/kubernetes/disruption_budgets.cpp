#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// How many pods PodDisruptionBudgets let go. Source: k8s.io/kubernetes pkg/controller/disruption,
// getExpectedPodCount, and pkg/registry/core/pod/storage, eviction.go.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::int64_t kMostPods = 1'000'000'000;
constexpr std::int64_t kMostSimulated = 1'000'000;

bool selects(const DisruptionBudget& budget, const PodFile& pod) {
  if (budget.space != namespace_of(pod.space) || !pod.owner.empty() || pod.has_ended ||
      pod.kind == "DaemonSet") {  // whose pods no drain evicts
    return false;
  }
  return std::ranges::all_of(budget.pods, [&](const NodeRequirement& wanted) {
    const auto label = std::ranges::find(pod.labels, wanted.key, &KeyValue::key);
    return allows(wanted, label == pod.labels.end()
                              ? std::nullopt
                              : std::optional<std::string_view>(label->value));
  });
}

struct Selected {
  std::vector<PodFile*> sets;
  std::int64_t pods = 0;            // as many as there ever are, all of them ready
  std::int64_t replicas = 0;        // of these, those of what says how many it wants
  const PodFile* of_job = nullptr;  // the first that does not say it: Jobs have no scale
};

// Of autoscalers: as many as there ever are, or as few as a schedule keeps outside of its windows.
enum class Scale : std::uint8_t { Most, Fewest };

Selected selected_by(const DisruptionBudget& budget, std::vector<PodFile>& pods, Scale scale) {
  Selected found;
  for (PodFile& pod : pods) {
    if (!selects(budget, pod)) continue;
    const std::int64_t most = std::max(pod.copies, pod.scaling ? pod.scaling->most : 0);
    const bool is_least = scale == Scale::Fewest && pod.scaling && !pod.scaling->windows.empty();
    const std::int64_t copies = is_least ? pod.scaling->fewest : most;
    found.sets.push_back(&pod);
    found.pods = std::min(found.pods + copies, kMostPods);
    if (pod.kind != "Pod") found.replicas = std::min(found.replicas + copies, kMostPods);
    const bool is_job = pod.kind == "Job" || pod.kind == "CronJob" || pod.kind == "JobSet";
    if (is_job && found.of_job == nullptr) found.of_job = &pod;
  }
  return found;
}

bool is_part(const DisruptionBudget& budget) { return budget.value.value.ends_with('%'); }

// The controller cannot tell how many of them there should be, and lets none go.
bool is_unknown(const DisruptionBudget& budget, const Selected& selected) {
  return selected.of_job != nullptr && (!budget.keeps || is_part(budget));
}

std::optional<std::int64_t> number_of(const DisruptionBudget& budget) {
  const std::string_view text = budget.value.value;
  return whole_of(text.substr(0, text.size() - (is_part(budget) ? 1 : 0)));
}

// Of all that are ready, at once.
std::int64_t evictable(const DisruptionBudget& budget, const Selected& selected) {
  const auto number = number_of(budget);
  if (!number || is_unknown(budget, selected)) return 0;
  constexpr std::int64_t kPercent = 100;
  const std::int64_t given = std::clamp<std::int64_t>(*number, 0, kMostPods);
  const std::int64_t pods =
      is_part(budget) ? (given * selected.replicas + kPercent - 1) / kPercent : given;
  return budget.keeps ? std::max<std::int64_t>(0, selected.pods - pods)
                      : selected.pods - std::max<std::int64_t>(0, selected.replicas - pods);
}

// Whoever writes maxUnavailable: 0 wants it so.
bool says_none(const DisruptionBudget& budget) {
  constexpr std::int64_t kAll = 100;
  return budget.keeps ? is_part(budget) && number_of(budget) == kAll : number_of(budget) == 0;
}

// As a scenario says it of the only pods that it selects; nullopt: it cannot.
std::optional<scenarios::DisruptionBudget> simulated(const DisruptionBudget& budget,
                                                     const Selected& selected) {
  const auto number = number_of(budget);
  const bool is_share = !budget.keeps || is_part(budget);
  const bool is_lone_pod = selected.sets.front()->kind == "Pod" && is_share;
  if (selected.sets.size() > 1 || is_unknown(budget, selected) || is_lone_pod || !number ||
      *number < 0 || *number > kMostSimulated) {
    return std::nullopt;
  }
  return scenarios::DisruptionBudget{budget.keeps, is_part(budget), *number, budget.value.where,
                                     budget.name};
}

void leave_budget(Context& context, const SourceLocation& where) {
  context.files.left_alone.push_back({"PodDisruptionBudgets of pods that are not here", where});
}

// Where pods of its namespace are here: of a file with the budget alone nobody knows.
void tell_of_nobody(Context& context, const DisruptionBudget& budget) {
  const bool any = std::ranges::any_of(context.files.pods, [&](const PodFile& pod) {
    return namespace_of(pod.space) == budget.space;
  });
  if (!any) return;
  report(context, Code::KindNotChecked, budget.value.where,
         fmt::format("the budget selects none of the pods of namespace {} that are here",
                     budget.space.substr(0, 60)),
         "spec.selector goes by labels of the pods");
}

void tell_of_none(Context& context, const DisruptionBudget& budget, const Selected& selected,
                  bool is_fewest) {
  const std::string who = selected.sets.front()->object.substr(0, 60);
  const auto warn = [&](std::string what, std::string help) {
    report(context, Code::BudgetAllowsNone, budget.value.where, std::move(what), std::move(help));
  };
  if (is_unknown(budget, selected)) {
    return warn(fmt::format("the budget can tell no share of pods that no Deployment has: it never "
                            "lets one of {} \"{}\" go",
                            selected.of_job->kind, selected.of_job->object.substr(0, 60)),
                "write minAvailable as a number of pods");
  }
  warn(fmt::format("{} is {} of {} of \"{}\": none of them may ever be evicted{}",
                   budget.keeps ? "minAvailable" : "maxUnavailable",
                   budget.value.value.substr(0, 20), counted(selected.pods, "pod"), who,
                   is_fewest ? " while its schedule keeps no more" : ""),
       selected.of_job != nullptr ? "write a smaller minAvailable, or let more pods run"
                                  : "write maxUnavailable: 1, or let more pods run");
}

}  // namespace

void read_disruption_budget(Context& context, const Node& object) {
  DisruptionBudget budget;
  budget.space = namespace_of(text_below(&object, {"metadata", "namespace"}));
  const Node* selector = node_below(&object, {"spec", "selector"});
  if (selector == nullptr) return leave_budget(context, object.where);  // it selects nothing
  budget.pods = requirements_of(selector->find("matchExpressions"));
  for (const KeyValue& label : pairs_of(selector->find("matchLabels"))) {
    budget.pods.push_back({label.key, "In", {label.value}, label.where});
  }
  budget.value = located_below(&object, {"spec", "minAvailable"});
  budget.keeps = !budget.value.value.empty();
  if (!budget.keeps) budget.value = located_below(&object, {"spec", "maxUnavailable"});
  if (budget.value.value.empty()) return;
  // One that stands in several files is the last one's.
  budget.name = std::string(text_below(&object, {"metadata", "name"}));
  std::erase_if(context.budgets, [&](const DisruptionBudget& other) {
    return !budget.name.empty() && other.name == budget.name && other.space == budget.space;
  });
  context.budgets.push_back(std::move(budget));
}

void apply_disruption_budgets(Context& context) {
  std::vector<const PodFile*> held;  // by one budget or another
  for (const DisruptionBudget& budget : context.budgets) {
    const Selected selected = selected_by(budget, context.files.pods, Scale::Most);
    if (selected.sets.empty()) {
      leave_budget(context, budget.value.where);
      tell_of_nobody(context, budget);
    }
    if (selected.pods == 0) continue;
    const bool allows_none = evictable(budget, selected) == 0;
    if (!says_none(budget)) {
      const Selected fewest = selected_by(budget, context.files.pods, Scale::Fewest);
      if (allows_none) {
        tell_of_none(context, budget, selected, false);
      } else if (fewest.pods > 0 && evictable(budget, fewest) == 0) {
        tell_of_none(context, budget, fewest, true);
      }
    }
    const auto of_one = simulated(budget, selected);
    if (!of_one && !allows_none) {
      context.files.not_simulated.push_back(
          {"PodDisruptionBudgets of several workloads, or of shares of lone pods: a drain takes "
           "all pods of a node at once",
           budget.value.where});
    }
    for (PodFile* pod : selected.sets) {
      const bool has_two = std::ranges::find(held, pod) != held.end();
      pod->is_never_evicted |= allows_none || has_two;
      pod->budget = has_two ? std::nullopt : of_one;
      held.push_back(pod);
      if (!has_two) continue;
      report(context, Code::BudgetAllowsNone, budget.value.where,
             fmt::format("another PodDisruptionBudget selects the pods of \"{}\", too: the API "
                         "then evicts none of them",
                         pod->object.substr(0, 60)),
             "let one of them select these pods");
    }
  }
}

}  // namespace slicewise::scenarios::manifests
