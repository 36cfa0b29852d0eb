#include "judge_probe.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

namespace slicewise::sim {
namespace {

double number(const scenarios::FigureValue& value) {
  return std::visit(models::Overloaded{
                        [](Duration d) { return static_cast<double>(d.ns); },
                        [](scenarios::Share s) { return s.of_one; },
                        [](Rate r) { return r.per_second; },
                        [](double x) { return x; },
                    },
                    value);
}

bool within_limit(const ObjectiveResult& o) {
  return o.at_least ? o.value >= o.limit : o.value <= o.limit;
}

LoadVerdict verdict_on(const ObjectiveResult& pooled,
                       const std::vector<const ObjectiveResult*>& own) {
  std::vector<double> values;
  for (const ObjectiveResult* o : own) {
    if (!is_missed_without_figure(*o)) values.push_back(number(o->value));
  }
  if (values.empty()) return LoadVerdict::Fails;
  if (values.size() < own.size()) return LoadVerdict::Undecided;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  const double half_width = *half_width_95(values);
  // How much room there is below the limit, or above a least figure.
  const double room = pooled.at_least ? mean - number(pooled.limit) : number(pooled.limit) - mean;
  if (room < -half_width) return LoadVerdict::Fails;
  return room >= half_width && pooled.pass ? LoadVerdict::Passes : LoadVerdict::Undecided;
}

LoadVerdict verdict_of(const std::vector<ProbedObjective>& objectives) {
  const auto is = [](LoadVerdict verdict) {
    return [verdict](const ProbedObjective& o) { return o.verdict == verdict; };
  };
  if (std::ranges::any_of(objectives, is(LoadVerdict::Fails))) return LoadVerdict::Fails;
  return std::ranges::all_of(objectives, is(LoadVerdict::Passes)) ? LoadVerdict::Passes
                                                                  : LoadVerdict::Undecided;
}

}  // namespace

bool is_missed_without_figure(const ObjectiveResult& o) {
  const bool nothing = std::visit([](auto value) { return value == decltype(value){}; }, o.value);
  return !o.pass && (nothing || within_limit(o));
}

double objective_excess(const ObjectiveResult& o) {
  if (is_missed_without_figure(o)) return std::numeric_limits<double>::infinity();
  const double value = number(o.value);
  const double limit = number(o.limit);
  if (!o.at_least) return value / limit;
  return std::holds_alternative<scenarios::Share>(o.limit) ? (1 - value) / (1 - limit)
                                                           : limit / value;
}

LoadProbe judge_probe(double factor, const VariantResult& pooled,
                      std::span<const VariantResult> singles) {
  LoadProbe probe;
  probe.factor = factor;
  probe.replications = pooled.replications;
  for (std::size_t w = 0; w < pooled.workloads.size(); ++w) {
    const WorkloadResult& workload = pooled.workloads[w];
    for (std::size_t o = 0; o < workload.objectives.size(); ++o) {
      std::vector<const ObjectiveResult*> own;
      for (const VariantResult& single : singles) {
        own.push_back(&single.workloads[w].objectives[o]);
      }
      const ObjectiveResult& result = workload.objectives[o];
      probe.objectives.push_back({workload.name, result, verdict_on(result, own)});
    }
  }
  for (const Verdict::Reason& reason : pooled.verdict.reasons) {
    if (reason.cause <= Verdict::Cause::PodsPending) probe.lost_pods.push_back(reason);
  }
  probe.verdict = probe.lost_pods.empty() ? verdict_of(probe.objectives) : LoadVerdict::Fails;
  return probe;
}

std::optional<std::size_t> binding_objective(const LoadProbe& probe) {
  std::optional<std::size_t> binding;
  for (std::size_t o = 0; o < probe.objectives.size(); ++o) {
    if (probe.objectives[o].verdict != LoadVerdict::Fails) continue;
    if (!binding || objective_excess(probe.objectives[o].result) >
                        objective_excess(probe.objectives[*binding].result)) {
      binding = o;
    }
  }
  return binding;
}

}  // namespace slicewise::sim
