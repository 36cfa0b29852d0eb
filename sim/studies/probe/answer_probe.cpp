#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/result_record.hpp"

#include "../../result/merge.hpp"
#include "../plan/scaled_input.hpp"
#include "probe.hpp"

namespace slicewise::sim {
namespace {

void add_objectives(const VariantResult& result, OptionFigures& figures) {
  for (const WorkloadResult& workload : result.workloads) {
    for (const ObjectiveResult& objective : workload.objectives) {
      figures.objectives.push_back({workload.name, objective.name, objective.limit, objective.value,
                                    objective.ci95, objective.at_least, objective.pass});
      figures.worst_ratio = std::max(figures.worst_ratio, figures.objectives.back().ratio());
    }
    if (!workload.latency || workload.latency->count == 0) continue;
    figures.latency_p99 = std::max(figures.latency_p99.value_or(Duration{}), workload.latency->p99);
  }
}

// A finding is words already: its figures are those that have a digit, without the punctuation
// around them.
Reason reason_in(std::string_view message) {
  Reason found;
  while (!message.empty()) {
    const std::string_view word = message.substr(0, message.find(' '));
    const std::size_t first = std::min(word.find_first_not_of("$(\""), word.size());
    const std::size_t end = std::max(word.find_last_not_of(",;:.)\"") + 1, first);
    const std::string_view core = word.substr(first, end - first);
    const bool is_figure = core.find_first_of("0123456789") != std::string_view::npos;
    found.form += found.form.empty() ? "" : " ";
    found.form.append(word.substr(0, first))
        .append(is_figure ? "{}" : core)
        .append(word.substr(end));
    if (is_figure) found.figures.emplace_back(core);
    message.remove_prefix(std::min(word.size() + 1, message.size()));
  }
  return found;
}

void add_policies(const std::vector<PolicyResult>& policies, OptionFigures& figures) {
  for (const PolicyResult& policy : policies) {
    if (policy.verdict != PolicyResult::Verdict::Fail) continue;
    (policy.deny ? figures.denied_by : figures.warned_by).push_back(policy.name);
  }
}

}  // namespace

Expected<World> probe_world(const scenarios::Scenario& base, const PlanProbe& probe,
                            const models::Catalogue& catalogue, bool force) {
  const scenarios::Scenario scenario = scaled_input(base, probe.input, probe.factor);
  Expected<World> world = build_world(
      probe.pools.empty() ? scenario : planned_scenario(scenario, probe.pools, catalogue, force),
      catalogue);
  if (world) world->replications = probe.replications;
  return world;
}

std::string filled_form(
    std::string_view form,
    const std::function<std::string(std::size_t place, std::string_view before)>& figure) {
  constexpr std::string_view kPlace = "{}";
  std::string out;
  for (std::size_t place = 0;; ++place) {
    const std::size_t at = form.find(kPlace);
    out += form.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += figure(place, out);
    form.remove_prefix(at + kPlace.size());
  }
}

std::string Reason::text() const {
  return filled_form(form, [&](std::size_t place, std::string_view) {
    return place < figures.size() ? figures[place] : "";
  });
}

Reason joined(Reason first, const Reason& second) {
  first.form += second.form;
  first.figures.insert(first.figures.end(), second.figures.begin(), second.figures.end());
  return first;
}

std::optional<Refusal> refusal_of(const Expected<World>& world) {
  if (!world) {
    const auto error = std::ranges::find(world.error(), Severity::Error, &Diagnostic::severity);
    return Refusal{error->code, reason_in(error->message)};
  }
  const auto never = std::ranges::find(world->findings, Code::GpuOom, &Diagnostic::code);
  if (never == world->findings.end()) return std::nullopt;
  return Refusal{never->code, reason_in(never->message)};
}

PoolChoice unshared(const models::InstanceType& type, std::vector<std::string> workloads) {
  PoolChoice choice;
  choice.instance_type = type.name;
  choice.workloads = std::move(workloads);
  choice.strategy = type.gpu_fraction < 1 ? Strategy::Vgpu : Strategy::Exclusive;
  return choice;
}

std::vector<std::string> workloads_with_pods(const scenarios::Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& workload : scenario.workloads) {
    if (workload.count > 0) names.push_back(workload.name.value);
  }
  return names;
}

PlanAnswer answer_probe(const scenarios::Scenario& base, const PlanProbe& probe,
                        const models::Catalogue& catalogue, const RunOptions& run) {
  PlanAnswer answer;
  const Expected<World> world = probe_world(base, probe, catalogue);
  if (auto refusal = refusal_of(world)) {
    answer.code = refusal->code;
    answer.refused = std::move(refusal->reason);
    return answer;
  }
  RunOptions one;
  one.interrupted = run.interrupted;
  const auto result = simulate(*world, one);
  if (result && result->replications == probe.replications) {
    answer.figures = figures_of(*result);
  }
  return answer;
}

OptionFigures figures_of(const VariantResult& result) {
  OptionFigures figures;
  figures.replications = result.replications;
  figures.monthly = result.cost.monthly;
  figures.total = result.cost.ledger.total;
  figures.per_1k_in_slo = result.cost.per_1k_requests_in_slo;
  figures.per_job = result.cost.per_job;
  add_objectives(result, figures);
  figures.gpu_busy = gpu_busy_ratio(result);
  figures.failed = result.pods.failed;
  figures.oom_kills = result.pods.oom_kills;
  figures.running_max = result.pods.running_max;
  figures.pending_max = result.pods.pending_max;
  figures.verdict = result.verdict;
  add_policies(result.policies, figures);
  return figures;
}

double PlannedObjective::ratio() const {
  // 99.95 % where 99.9 % must be is half of what may go wrong.
  const auto* share = std::get_if<scenarios::Share>(&limit);
  const bool of_losses = at_least && share != nullptr && share->of_one < 1;
  const double of = of_losses  ? 1 - in_its_unit(value)
                    : at_least ? in_its_unit(limit)
                               : in_its_unit(value);
  const double to = of_losses  ? 1 - in_its_unit(limit)
                    : at_least ? in_its_unit(value)
                               : in_its_unit(limit);
  constexpr double kNothingDone = 1'000;
  const double used = to > 0 ? std::min(kNothingDone, of / to) : kNothingDone;
  // A quantile within its limit fails where more requests were lost than it leaves out.
  return pass || used > 1 ? used : kNothingDone;
}

}  // namespace slicewise::sim
