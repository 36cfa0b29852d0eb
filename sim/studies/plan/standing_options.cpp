#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../../result/merge.hpp"
#include "../probe/probe.hpp"
#include "../probe/scaled_input.hpp"
#include "block_search.hpp"
#include "option_order.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

// Replications with other random numbers where it is chance which pods meet on a GPU: what one
// placement in five spoils stands in five replications one time in three.
constexpr int kTimesByChance = 4;

// Which of its workloads share a GPU or an instance of one is up to the scheduler.
bool meets_by_chance(const BlockSearch& search, const PoolChoice& choice) {
  const bool alone = choice.strategy == Strategy::Exclusive || choice.strategy == Strategy::Vgpu;
  const InstanceType* type = search.catalogue.find_instance(choice.instance_type);
  const int gpus = choice.nodes * (type == nullptr ? 1 : type->gpu_count);
  return !alone && choice.workloads.size() > 1 && (gpus > 1 || !choice.mig.empty());
}

// Whether a replication has so many requests beyond each quantile that limits the Service's
// latency that it tells the quantile.
bool is_told_by_one(const BlockSearch& search, const std::string& name) {
  const Workload* const workload = search.base.find_workload(name);
  if (workload == nullptr) return false;    // a pipeline
  if (!search.input.empty()) return false;  // of other traffic
  if (!workload->traffic || !search.base.duration || workload->autoscaling) return false;
  const double requests =
      workload->traffic->mean.per_second * to_seconds(*search.base.duration - search.base.warmup);
  return std::ranges::all_of(workload->objectives, [&](const scenarios::Objective& objective) {
    if (!std::holds_alternative<Duration>(objective.limit)) return true;
    const auto quantile = latency_quantile(objective.figure);
    return quantile && requests * (1 - *quantile) >= kRequestsBeyond;
  });
}

}  // namespace

// Of 332 pools that missed a latency by less than kClearFactor in their first replication two stood
// after 20: both had missed it by less than 1.04.
bool misses_enough(const BlockSearch& search, const OptionFigures& figures) {
  return fails_clearly(figures) ||
         std::ranges::any_of(figures.objectives, [&](const PlannedObjective& planned) {
           const ObjectiveResult& objective = planned.result;
           return !objective.pass && std::holds_alternative<Duration>(objective.limit) &&
                  in_its_unit(objective.value) >= kMissEnough * in_its_unit(objective.limit) &&
                  is_told_by_one(search, planned.workload);
         });
}

std::optional<OptionFigures> fails_again(const BlockSearch& search, const PlanProbe& probe,
                                         const OptionFigures& figures) {
  const bool by_chance = std::ranges::any_of(
      probe.pools, [&](const PoolChoice& pool) { return meets_by_chance(search, pool); });
  std::vector<int> times;
  if (figures.worst_ratio >= kCloseToLimits) times.push_back(figures.is_tight() ? 2 : 1);
  // Beside, not instead: the mean of many placements may hold where a few of them miss.
  if (by_chance) times.push_back(kTimesByChance);
  for (const int more : times) {
    PlanProbe again = probe;
    again.replications *= more;
    again.until_clear = true;
    again.draw = 1;
    again.glance = false;
    PlanAnswer answer = search.probes.ask_one(again);
    const bool stands = !answer.partial && answer.figures && answer.figures->stands();
    if (!stands) return std::move(answer.figures);
  }
  return std::nullopt;
}

bool stands_again(const BlockSearch& search, const PlanProbe& probe, const OptionFigures& figures) {
  // Of changed inputs only what comes out of the search is asked again: see pools_anew.hpp.
  const bool flips = !probe.input.empty() && probe.input != kSmActive;
  return flips || !fails_again(search, probe, figures);
}

namespace {

// Which random numbers: those of a search are 0, those of its second look (fails_again) 1.
constexpr int kDraw = 2;
// Of fewer runs simultaneous intervals are wider than most limits.
constexpr int kFewestRuns = 5;

// Intervals of so many runs that are so many times as wide hold together at 95 % (Bonferroni).
double widening(std::int64_t intervals, int runs) {
  const double each = 1 - 0.025 / static_cast<double>(intervals);
  return student_t(each, runs - 1) / student_t_975(runs - 1);
}

OptionFigures widened(OptionFigures figures, double times) {
  for (PlannedObjective& planned : figures.objectives) {
    ObjectiveResult& objective = planned.result;
    if (objective.ci95) {
      objective.ci95 = in_unit_of(objective.value, times * in_its_unit(*objective.ci95));
    }
    if (objective.lost && objective.lost->ci95) *objective.lost->ci95 *= times;
  }
  return figures;
}

}  // namespace

std::optional<Confirmation> confirmation(const BlockSearch& search, std::vector<PoolChoice> pools) {
  PlanProbe probe = search.about(left_after(search.space.survive, std::move(pools)));
  probe.until_clear = false;
  probe.draw = kDraw;
  Confirmation look;
  for (const int times : {1, 2, 4}) {
    probe.replications = times * std::max(kFewestRuns, search.replications);
    PlanAnswer answer = search.probes.ask_one(probe);
    if (!answer.figures || answer.figures->objectives.empty()) return std::nullopt;
    const auto own = static_cast<std::int64_t>(answer.figures->objectives.size());
    const std::int64_t intervals = std::max(own, search.probes.intervals());
    look.figures = widened(std::move(*answer.figures), widening(intervals, probe.replications));
    const bool holds =
        look.figures.stands() &&
        std::ranges::all_of(look.figures.objectives, is_kept, &PlannedObjective::result);
    look.found = {probe.replications, intervals, holds};
    if (holds || fails_clearly(look.figures)) break;
  }
  return look;
}

namespace {

std::string workloads_of(const Verdict& verdict, Verdict::Cause cause) {
  std::vector<std::string> names;
  for (const Verdict::Reason& each : verdict.reasons) {
    if (each.cause == cause && !contains(names, each.workload)) names.push_back(each.workload);
  }
  return few_names(names);
}

}  // namespace

Reason miss_of(const OptionFigures& figures) {
  using Cause = Verdict::Cause;
  if (figures.stands()) return {"meets its objectives by chance: other random numbers miss one"};
  const Verdict& verdict = figures.verdict;
  if (verdict.has(Cause::NothingRan)) return {"no pod ever runs"};
  for (const auto& [cause, form] :
       {std::pair{Cause::OutOfMemory, "pods of {} run out of GPU memory"},
        std::pair{Cause::PodsFailed, "pods of {} fail"},
        std::pair{Cause::CrashLoopBackOff, "pods of {} crash again and again"},
        std::pair{Cause::PodsPending, "pods of {} stay Pending"},
        std::pair{Cause::Overloaded, "leaves requests of {} unanswered"}}) {
    if (verdict.has(cause)) return reason(form, workloads_of(verdict, cause));
  }
  const PlannedObjective* worst = nullptr;
  for (const PlannedObjective& objective : figures.objectives) {
    if (standing_of(objective.result) == ObjectiveStanding::Holds) continue;
    if (worst == nullptr || objective.result.ratio() > worst->result.ratio()) worst = &objective;
  }
  if (worst != nullptr) {
    return reason(
        fmt::format("{} {{}} of {}", worst->result.pass ? "may miss" : "misses", worst->workload),
        worst->result.name);
  }
  return {figures.denied_by.empty() ? "" : denial_of(figures)};
}

std::vector<std::string> missed_by(const OptionFigures& figures) {
  std::vector<std::string> missed;
  for (const PlannedObjective& objective : figures.objectives) {
    const bool known = contains(missed, objective.workload);
    if (standing_of(objective.result) == ObjectiveStanding::Holds || known) continue;
    missed.push_back(objective.workload);
  }
  return missed;
}

double requests_of_a_simulation(const BlockSearch& search) {
  double a_second = 0;
  for (const auto& workload : search.base.workloads) {
    if (workload.traffic) a_second += workload.traffic->mean.per_second;
  }
  return a_second * to_seconds(search.base.duration.value_or(hours(1))) * search.replications;
}

std::string denial_of(const OptionFigures& figures) {
  return fmt::format("{} {} it", fmt::join(figures.denied_by, ", "),
                     figures.denied_by.size() > 1 ? "deny" : "denies");
}

}  // namespace slicewise::sim
