#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../probe/scaled_input.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

// A path starts where each workload has one pool, and is judged by the bill.
void check_path(const Scenario& base, const std::vector<PoolChoice>& from, PlanGoal goal,
                Diagnostics& found) {
  if (goal != PlanGoal::MonthlyCost) {
    add_diagnostic(
        found, Code::SettingConflict, base.goal_where.line > 0 ? base.goal_where : base.where,
        fmt::format("the way from the present pools is by monthlyCost only, the goal is {}",
                    scenarios::goal_name(goal)),
        "--objective monthlyCost, or leave --from and --max-changes out");
  }
  const auto pools_with = [&](const std::string& name) {
    return std::ranges::count_if(
        from, [&](const PoolChoice& pool) { return contains(pool.workloads, name); });
  };
  for (const auto& workload : base.workloads) {
    const auto pools = pools_with(workload.name.value);
    if (workload.count == 0 ? pools == 0 : pools == 1) continue;
    add_diagnostic(found, Code::SettingConflict, workload.name.where,
                   fmt::format("\"{}\" {} of the present pools", workload.name.value,
                               workload.count == 0 ? "has no pods, but is in one"
                               : pools == 0        ? "is in none"
                                                   : "is in several"),
                   "--from takes what runs the same workloads");
  }
  for (const PoolChoice& pool : from) {
    for (const std::string& name : pool.workloads) {
      if (base.find_workload(name) != nullptr) continue;
      add_diagnostic(
          found, Code::SettingConflict, base.where,
          fmt::format("the present pools run \"{}\", which the scenario does not have", name),
          "--from takes what runs the same workloads");
    }
  }
}

// What is bought for months is judged by the bill, and grows with what is sent.
void check_horizon(const Scenario& base, const PlanOptions& options, PlanGoal goal,
                   Diagnostics& found) {
  const auto refuse = [&](std::string why, std::string instead) {
    add_diagnostic(found, Code::SettingConflict, base.where, std::move(why), std::move(instead));
  };
  if (goal != PlanGoal::MonthlyCost) {
    add_diagnostic(found, Code::SettingConflict,
                   base.goal_where.line > 0 ? base.goal_where : base.where,
                   fmt::format("months are planned by monthlyCost only, the goal is {}",
                               scenarios::goal_name(goal)),
                   "--objective monthlyCost, or leave --horizon out");
  }
  if (options.survive != Outage::None) {
    refuse("months are not planned for what survives an outage",
           "leave --horizon or --survive out");
  }
  if (options.growth > 0 && !has_traffic(base)) {
    refuse("no workload has traffic that could grow", "leave --growth out");
  }
}

}  // namespace

void check_options(const Scenario& base, const PlanOptions& options, PlanGoal goal,
                   Diagnostics& found) {
  if (options.vary_pods > 0 && goal != PlanGoal::MonthlyCost) {
    add_diagnostic(found, Code::SettingConflict,
                   base.goal_where.line > 0 ? base.goal_where : base.where,
                   fmt::format("the number of pods varies by monthlyCost only, the goal is {}",
                               scenarios::goal_name(goal)),
                   "--goal monthlyCost, or leave --vary-pods out");
  }
  if (!options.from.empty()) check_path(base, options.from, goal, found);
  if (options.horizon > 0) check_horizon(base, options, goal, found);
}

}  // namespace slicewise::sim
