#include "slicewise/sim/judge.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/result_record.hpp"

namespace slicewise::sim {
namespace {

using Cause = Verdict::Cause;

constexpr std::array<std::string_view, kCauses> kCauseNames = {
    "nothingRan", "outOfMemory",     "podsFailed",         "crashLoopBackOff", "podsPending",
    "overloaded", "objectiveMissed", "objectiveUndecided", "policyDenies"};

bool has_objective(const WorkloadResult& workload, std::string_view name) {
  return contains(workload.objectives, name, &ObjectiveResult::name);
}

// "16 of 20 pods of "cifar10" failed".
std::string pods_text(std::int64_t count, const WorkloadResult& workload, std::string_view did) {
  return fmt::format("{} of {} pods of \"{}\" {}", count, workload.left_behind.pods, workload.name,
                     did);
}

void judge_pods(const VariantResult& variant, bool allow_pending,
                std::vector<Verdict::Reason>& reasons) {
  if (variant.pods.submitted > 0 && variant.pods.running_max == 0) {
    reasons.push_back({Cause::NothingRan, "", "no pod ran", "no pod ever ran"});
  }
  for (const WorkloadResult& w : variant.workloads) {
    const std::int64_t kills = w.left_behind.oom_kills;
    // People see the error and go on: an objective says how often they may.
    if (kills == 0 || has_objective(w, "oomPerUserMonth")) continue;
    reasons.push_back(
        {Cause::OutOfMemory, w.name, counted(kills, "OOM kill"),
         fmt::format("{} of \"{}\" ran out of GPU memory", counted(kills, "container"), w.name)});
  }
  for (const WorkloadResult& w : variant.workloads) {
    const std::int64_t failed = w.left_behind.failed;
    if (failed == 0) continue;
    reasons.push_back({Cause::PodsFailed, w.name, fmt::format("{} failed", failed),
                       pods_text(failed, w, "failed")});
  }
  // What a simulated year does not end, nothing does.
  for (const UnfinishedJobs& left :
       variant.is_cut_off ? unfinished_jobs(variant) : std::vector<UnfinishedJobs>()) {
    const std::string jobs =
        fmt::format("{} of {}", short_text(left.jobs), counted(left.of, "job"));
    reasons.push_back(
        {Cause::PodsFailed, left.workload, jobs + " never ended",
         fmt::format("{} of \"{}\" had not ended after a year", jobs, left.workload)});
  }
  for (const WorkloadResult& w : variant.workloads) {
    const std::int64_t looping = w.left_behind.crash_looping;
    if (looping == 0) continue;
    reasons.push_back({Cause::CrashLoopBackOff, w.name,
                       fmt::format("{} in CrashLoopBackOff", looping),
                       pods_text(looping, w, "ended in CrashLoopBackOff")});
  }
  for (const WorkloadResult& w : variant.workloads) {
    const std::int64_t pending = w.left_behind.pending;
    if (pending == 0 || allow_pending || has_objective(w, "sessionStartP95")) continue;
    reasons.push_back({Cause::PodsPending, w.name, fmt::format("{} Pending", pending),
                       pods_text(pending, w, "stayed Pending")});
  }
  // They wait as pods without a node do, and whoever lets those be lets them.
  for (const WorkloadResult& w : variant.workloads) {
    const std::int64_t jobs = w.left_behind.never_admitted;
    if (jobs == 0 || allow_pending) continue;
    reasons.push_back({Cause::PodsPending, w.name, fmt::format("{} never admitted", jobs),
                       fmt::format("{} of {} of \"{}\" {} never admitted by {} queue", jobs,
                                   counted(w.left_behind.jobs, "job"), w.name,
                                   jobs == 1 ? "is" : "are", jobs == 1 ? "its" : "their")});
  }
}

// The figure, with as many digits as it takes to tell it from its limit.
std::string beside_limit(const ObjectiveResult& objective) {
  constexpr int kMostDigits = 15;
  int digits = kUsualDigits;
  while (digits < kMostDigits && objective.value != objective.limit &&
         figure_text(objective.value, digits) == figure_text(objective.limit, digits)) {
    ++digits;
  }
  return figure_text(objective.value, digits);
}

// An objective says how many requests may wait or be lost; without one the Service is to answer
// all.
void judge_load(const VariantResult& variant, std::vector<Verdict::Reason>& reasons) {
  constexpr double kByChance = 0.01;
  for (const WorkloadResult& w : variant.workloads) {
    if (!w.requests || !w.objectives.empty() || w.requests->left_over <= kByChance) continue;
    const RequestCounts& requests = *w.requests;
    const bool refuses = requests.refused > requests.dropped + requests.timed_out;
    reasons.push_back({Cause::Overloaded, w.name,
                       fmt::format("{} {}", w.name, refuses ? "refuses requests" : "overloaded"),
                       fmt::format("\"{}\" answers {} of {} requests/s that come", w.name,
                                   short_text(w.throughput_per_second),
                                   short_text(requests.arrived_per_second))});
  }
}

Verdict::Reason undecided(const std::string& workload, const ObjectiveResult& objective) {
  const auto percent = [](double share) { return figure_text(scenarios::Share{share}); };
  if (objective.lost && objective.lost->is_undecided()) {
    const LostShare& lost = *objective.lost;
    return {Cause::ObjectiveUndecided, workload,
            fmt::format("{} {} undecided", workload, objective.name),
            fmt::format("\"{}\" may miss {}: {}, give or take {}, of its requests are lost, which "
                        "leaves out {}",
                        workload, objective.name, percent(lost.share), percent(*lost.ci95),
                        percent(lost.most))};
  }
  return {Cause::ObjectiveUndecided, workload,
          fmt::format("{} {} undecided", workload, objective.name),
          fmt::format("\"{}\" may miss {}: {}, give or take {}, against a limit of {}", workload,
                      objective.name, beside_limit(objective), figure_text(*objective.ci95),
                      figure_text(objective.limit))};
}

void judge_limits(const VariantResult& variant, ObjectiveStanding standing,
                  std::vector<Verdict::Reason>& reasons) {
  for (const WorkloadResult& w : variant.workloads) {
    for (const ObjectiveResult& objective : w.objectives) {
      if (standing_of(objective) != standing) continue;
      if (standing == ObjectiveStanding::Undecided) {
        reasons.push_back(undecided(w.name, objective));
      } else {
        reasons.push_back({Cause::ObjectiveMissed, w.name,
                           fmt::format("{} {} missed", w.name, objective.name),
                           missed_text(w.name, objective)});
      }
    }
  }
}

void judge_denials(const VariantResult& variant, std::vector<Verdict::Reason>& reasons) {
  for (const PolicyResult& policy : variant.policies) {
    if (!policy.denies()) continue;
    reasons.push_back({Cause::PolicyDenies, "", "policy " + policy.name,
                       fmt::format("policy \"{}\" denies it: {} {}", policy.name, policy.assertion,
                                   policy.is_not_judged() ? "is not judged" : "does not hold")});
  }
}

}  // namespace

bool clears_limit(const scenarios::FigureValue& value,
                  const std::optional<scenarios::FigureValue>& half_width,
                  const scenarios::FigureValue& limit, bool at_least) {
  if (!half_width) return at_least ? value >= limit : value <= limit;
  const double half = in_its_unit(*half_width);
  return at_least ? in_its_unit(value) - half >= in_its_unit(limit)
                  : in_its_unit(value) + half <= in_its_unit(limit);
}

bool is_beyond_limit(const scenarios::FigureValue& value,
                     const std::optional<scenarios::FigureValue>& half_width,
                     const scenarios::FigureValue& limit, bool at_least) {
  const double half = half_width ? in_its_unit(*half_width) : 0;
  return at_least ? in_its_unit(value) + half < in_its_unit(limit)
                  : in_its_unit(value) - half > in_its_unit(limit);
}

bool has_objectives(const VariantResult& result) {
  return std::ranges::any_of(result.workloads,
                             [](const WorkloadResult& w) { return !w.objectives.empty(); });
}

ObjectiveStanding standing_of(const ObjectiveResult& objective) {
  if (!objective.pass) return ObjectiveStanding::Missed;
  if (objective.lost && objective.lost->is_undecided()) return ObjectiveStanding::Undecided;
  return clears_limit(objective.value, objective.ci95, objective.limit, objective.at_least)
             ? ObjectiveStanding::Holds
             : ObjectiveStanding::Undecided;
}

bool is_kept(const ObjectiveResult& objective) {
  return objective.is_unasked || standing_of(objective) == ObjectiveStanding::Holds;
}

bool is_within_limit(const ObjectiveResult& objective) {
  return clears_limit(objective.value, std::nullopt, objective.limit, objective.at_least);
}

bool is_missed_without_figure(const ObjectiveResult& objective) {
  return !objective.pass && is_within_limit(objective);
}

bool is_clearly_missed(const ObjectiveResult& objective) {
  if (objective.pass) return false;
  if (objective.lost && objective.lost->is_clear()) return true;
  if (is_within_limit(objective)) return !objective.lost;
  return is_beyond_limit(objective.value, objective.ci95, objective.limit, objective.at_least);
}

double share_of_limit(const scenarios::FigureValue& value, const scenarios::FigureValue& limit,
                      bool at_least) {
  // 99.95 % where 99.9 % must be is half of what may go wrong.
  const auto* share = std::get_if<scenarios::Share>(&limit);
  const bool of_losses = at_least && share != nullptr && share->of_one < 1;
  double used = in_its_unit(value);
  double all = in_its_unit(limit);
  if (of_losses) {
    used = 1 - used;
    all = 1 - all;
  } else if (at_least) {
    std::swap(used, all);
  }
  if (all > 0) return used / all;
  return used > 0 ? kHopelessShare : 0;
}

double ObjectiveResult::ratio() const {
  if (is_unasked) return 0;
  double used = share_of_limit(value, limit, at_least);
  if (lost && lost->most > 0) used = std::max(used, lost->share / lost->most);
  return pass || used > 1 ? std::min(used, kHopelessShare) : kHopelessShare;
}

bool Verdict::has(Cause cause) const { return contains(reasons, cause, &Verdict::Reason::cause); }

bool Verdict::loses_pods() const {
  return std::ranges::any_of(
      reasons, [](const Verdict::Reason& r) { return r.cause <= Cause::PodsPending; });
}

bool Verdict::meets_objectives() const {
  return !has(Cause::ObjectiveMissed) && !has(Cause::ObjectiveUndecided);
}

bool Verdict::fails() const {
  return std::ranges::any_of(
      reasons, [](const Verdict::Reason& r) { return r.cause != Cause::ObjectiveUndecided; });
}

std::string_view cause_name(Cause cause) { return kCauseNames[static_cast<std::size_t>(cause)]; }

std::string causes_text(std::span<const Verdict> verdicts) {
  // By cause; "" for one that another's words cover.
  constexpr std::array<std::string_view, kCauses> kWords = {"run no pod",
                                                            "run out of GPU memory",
                                                            "lose pods",
                                                            "leave pods in CrashLoopBackOff",
                                                            "leave pods Pending",
                                                            "leave requests unanswered",
                                                            "miss an objective",
                                                            "may miss an objective",
                                                            "are denied by a policy"};
  std::string text;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const auto cause = static_cast<Cause>(c);
    if (std::ranges::none_of(verdicts, [&](const Verdict& v) { return v.has(cause); })) continue;
    if (!text.empty()) text += ", ";
    text += kWords[c];
  }
  const std::size_t last = text.rfind(", ");
  if (last != std::string::npos) text.replace(last, 2, " or ");
  return text;
}

Verdict judge(const VariantResult& variant, bool allow_pending) {
  Verdict verdict;
  judge_pods(variant, allow_pending, verdict.reasons);
  judge_load(variant, verdict.reasons);
  judge_limits(variant, ObjectiveStanding::Missed, verdict.reasons);
  judge_limits(variant, ObjectiveStanding::Undecided, verdict.reasons);
  judge_denials(variant, verdict.reasons);
  return verdict;
}

bool all_jobs_end(const WorkloadResult& workload) {
  return workload.has_jobs() &&
         workload.completed >= static_cast<double>(workload.left_behind.jobs);
}

std::vector<UnfinishedJobs> unfinished_jobs(const VariantResult& variant) {
  constexpr double kRounding = 1e-9;
  std::vector<UnfinishedJobs> found;
  for (const WorkloadResult& w : variant.workloads) {
    if (!w.has_jobs() || w.left_behind.jobs == 0) continue;
    const auto jobs = static_cast<double>(w.left_behind.jobs);
    const double job_of_pod = jobs / static_cast<double>(w.left_behind.pods);
    const double never = static_cast<double>(w.left_behind.pending) * job_of_pod +
                         static_cast<double>(w.left_behind.never_admitted);
    const double left = jobs - w.completed - static_cast<double>(w.left_behind.failed) - never;
    if (left > kRounding) found.push_back({w.name, left, w.left_behind.jobs});
  }
  return found;
}

bool gets_more_jobs_done(const std::vector<UnfinishedJobs>& a,
                         const std::vector<UnfinishedJobs>& b) {
  return a.size() < b.size() && std::ranges::all_of(a, [&](const UnfinishedJobs& left) {
           return contains(b, left.workload, &UnfinishedJobs::workload);
         });
}

std::string_view why_turned_away(TurnedAway reason) {
  constexpr std::string_view kWhy[] = {
      "they need more GPU memory than a job may have",
      "they need several GPUs, and MIG instances do not work together",
      "they name a MIG profile that the layout does not have, nor one with as much compute"};
  return kWhy[static_cast<std::size_t>(reason)];
}

Verdict judge(const ReplayResult& replayed, bool allow_pending) {
  Verdict verdict;
  const std::int64_t submitted = replayed.jobs - replayed.without_run;
  const std::int64_t refused = replayed.sharing ? replayed.sharing->refused() : 0;
  const std::int64_t failed = replayed.sharing ? replayed.sharing->failed : 0;
  const std::int64_t lost = replayed.never_fit + refused;
  if (lost > 0 && lost == submitted) {
    verdict.reasons.push_back({Cause::NothingRan, "", "no job ran", "no job ever ran"});
  }
  if (failed > 0) {
    verdict.reasons.push_back({Cause::PodsFailed, "", fmt::format("{} failed", failed),
                               fmt::format("{} of {} jobs failed: each time that they were tried, "
                                           "their GPU had no memory left for them",
                                           failed, submitted)});
  }
  if (allow_pending) return verdict;
  if (refused > 0) {
    // What several reasons keep off needs more than any share is, in one way or the other.
    const auto& refusals = replayed.sharing->refusals;
    const std::string_view why = refusals.size() == 1 ? why_turned_away(refusals.front().reason)
                                                      : "no share of a GPU is enough for them";
    verdict.reasons.push_back(
        {Cause::PodsPending, "", fmt::format("{} fit nowhere", refused),
         fmt::format("{} of {} jobs never ran: {}", refused, submitted, why)});
  }
  if (replayed.never_fit > 0) {
    verdict.reasons.push_back(
        {Cause::PodsPending, "", fmt::format("{} Pending", replayed.never_fit),
         fmt::format("{} of {} jobs stayed Pending: they ask for more than the empty cluster has",
                     replayed.never_fit, submitted)});
  }
  return verdict;
}

std::string missed_text(const std::string& workload, const ObjectiveResult& objective) {
  return fmt::format("\"{}\" misses {}{}: {} against a limit of {}{}", workload, objective.name,
                     objective.of.empty() ? "" : " of " + objective.of,
                     objective.is_absent ? "nothing was finished" : beside_limit(objective),
                     figure_text(objective.limit),
                     is_within_limit(objective) && !objective.is_absent
                         ? ", but more requests were lost than that leaves out"
                         : "");
}

}  // namespace slicewise::sim
