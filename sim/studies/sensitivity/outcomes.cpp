#include "outcomes.hpp"

#include <algorithm>

#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/result_record.hpp"

namespace slicewise::sim {
namespace {

using OutcomeKind = OutcomePlace::Kind;

std::optional<double> dollars_of(const std::optional<Usd>& amount) {
  return amount ? std::optional(to_dollars(*amount)) : std::nullopt;
}

// The objective that is nearest to its limit, or furthest beyond.
std::optional<std::size_t> tightest_objective(const WorkloadResult& workload) {
  std::optional<std::size_t> tightest;
  for (std::size_t o = 0; o < workload.objectives.size(); ++o) {
    if (!tightest || workload.objectives[o].ratio() > workload.objectives[*tightest].ratio()) {
      tightest = o;
    }
  }
  return tightest;
}

std::optional<double> outcome_value(const OutcomePlace& place, const VariantResult& result) {
  if (place.kind == OutcomeKind::Monthly) return to_dollars(result.cost.monthly);
  if (place.kind == OutcomeKind::Per1kInSlo) return dollars_of(result.cost.per_1k_requests_in_slo);
  if (place.kind == OutcomeKind::PerJob) return dollars_of(result.cost.per_job);
  const WorkloadResult& workload = result.workloads[place.workload];
  if (place.kind == OutcomeKind::Objective) {
    const ObjectiveResult& objective = workload.objectives[place.objective];
    if (objective.is_unasked || is_missed_without_figure(objective)) return std::nullopt;
    return amount_of(objective.value).value;
  }
  const bool latency = place.kind == OutcomeKind::LatencyP99;
  const auto& times = latency ? workload.latency : workload.job_completion;
  if (!times || times->count == 0) return std::nullopt;
  return to_seconds(latency ? times->p99 : times->p95);
}

AmountUnit unit_of_outcome(const OutcomePlace& place, const VariantResult& result) {
  switch (place.kind) {
    case OutcomeKind::Monthly:
    case OutcomeKind::Per1kInSlo:
    case OutcomeKind::PerJob:
      return AmountUnit::Dollars;
    case OutcomeKind::Objective:
      return amount_of(result.workloads[place.workload].objectives[place.objective].limit).unit;
    case OutcomeKind::LatencyP99:
    case OutcomeKind::JobCompletionP95:
      break;
  }
  return AmountUnit::Seconds;
}

std::string outcome_name(const OutcomePlace& place, const VariantResult& result) {
  switch (place.kind) {
    case OutcomeKind::Monthly:
      return "monthlyUsd";
    case OutcomeKind::Per1kInSlo:
      return "per1kRequestsInSloUsd";
    case OutcomeKind::PerJob:
      return "perJobUsd";
    case OutcomeKind::Objective:
      return result.workloads[place.workload].objectives[place.objective].name;
    case OutcomeKind::LatencyP99:
      return "latencyP99";
    case OutcomeKind::JobCompletionP95:
      break;
  }
  return "jobCompletionP95";
}

bool is_of_workload(const OutcomePlace& place) {
  return place.kind != OutcomeKind::Monthly && place.kind != OutcomeKind::Per1kInSlo &&
         place.kind != OutcomeKind::PerJob;
}

}  // namespace

Amount amount_of(const scenarios::FigureValue& value) {
  constexpr AmountUnit kUnits[] = {AmountUnit::Seconds, AmountUnit::Ratio, AmountUnit::PerSecond,
                                   AmountUnit::Count};
  static_assert(std::size(kUnits) == std::variant_size_v<scenarios::FigureValue>);
  return {in_its_unit(value), kUnits[value.index()]};
}

std::vector<OutcomePlace> choose_outcomes(const VariantResult& base) {
  std::vector<OutcomePlace> places;
  const auto add = [&](const OutcomePlace& place) {
    if (outcome_value(place, base)) places.push_back(place);
  };
  add({OutcomeKind::Monthly});
  add({OutcomeKind::Per1kInSlo});
  add({OutcomeKind::PerJob});
  for (std::size_t w = 0; w < base.workloads.size(); ++w) {
    if (const auto tightest = tightest_objective(base.workloads[w])) {
      // Kept without a figure, too: that it fails is said.
      places.push_back({OutcomeKind::Objective, w, *tightest});
    } else if (base.workloads[w].latency) {
      add({OutcomeKind::LatencyP99, w});
    } else {
      add({OutcomeKind::JobCompletionP95, w});
    }
  }
  return places;
}

std::vector<double> single_values(const OutcomePlace& place, const Simulated& base) {
  std::vector<double> values;
  for (const VariantResult& single : base.singles) {
    if (const auto value = outcome_value(place, single)) values.push_back(*value);
  }
  return values;
}

OutcomeFigure outcome_figure(const OutcomePlace& place, const Simulated& base) {
  OutcomeFigure figure;
  if (is_of_workload(place)) figure.workload = base.pooled.workloads[place.workload].name;
  figure.name = outcome_name(place, base.pooled);
  figure.value = {outcome_value(place, base.pooled).value_or(0),
                  unit_of_outcome(place, base.pooled)};
  if (place.kind != OutcomeKind::Objective) {
    const std::vector<double> own = single_values(place, base);
    if (own.size() == base.singles.size()) figure.ci95 = half_width_95(own);
    return figure;
  }
  const ObjectiveResult& objective =
      base.pooled.workloads[place.workload].objectives[place.objective];
  if (objective.ci95) figure.ci95 = in_its_unit(*objective.ci95);
  figure.limit = amount_of(objective.limit).value;
  figure.at_least = objective.at_least;
  figure.standing = standing_of(objective);
  return figure;
}

std::optional<OutcomeChange> outcome_change(const OutcomePlace& place, const Simulated& base,
                                            const Simulated& changed) {
  const auto before = outcome_value(place, base.pooled);
  const auto after = outcome_value(place, changed.pooled);
  if (!before || !after || *before == 0) return std::nullopt;
  OutcomeChange change;
  change.value = *after;
  change.ratio = *after / *before - 1;
  std::vector<double> differences;
  for (std::size_t r = 0; r < base.singles.size(); ++r) {
    const auto own_before = outcome_value(place, base.singles[r]);
    const auto own_after = outcome_value(place, changed.singles[r]);
    if (!own_before || !own_after) return change;
    differences.push_back((*own_after - *own_before) / *before);
  }
  change.ci95 = half_width_95(differences);
  return change;
}

std::vector<ObjectiveFlip> objective_flips(const VariantResult& base,
                                           const VariantResult& changed) {
  std::vector<ObjectiveFlip> flips;
  for (std::size_t w = 0; w < base.workloads.size(); ++w) {
    for (std::size_t o = 0; o < base.workloads[w].objectives.size(); ++o) {
      const ObjectiveResult& after = changed.workloads[w].objectives[o];
      const ObjectiveStanding standing = standing_of(after);
      const bool held = standing_of(base.workloads[w].objectives[o]) == ObjectiveStanding::Holds;
      if ((standing == ObjectiveStanding::Holds) == held) continue;
      flips.push_back({base.workloads[w].name, after.name, amount_of(after.value),
                       amount_of(after.limit), standing});
    }
  }
  return flips;
}

double worst_excess(const VariantResult& result) {
  double worst = 0;
  for (const WorkloadResult& workload : result.workloads) {
    for (const ObjectiveResult& objective : workload.objectives) {
      worst = std::max(worst, objective.ratio());
    }
  }
  return worst;
}

}  // namespace slicewise::sim
