#pragma once

#include <string>
#include <utility>

#include "slicewise/sim/plan.hpp"

// A plan of two options, and the path to the first.
namespace slicewise::reports::plan_samples {

inline sim::OptionFigures planned_figures(int dollars, Duration p99) {
  sim::OptionFigures figures;
  figures.replications = 5;
  figures.monthly = from_dollars(dollars);
  figures.total = from_dollars(dollars / 30);
  figures.per_1k_in_slo = from_dollars(0.011);
  figures.objectives.push_back(
      {"asr",
       {"latencyP99", milliseconds(500), p99, scenarios::FigureValue(milliseconds(9)),
        p99 <= milliseconds(500)}});
  figures.worst_ratio = figures.objectives.front().result.ratio();
  figures.latency_p99 = p99;
  figures.gpu_busy = 0.62;
  figures.running_max = 12;
  return figures;
}

inline sim::PoolChoice planned_pool(std::string type, sim::Strategy strategy, int replicas,
                                    int nodes) {
  sim::PoolChoice choice;
  choice.instance_type = std::move(type);
  choice.strategy = strategy;
  choice.replicas = replicas;
  choice.nodes = nodes;
  choice.workloads = {"asr"};
  return choice;
}

inline void deny(sim::OptionFigures& figures) {
  figures.denied_by = {"budget"};
  figures.verdict.reasons = {{sim::Verdict::Cause::PolicyDenies, "", "policy budget",
                              "policy \"budget\" denies it: cost.monthly <= 1500 does not hold"}};
}

inline sim::Plan sample_plan() {
  sim::Plan plan;
  plan.stamp.scenario = "voice";
  plan.stamp.scenario_file = "voice.yaml";
  plan.stamp.scenario_sha256 = std::string(64, '0');
  plan.stamp.variant = "shared";
  plan.stamp.seed = 42;
  plan.stamp.replications = 5;
  plan.stamp.price_date = "2026-07-20";
  plan.instance_types = {"g4dn.xlarge", "g6.xlarge"};
  plan.purchases = {"on-demand"};
  sim::PlanOption best{{planned_pool("g4dn.xlarge", sim::Strategy::Mps, 4, 3)},
                       planned_figures(1152, milliseconds(412)),
                       1152,
                       true};
  best.figures.warned_by = {"keep-room"};
  sim::PlanOption second{{planned_pool("g6.xlarge", sim::Strategy::TimeSlicing, 4, 2)},
                         planned_figures(1175, milliseconds(447)),
                         1175,
                         false};
  plan.options = {best, second};
  plan.today = sim::PlanOption{{}, planned_figures(3072, milliseconds(301)), 3072, false};
  sim::OptionFigures denied = planned_figures(2000, milliseconds(200));
  deny(denied);
  plan.rejected = {
      {sim::RejectedChoice::Stage::Feasibility,
       planned_pool("g4dn.xlarge", sim::Strategy::TimeSlicing, 8, 0),
       Code::GpuOom,
       {"8 pods need 23.8 GiB of GPU memory, a T4 has 14.6 GiB"},
       std::nullopt},
      {sim::RejectedChoice::Stage::Simulation,
       planned_pool("g6.xlarge", sim::Strategy::Exclusive, 1, 12),
       std::nullopt,
       {"budget denies it"},
       denied},
  };
  plan.replicas = {{1, 12, planned_figures(4608, milliseconds(301)), ""},
                   {4, 3, planned_figures(1152, milliseconds(412)), ""},
                   {8, 0, std::nullopt, "out of GPU memory"}};
  plan.knee = 1;
  plan.binding = "8 pods: out of GPU memory";
  plan.headroom = 1.31;
  plan.headroom_fails = 1.38;
  plan.headroom_binding = "latencyP99 of asr";
  plan.flips = {{"traffic", 1.38, 1.31, true, second, true}};
  plan.sm_active = sim::SmActiveRange{{"asr"}, 0.62, 0.6, second};
  plan.counts = {36, 8, 6, 41, 1152, 205};
  return plan;
}

// From four times the nodes without sharing, and a pool that misses its objective.
inline sim::PlanPath sample_path() {
  sim::PlanPath path;
  const sim::PoolChoice now = planned_pool("g4dn.xlarge", sim::Strategy::Exclusive, 1, 12);
  path.now = {{now}, planned_figures(4608, milliseconds(301)), 4608, false};
  sim::PathStep step;
  step.from = {now};
  step.to = {planned_pool("g4dn.xlarge", sim::Strategy::Mps, 4, 3)};
  step.saves = from_dollars(3456);
  step.monthly = from_dollars(1152);
  step.pods_restarted = 12;
  step.restarts = {"asr"};
  step.start = seconds(52);
  step.nodes_removed = 9;
  step.disruption = sim::RestartLoss{1240.4, 12};
  path.steps.push_back(step);
  path.end = {step.to, planned_figures(1152, milliseconds(412)), 1152, false};
  path.max_changes = 1;
  path.ended_by_limit = true;
  return path;
}

}  // namespace slicewise::reports::plan_samples
