#include "load_search.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/judge.hpp"

namespace slicewise::sim {
namespace {

LoadVerdict verdict_on(const ObjectiveResult& objective) {
  const bool is_tested = !objective.is_unasked && !objective.is_absent;
  if (is_tested && !objective.ci95) return LoadVerdict::Undecided;
  if (standing_of(objective) == ObjectiveStanding::Holds) return LoadVerdict::Passes;
  return is_clearly_missed(objective) ? LoadVerdict::Fails : LoadVerdict::Undecided;
}

// What no request tested says nothing beside what some did.
LoadVerdict verdict_of(const std::vector<ProbedObjective>& objectives) {
  const auto is = [](LoadVerdict verdict) {
    return [verdict](const ProbedObjective& o) { return o.verdict == verdict; };
  };
  const auto is_unasked = [](const ProbedObjective& o) { return o.result.is_unasked; };
  if (std::ranges::any_of(objectives, is(LoadVerdict::Fails))) return LoadVerdict::Fails;
  const bool none_tested = !objectives.empty() && std::ranges::all_of(objectives, is_unasked);
  return !none_tested && std::ranges::all_of(objectives, is(LoadVerdict::Passes))
             ? LoadVerdict::Passes
             : LoadVerdict::Undecided;
}

}  // namespace

LoadProbe judge_probe(double factor, const VariantResult& result) {
  LoadProbe probe;
  probe.factor = factor;
  probe.replications = result.replications;
  for (const WorkloadResult& workload : result.workloads) {
    for (const ObjectiveResult& objective : workload.objectives) {
      probe.objectives.push_back({workload.name, objective, verdict_on(objective)});
    }
  }
  for (const Verdict::Reason& reason : result.verdict.reasons) {
    if (reason.cause <= Verdict::Cause::Overloaded) probe.left_behind.push_back(reason);
  }
  probe.verdict = probe.left_behind.empty() ? verdict_of(probe.objectives) : LoadVerdict::Fails;
  return probe;
}

std::optional<double> excess_of(const LoadProbe& probe) {
  if (!probe.left_behind.empty() || probe.objectives.empty()) return std::nullopt;
  double most = 0;
  for (const ProbedObjective& o : probe.objectives) {
    most = std::max(most, o.result.ratio());
  }
  return most;
}

std::optional<std::size_t> binding_objective(const LoadProbe& probe) {
  std::optional<std::size_t> binding;
  for (std::size_t o = 0; o < probe.objectives.size(); ++o) {
    if (probe.objectives[o].verdict != LoadVerdict::Fails) continue;
    if (!binding ||
        probe.objectives[o].result.ratio() > probe.objectives[*binding].result.ratio()) {
      binding = o;
    }
  }
  return binding;
}

std::optional<double> LoadSearch::next() const {
  if (!lowest_) return 1;
  const double least = 1 / most_;
  if (!passed_ && *lowest_ > least) return std::max(least, *lowest_ / 2);
  if (!passed_) return std::nullopt;
  if (failed_) return between();
  if (*highest_ < most_) return std::min(most_, *highest_ * 2);
  return std::nullopt;
}

std::optional<double> LoadSearch::expected() const {
  if (!passed_excess_ || !failed_excess_) return std::nullopt;
  const bool has_logs = *passed_excess_ > 0 && *passed_excess_ < 1 && *failed_excess_ > 1 &&
                        *failed_excess_ < kHopelessShare;
  if (!has_logs) return std::nullopt;
  const double below = portable_log(*passed_excess_);
  const double above = portable_log(*failed_excess_);
  return *passed_ * portable_exp(portable_log(*failed_ / *passed_) * below / (below - above));
}

std::optional<double> LoadSearch::between() const {
  // So near to the expected limit, as shares of the precision, one load still passes and one fails.
  constexpr double kBeside = 0.4;
  if (*failed_ <= *passed_ * (1 + precision_)) return std::nullopt;
  if (!first_undecided_) {
    const double step = 1 + precision_ * kBeside;
    const std::optional<double> limit = expected();
    if (bisects_ || !limit) return std::sqrt(*passed_ * *failed_);
    const double beside = *limit / *passed_ > *failed_ / *limit ? *limit / step : *limit * step;
    return std::clamp(beside, *passed_ * step, *failed_ / step);
  }
  const double low_gap = below() / *passed_;
  const double high_gap = *failed_ / above();
  // What stays undecided has its width, too: the gaps beside it make up for it where they can.
  const bool is_wide = *failed_ > *passed_ * (1 + 2 * precision_);
  if (std::max(low_gap, high_gap) <= 1 + precision_ / (is_wide ? 8 : 2)) return std::nullopt;
  return low_gap > high_gap ? std::sqrt(*passed_ * below()) : std::sqrt(above() * *failed_);
}

void LoadSearch::record(double factor, LoadVerdict verdict, std::optional<double> excess) {
  const auto width = [&] { return passed_ && failed_ ? portable_log(*failed_ / *passed_) : 0; };
  const double before = width();
  lowest_ = std::min(lowest_.value_or(factor), factor);
  highest_ = std::max(highest_.value_or(factor), factor);
  switch (verdict) {
    case LoadVerdict::Passes:
      if (!passed_ || factor > *passed_) passed_excess_ = excess;
      passed_ = std::max(passed_.value_or(factor), factor);
      break;
    case LoadVerdict::Fails:
      if (!failed_ || factor < *failed_) failed_excess_ = excess;
      failed_ = std::min(failed_.value_or(factor), factor);
      break;
    case LoadVerdict::Undecided:
      first_undecided_ = std::min(first_undecided_.value_or(factor), factor);
      last_undecided_ = std::max(last_undecided_.value_or(factor), factor);
      break;
  }
  constexpr double kHalf = 0.5 + 1e-9;  // a bisection halves the width but for rounding
  bisects_ = before > 0 && width() > before * kHalf;
  if (!first_undecided_) return;
  // A clear verdict beyond what was undecided speaks for it.
  if (passed_) first_undecided_ = std::max(*first_undecided_, *passed_);
  if (failed_) last_undecided_ = std::min(*last_undecided_, *failed_);
  const bool none_left =
      (passed_ && *last_undecided_ <= *passed_) || (failed_ && *first_undecided_ >= *failed_);
  if (none_left) first_undecided_ = last_undecided_ = std::nullopt;
}

}  // namespace slicewise::sim
