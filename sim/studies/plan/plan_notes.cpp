#include <algorithm>

#include <fmt/format.h>

#include "../probe/pool_homes.hpp"
#include "plan_sections.hpp"

// What a plan assumes or leaves out, in words.
namespace slicewise::sim {
namespace {

using scenarios::PlanGoal;
using scenarios::Scenario;

// Nodes of Jobs that run once stand idle for the rest of a month.
void tell_of_idle_months(const Scenario& base, Plan& plan) {
  if (plan.goal != PlanGoal::MonthlyCost || !runs_once(base)) return;
  plan.notes.push_back(make_diagnostic(
      Code::RequestNoEffect, base.goal_where.line > 0 ? base.goal_where : base.where,
      "all Jobs run once: a month's price is of nodes that are kept when they are done "
      "(--objective costPerJob compares what the work costs)"));
  plan.notes.back().severity = Severity::Note;
}

// A plan chooses the nodes: who asked for certain ones is told, once.
void tell_dropped_selectors(const Scenario& base, Plan& plan) {
  for (const scenarios::Workload& workload : base.workloads) {
    for (const auto& [key, value] : workload.pod.node_selector) {
      if (workload.count == 0 || names_a_group(key) || !names_the_node(key)) continue;
      plan.notes.push_back(make_diagnostic(
          Code::RequestNoEffect, workload.name.where,
          fmt::format("a plan chooses the nodes: nodeSelector {}: {} of \"{}\" is not kept "
                      "(--instances says among which)",
                      key, value, workload.name.value)));
      plan.notes.back().severity = Severity::Note;
      return;
    }
  }
}

}  // namespace

bool runs_once(const Scenario& scenario) {
  return std::ranges::all_of(scenario.workloads, [](const auto& workload) {
    return workload.count == 0 ||
           (workload.kind == scenarios::WorkloadKind::Job && !workload.trace);
  });
}

void add_notes(const Scenario& base, Plan& plan) {
  tell_dropped_selectors(base, plan);
  tell_of_idle_months(base, plan);
}

}  // namespace slicewise::sim
