#include "plan_saving.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::Plan;

// A month's price says nothing of how many jobs it pays.
std::string job_price_sentence(const Plan& plan) {
  const std::optional<Usd>& now = plan.today->figures.per_job;
  const std::optional<Usd>& then = plan.options.front().figures.per_job;
  if (!now || !then || *now == *then) return "";
  return fmt::format(" A job costs {} instead of {}.", money_text(*then), money_text(*now));
}

// Work without an objective is in nobody's way, however slow it gets.
std::string slower_work_sentence(const Plan& plan) {
  constexpr double kWorthNaming = 0.95;
  const std::vector<sim::WorkRate>& now = plan.today->figures.work;
  std::string out;
  for (const sim::WorkRate& then : plan.options.front().figures.work) {
    const auto was = std::ranges::find(now, then.workload, &sim::WorkRate::workload);
    if (was == now.end() || then.per_hour > kWorthNaming * was->per_hour) continue;
    out += fmt::format(" {} gets {} {}/h done instead of {}: no objective says how many it must.",
                       then.workload, sim::short_text(then.per_hour),
                       then.unit.empty() ? "unit" : then.unit, sim::short_text(was->per_hour));
  }
  return out;
}

}  // namespace

std::string saving_sentence(const Plan& plan) {
  if (!plan.today || plan.options.empty()) return "";
  const Usd now = plan.today->figures.monthly;
  const Usd then = plan.options.front().figures.monthly;
  if (now.nano <= 0) return "";
  const double share = static_cast<double>((now - then).nano) / static_cast<double>(now.nano);
  const sim::OptionFigures& today = plan.today->figures;
  const std::string fails = today.stands()                      ? ""
                            : today.verdict.loses_pods()        ? ", which lose pods"
                            : !today.verdict.meets_objectives() ? ", which miss an objective"
                                                                : ", which a policy denies";
  if (then < now) {
    return fmt::format("Saves {} a month ({}) against the scenario's own pools{}.{}",
                       money_text(now - then), percent_text(share), fails,
                       job_price_sentence(plan) + slower_work_sentence(plan));
  }
  if (then > now) {
    return fmt::format("Costs {} a month more than the scenario's own pools{}.{}",
                       money_text(then - now), fails, job_price_sentence(plan));
  }
  return fmt::format("Costs as much as the scenario's own pools{}.{}", fails,
                     job_price_sentence(plan) + slower_work_sentence(plan));
}

}  // namespace slicewise::reports
