#include "result_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/html_report.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result_record.hpp"

#include "result_comparison.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;
using Price = std::optional<Usd> sim::Cost::*;

// "4 of 5 jobs"
std::string counted_jobs(const std::vector<sim::UnfinishedJobs>& left) {
  double jobs = 0;
  double of = 0;
  for (const sim::UnfinishedJobs& each : left) {
    jobs += each.jobs;
    of += static_cast<double>(each.of);
  }
  return fmt::format("{} of {} {}", sim::short_text(jobs), count_text(of),
                     of == 1 ? "job" : "jobs");
}

template <class Text>
std::string joined_reasons(const sim::Verdict& verdict, const char* between, Text text) {
  std::string out;
  for (const sim::Verdict::Reason& reason : verdict.reasons) {
    out += (out.empty() ? "" : between) + reason.*text;
  }
  return out;
}

const VariantResult* cheapest(const sim::Result& result, Price price) {
  const VariantResult* best = nullptr;
  for (const VariantResult& variant : result.variants) {
    if (!(variant.cost.*price) || !variant.verdict.stands()) continue;
    if (best == nullptr || *(variant.cost.*price) < *(best->cost.*price)) best = &variant;
  }
  return best;
}

bool is_close(double a, double b) {
  constexpr double kByChance = 0.02;  // of what ends when the run ends
  return std::abs(a - b) <= kByChance * a;
}

// ", 75% less than before ($2.45)"; what is cheaper than the best one does not stand.
std::string against_first(const VariantResult& best, const VariantResult& first, Price price) {
  const std::optional<Usd>& reference = first.cost.*price;
  if (&best == &first || !reference || reference->nano <= 0) return "";
  if (price == &sim::Cost::per_job && !finished_the_same(best, first)) {
    const double done = jobs_done(first);
    return fmt::format("; {} did other work, {} {} at {} each", first.name, count_text(done),
                       done == 1 ? "job" : "jobs", money_text(*reference));
  }
  const double saved =
      1 - static_cast<double>((best.cost.*price)->nano) / static_cast<double>(reference->nano);
  if (saved < 0) {
    return fmt::format("; {} costs less ({}) but {}", first.name, money_text(*reference),
                       first.verdict.loses_pods() ? "loses pods: " + brief_reasons(first.verdict)
                       : first.verdict.has(sim::Verdict::Cause::Overloaded)
                           ? "leaves requests unanswered"
                           : "breaks an objective or a policy");
  }
  return fmt::format(", {} less than {} ({})", percent_text(saved), first.name,
                     money_text(*reference));
}

std::string about_jobs(const sim::Result& result, const VariantResult& best) {
  const double done = jobs_done(best);
  double left = 0;
  for (const sim::UnfinishedJobs& each : sim::unfinished_jobs(best)) left += each.jobs;
  const std::string jobs =
      left > 0 ? fmt::format("{} of {} jobs", count_text(done), count_text(done + left))
               : fmt::format("{} {}", count_text(done), done == 1 ? "job" : "jobs");
  const std::string all = money_text(best.cost.ledger.nodes());
  const std::string each = money_text(*best.cost.per_job);
  // What else there is has its part of the bill.
  const bool alone = std::ranges::none_of(
      best.workloads, [](const sim::WorkloadResult& w) { return w.requests || w.notebooks; });
  const std::string work = alone ? fmt::format("{} for {}, {} each", jobs, all, each)
                                 : fmt::format("{} at {} each, of {} for all", jobs, each, all);
  if (result.variants.size() == 1) return fmt::format("{} finishes {}.", best.name, work);
  return fmt::format("{} finishes the most jobs per dollar: {}{}.", best.name, work,
                     against_first(best, result.variants.front(), &sim::Cost::per_job));
}

std::string about_requests(const sim::Result& result, const VariantResult& best) {
  const std::string price = fmt::format("{} per {}", money_text(*best.cost.per_1k_requests_in_slo),
                                        thousand_requests(has_objectives(best)));
  const char* does = has_objectives(best) ? "meets every objective" : "serves its requests";
  if (result.variants.size() == 1) return fmt::format("{} {} at {}.", best.name, does, price);
  return fmt::format(
      "{} {} at the lowest price, {}{}.", best.name, does, price,
      against_first(best, result.variants.front(), &sim::Cost::per_1k_requests_in_slo));
}

std::optional<Usd> user_price(const VariantResult& variant) {
  for (const sim::WorkloadResult& w : variant.workloads) {
    if (w.notebooks && w.notebooks->per_active_user_month) {
      return w.notebooks->per_active_user_month;
    }
  }
  return std::nullopt;
}

// The variant whose users cost least; nullptr when no variant has notebooks whose objectives are
// met.
const VariantResult* cheapest_for_users(const sim::Result& result) {
  const VariantResult* best = nullptr;
  for (const VariantResult& variant : result.variants) {
    const auto price = user_price(variant);
    if (!price || !variant.verdict.stands()) continue;
    if (best == nullptr || *price < *user_price(*best)) best = &variant;
  }
  return best;
}

std::string about_users(const sim::Result& result, const VariantResult& best) {
  return fmt::format("{} serves its users{} {} each a month.", best.name,
                     result.variants.size() == 1 ? " at" : " at the lowest price,",
                     money_text(*user_price(best)));
}

// So many times the runs bring every limit out of the interval around its figure: half widths go
// with the root, and Student's t falls as well. 1 where they are out of it, or one limit is missed.
double times_as_many(const VariantResult& variant) {
  double times = 1;
  for (const sim::WorkloadResult& workload : variant.workloads) {
    for (const sim::ObjectiveResult& objective : workload.objectives) {
      if (objective.lost && objective.lost->is_undecided()) {
        const double wide = *objective.lost->ci95 / (objective.lost->most - objective.lost->share);
        times = std::max(times, wide * wide);
      }
      const double room =
          std::abs(sim::in_its_unit(objective.value) - sim::in_its_unit(objective.limit));
      const double half = objective.ci95 ? sim::in_its_unit(*objective.ci95) : 0;
      if (half > room) {
        times = std::max(times, (half / room) * (half / room));
      } else if (!objective.pass) {
        return 1;
      }
    }
  }
  return times;
}

}  // namespace

std::string brief_reasons(const sim::Verdict& verdict) {
  return joined_reasons(verdict, ", ", &sim::Verdict::Reason::brief);
}

std::string full_reasons(const sim::Verdict& verdict) {
  return joined_reasons(verdict, "; ", &sim::Verdict::Reason::text);
}

std::string unfinished_text(const std::vector<sim::UnfinishedJobs>& left) {
  return left.empty() ? "" : counted_jobs(left) + " unfinished";
}

std::string unfinished_by_workload(const std::vector<sim::UnfinishedJobs>& left) {
  constexpr std::size_t kMostNamed = 3;
  if (left.size() > kMostNamed) {
    return fmt::format("{} of {} workloads", counted_jobs(left), left.size());
  }
  std::vector<std::string> parts;
  parts.reserve(left.size());
  for (const sim::UnfinishedJobs& each : left) {
    parts.push_back(fmt::format("{} of {}", counted_jobs({each}), each.workload));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

ScreenPart as_it_is_part(const sim::Verdict& verdict, const TextStyle& style) {
  return {.sentences = {{fmt::format("{} as the scenario is: {}", signs(style).fail,
                                     full_reasons(verdict))}}};
}

std::optional<int> deciding_runs(const sim::Result& result) {
  constexpr double kMost = 1'000;  // beyond it the figure is its limit
  constexpr double kRounding = 1e-6;
  double runs = 0;
  for (const VariantResult& variant : result.variants) {
    if (variant.verdict.loses_pods()) continue;
    const double more = times_as_many(variant);
    if (more > 1) runs = std::max(runs, std::ceil(variant.replications * more - kRounding));
  }
  return runs > 0 && runs <= kMost ? std::optional(static_cast<int>(runs)) : std::nullopt;
}

bool finished_the_same(const VariantResult& a, const VariantResult& b) {
  const double seconds_a = to_seconds(a.makespan.mean);
  const double seconds_b = to_seconds(b.makespan.mean);
  return std::ranges::equal(
      a.workloads, b.workloads, [&](const sim::WorkloadResult& x, const sim::WorkloadResult& y) {
        if (x.name != y.name || !x.has_jobs()) return x.name == y.name;
        return is_close(x.completed, y.completed) &&
               is_close(x.throughput_per_second * seconds_a, y.throughput_per_second * seconds_b);
      });
}

bool were_asked_the_same(const VariantResult& a, const VariantResult& b) {
  const auto arrived = [](const sim::WorkloadResult& w) {
    return w.requests ? w.requests->arrived : 0;
  };
  return std::ranges::equal(a.workloads, b.workloads,
                            [&](const sim::WorkloadResult& x, const sim::WorkloadResult& y) {
                              return x.name == y.name && is_close(arrived(x), arrived(y));
                            });
}

std::string_view standing_word(sim::ObjectiveStanding standing) {
  switch (standing) {
    case sim::ObjectiveStanding::Holds:
      return "met";
    case sim::ObjectiveStanding::Undecided:
      return "undecided";
    case sim::ObjectiveStanding::Missed:
      return "MISSED";
  }
  return "MISSED";
}

std::string_view standing_sign(sim::ObjectiveStanding standing, const TextStyle& style) {
  switch (standing) {
    case sim::ObjectiveStanding::Holds:
      return signs(style).pass;
    case sim::ObjectiveStanding::Undecided:
      return signs(style).warn;
    case sim::ObjectiveStanding::Missed:
      break;
  }
  return signs(style).fail;
}

const VariantResult* best_variant(const sim::Result& result) {
  if (const VariantResult* best = cheapest(result, &sim::Cost::per_job)) return best;
  if (const VariantResult* best = cheapest(result, &sim::Cost::per_1k_requests_in_slo)) return best;
  return cheapest_for_users(result);
}

namespace {

std::string answer_of(const sim::Result& result) {
  if (result.variants.empty()) {
    return result.interrupted ? "Nothing was simulated: no run was finished."
                              : "Nothing was simulated: the scenario has no variants.";
  }
  if (const VariantResult* best = cheapest(result, &sim::Cost::per_job)) {
    return about_jobs(result, *best);
  }
  if (const VariantResult* best = cheapest(result, &sim::Cost::per_1k_requests_in_slo)) {
    return about_requests(result, *best);
  }
  if (const VariantResult* best = cheapest_for_users(result)) return about_users(result, *best);
  const auto stands = [](const VariantResult& v) { return v.verdict.stands(); };
  if (std::ranges::none_of(result.variants, stands)) {
    const VariantResult& first = result.variants.front();
    const bool lost = std::ranges::any_of(
        result.variants, [](const VariantResult& v) { return v.verdict.loses_pods(); });
    const bool missed = std::ranges::none_of(
        result.variants, [](const VariantResult& v) { return v.verdict.meets_objectives(); });
    if (result.variants.size() > 1) {
      return missed && !lost ? "No variant meets every objective." : "No variant stands.";
    }
    const auto misses = std::ranges::count(
        first.verdict.reasons, sim::Verdict::Cause::ObjectiveMissed, &sim::Verdict::Reason::cause);
    const std::string what = misses > 1 ? fmt::format("{} objectives", misses) : "an objective";
    return missed && !lost
               ? fmt::format("{} {} {}.", first.name, misses > 0 ? "misses" : "may miss", what)
               : fmt::format("{} does not stand: {}.", first.name, full_reasons(first.verdict));
  }
  return "No job was finished and no request was served in time.";
}

// " Not judged: policy "room"." of those that no figure of any variant decides.
std::string not_judged(const sim::Result& result) {
  std::string names;
  for (const VariantResult& variant : result.variants) {
    for (const sim::PolicyResult& policy : variant.policies) {
      const std::string name = fmt::format("\"{}\"", policy.name);
      if (policy.is_not_judged() && !policy.denies() && names.find(name) == std::string::npos)
        add_name(names, name);
    }
  }
  return names.empty() ? "" : fmt::format(" Not judged: policy {}.", names);
}

}  // namespace

std::string verdict(const sim::Result& result) { return answer_of(result) + not_judged(result); }

}  // namespace slicewise::reports
