#include "result_verdict.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "slicewise/reports/html_report.hpp"

#include "result_comparison.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;
using Price = std::optional<Usd> sim::Cost::*;

bool meets_objectives(const VariantResult& variant) {
  return std::all_of(variant.workloads.begin(), variant.workloads.end(), [](const auto& w) {
    return std::all_of(w.objectives.begin(), w.objectives.end(),
                       [](const sim::ObjectiveResult& o) { return o.pass; });
  });
}

bool is_denied(const VariantResult& variant) {
  return std::any_of(variant.policies.begin(), variant.policies.end(),
                     [](const sim::PolicyResult& p) {
                       return p.deny && p.verdict == sim::PolicyResult::Verdict::Fail;
                     });
}

bool stands(const VariantResult& variant) {
  return meets_objectives(variant) && !is_denied(variant);
}

const VariantResult* cheapest(const sim::Result& result, Price price) {
  const VariantResult* best = nullptr;
  for (const VariantResult& variant : result.variants) {
    if (!(variant.cost.*price) || !stands(variant)) continue;
    if (best == nullptr || *(variant.cost.*price) < *(best->cost.*price)) best = &variant;
  }
  return best;
}

// ", 75% less than before ($2.45)"; what is cheaper than the best one does not stand.
std::string against_first(const VariantResult& best, const VariantResult& first, Price price) {
  const std::optional<Usd>& reference = first.cost.*price;
  if (&best == &first || !reference || reference->nano <= 0) return "";
  const double saved =
      1 - static_cast<double>((best.cost.*price)->nano) / static_cast<double>(reference->nano);
  if (saved < 0) {
    return fmt::format("; {} costs less ({}) but breaks an objective or a policy", first.name,
                       money_text(*reference));
  }
  return fmt::format(", {} less than {} ({})", percent_text(saved), first.name,
                     money_text(*reference));
}

std::string about_jobs(const sim::Result& result, const VariantResult& best) {
  const double done = jobs_done(best);
  const std::string work =
      fmt::format("{} {} for {}, {} each", count_text(done), done == 1 ? "job" : "jobs",
                  money_text(best.cost.ledger.total), money_text(*best.cost.per_job));
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
    if (!price || !stands(variant)) continue;
    if (best == nullptr || *price < *user_price(*best)) best = &variant;
  }
  return best;
}

std::string about_users(const sim::Result& result, const VariantResult& best) {
  return fmt::format("{} serves its users{} {} each a month.", best.name,
                     result.variants.size() == 1 ? " at" : " at the lowest price,",
                     money_text(*user_price(best)));
}

}  // namespace

const VariantResult* best_variant(const sim::Result& result) {
  if (const VariantResult* best = cheapest(result, &sim::Cost::per_job)) return best;
  if (const VariantResult* best = cheapest(result, &sim::Cost::per_1k_requests_in_slo)) return best;
  return cheapest_for_users(result);
}

std::string verdict(const sim::Result& result) {
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
  const bool one = result.variants.size() == 1;
  if (std::none_of(result.variants.begin(), result.variants.end(), meets_objectives)) {
    return one ? result.variants.front().name + " misses an objective."
               : "No variant meets every objective.";
  }
  return "No job was finished and no request was served in time.";
}

}  // namespace slicewise::reports
