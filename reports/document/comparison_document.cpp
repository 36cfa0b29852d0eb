#include "comparison_document.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/comparison_report.hpp"
#include "slicewise/sim/isolation.hpp"

#include "../screens/comparison_words.hpp"
#include "document_values.hpp"
#include "result_document.hpp"
#include "yaml_text.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using sim::ComparedOption;

using document::finding;
using document::in_dollars;
using document::in_seconds;
using document::list;
using document::metadata_of;
using document::number;
using document::objective;
using document::present;
using document::text;

json quantile(const std::optional<sim::TimeSummary>& times, Duration sim::TimeSummary::*field) {
  return times && times->count > 0 ? in_seconds((*times).*field) : json(nullptr);
}

json workload(const sim::WorkloadResult& w) {
  return present({{"name", w.name},
                  {"kind", w.kind},
                  {"unitName", text(w.unit_name)},
                  {"completed", number(w.completed)},
                  {"throughputPerSecond", number(w.throughput_per_second)},
                  {"goodputPerSecond", number(w.goodput_per_second)},
                  {"latencyP50Seconds", quantile(w.latency, &sim::TimeSummary::p50)},
                  {"latencyP95Seconds", quantile(w.latency, &sim::TimeSummary::p95)},
                  {"latencyP99Seconds", quantile(w.latency, &sim::TimeSummary::p99)},
                  {"jobCompletionP95Seconds", quantile(w.job_completion, &sim::TimeSummary::p95)},
                  {"boundBy", text(w.bound_by)},
                  {"objectives", list(w.objectives, objective)}});
}

json pods(const sim::PodCounts& counts) {
  return {{"submitted", number(counts.submitted)}, {"runningMax", counts.running_max},
          {"pendingMax", counts.pending_max},      {"succeeded", number(counts.succeeded)},
          {"failed", number(counts.failed)},       {"oomKilled", number(counts.oom_kills)}};
}

json cost(const ComparedOption& option) {
  const sim::Cost& c = option.result.cost;
  return present({{"totalUsd", in_dollars(c.ledger.total)},
                  {"usefulUsd", in_dollars(c.ledger.useful)},
                  {"idleUsd", in_dollars(c.ledger.idle)},
                  {"switchUsd", in_dollars(c.ledger.switching)},
                  {"failedUsd", in_dollars(c.ledger.failed)},
                  {"coldStartUsd", in_dollars(c.ledger.cold_start)},
                  {"missedSloUsd", in_dollars(c.ledger.missed_slo)},
                  {"usdPerHour", in_dollars(option.price.per_hour)},
                  {"perJobUsd", in_dollars(c.per_job)},
                  {"per1kRequestsInSloUsd", in_dollars(c.per_1k_requests_in_slo)},
                  {"perWorkHourUsd", in_dollars(option.per_work_hour)}});
}

json isolation_levels(sim::Strategy strategy) {
  const sim::Isolation isolation = sim::isolation_of(strategy);
  return {{"memory", sim::level_name(isolation.memory)},
          {"compute", sim::level_name(isolation.compute)},
          {"fault", sim::level_name(isolation.fault)}};
}

json isolation_row(sim::Strategy strategy) {
  json row = isolation_levels(strategy);
  row["strategy"] = sim::strategy_name(strategy);
  row["meaning"] = isolation_meaning(strategy);
  return row;
}

json configuration(const sim::Configuration& c) {
  return present({{"instanceType", c.instance_type},
                  {"strategy", sim::strategy_name(c.strategy)},
                  {"title", configuration_title(c)},
                  {"replicas", c.replicas},
                  {"migProfile", text(c.mig_profile)},
                  {"migInstancesPerGpu", c.mig_instances > 0 ? json(c.mig_instances) : json()}});
}

json option_object(const ComparedOption& option) {
  json out = configuration(option.configuration);
  const sim::NodePoolResult& pool = option.result.node_pools.front();
  out["nodes"] = option.configuration.nodes;
  out["gpuModel"] = pool.gpu_model;
  out["gpusPerNode"] = pool.gpus_per_node;
  out["forced"] = option.configuration.forced;
  out["stock"] = sim::is_stock(option.configuration.strategy);
  out["retired"] = option.retired;
  out["best"] = option.best;
  out["meetsObjectives"] = option.meets_objectives;
  out["losesPods"] = option.loses_pods;
  out["isolation"] = isolation_levels(option.configuration.strategy);
  out["replications"] = option.result.replications;
  out["lengthSeconds"] = in_seconds(option.result.makespan.mean);
  out["gpuBusyRatio"] = number(option.gpu_busy_ratio);
  out["pods"] = pods(option.result.pods);
  out["workloads"] = list(option.result.workloads, workload);
  out["cost"] = cost(option);
  out["findings"] = list(option.result.findings, finding);
  return out;
}

json refused_object(const sim::RefusedOption& refused) {
  const sim::Configuration& c = refused.configuration;
  return present({{"instanceType", c.instance_type},
                  {"strategy", sim::strategy_name(c.strategy)},
                  {"migProfile", c.mig_instances > 0 ? text(c.mig_profile) : json()},
                  {"code", refused.code ? json(info(*refused.code).name) : json()},
                  {"message", refused.message}});
}

json replica_choice(const sim::ReplicaChoice& choice) {
  return {{"instanceType", choice.instance_type},
          {"replicas", choice.replicas},
          {"mpsReplicas", choice.mps_replicas},
          {"rule", rule_word(choice.rule)}};
}

json metadata(const sim::StrategyComparison& c) {
  return metadata_of(
      c.stamp, c.interrupted,
      {{"instanceTypes", c.instance_types}, {"nodes", c.nodes ? json(*c.nodes) : json()}});
}

}  // namespace

std::string_view rule_word(sim::ReplicaChoice::Rule rule) {
  switch (rule) {
    case sim::ReplicaChoice::Rule::Asked:
      return "asked";
    case sim::ReplicaChoice::Rule::Scenario:
      return "scenario";
    case sim::ReplicaChoice::Rule::PodsOnOneNode:
      return "podsOnOneNode";
    case sim::ReplicaChoice::Rule::GpuMemory:
      return "gpuMemory";
  }
  return "podsOnOneNode";
}

json comparison_document(const sim::StrategyComparison& comparison) {
  return {{"apiVersion", kComparisonApiVersion},
          {"kind", "Comparison"},
          {"metadata", metadata(comparison)},
          {"options", list(comparison.options, option_object)},
          {"refused", list(comparison.refused, refused_object)},
          {"isolation", list(sim::kStrategies, isolation_row)},
          {"replicas", list(comparison.replicas, replica_choice)},
          {"notes", list(comparison.notes, finding)}};
}

std::string comparison_json(const sim::StrategyComparison& comparison) {
  return json_text(comparison_document(comparison));
}

std::string comparison_yaml(const sim::StrategyComparison& comparison) {
  return yaml_text(comparison_document(comparison));
}

}  // namespace slicewise::reports
