#include "result_document.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../screens/policy_rows.hpp"
#include "../screens/result_nodes.hpp"
#include "../text/severity_name.hpp"
#include "document_values.hpp"
#include "serving_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using document::in_dollars;
using document::in_seconds;
using document::list;
using document::metadata_of;
using document::number;
using document::objective;
using document::present;
using document::text;
using document::time_summary;

json node_dynamics_json(const sim::NodeDynamics& d) {
  return present({{"provisioner", d.provisioner},
                  {"least", d.least ? json(*d.least) : json(nullptr)},
                  {"most", d.most ? json(*d.most) : json(nullptr)},
                  {"nodesMean", number(d.mean_nodes)},
                  {"nodesMax", d.max_nodes},
                  {"launches", number(d.launches)},
                  {"surplusLaunches", number(d.surplus)},
                  {"removed", number(d.removed)},
                  {"interruptions", number(d.interruptions)},
                  {"onDemandLaunches", number(d.on_demand_nodes)},
                  {"nodeHours", number(d.node_hours)},
                  {"thrashNodeHours", number(d.thrash_node_hours)}});
}

json node_pool(const sim::NodePoolResult& pool) {
  return present(
      {{"name", pool.name},
       {"instanceType", pool.instance_type},
       {"gpuModel", text(pool.gpu_model)},
       {"region", text(pool.region)},
       {"purchaseOption", text(pool.purchase_option)},
       {"strategy", pool.strategy},
       {"nodes", pool.nodes},
       {"gpusPerNode", pool.gpus_per_node},
       {"usdPerHour", in_dollars(pool.price.per_hour)},
       {"priceSource", text(pool.price_source)},
       {"turnSeconds", in_seconds(pool.turn)},
       {"switchCostSeconds", in_seconds(pool.switch_cost)},
       {"activeThreadsRatio", number(pool.active_threads)},
       {"clientMemoryLimitBytes",
        pool.memory_limit ? json(pool.memory_limit->count) : json(nullptr)},
       {"vgpuPolicy", text(pool.vgpu_policy)},
       {"vgpusPerGpu", pool.vgpus_per_gpu > 0 ? json(pool.vgpus_per_gpu) : json()},
       {"migConfig", text(pool.mig_config)},
       {"migInstances", pool.instances.empty() ? json(nullptr) : json(pool.instances)},
       {"smsUnusedRatio", number(pool.sms_unused_ratio)},
       {"advertised", json(pool.advertised)},
       {"dynamics", pool.dynamics ? node_dynamics_json(*pool.dynamics) : json(nullptr)}});
}

// Of pods that waited for a node.
json node_start_up_json(const sim::NodeStartUpFigures& f) {
  return {{"pods", number(f.pods)},
          {"decisionSeconds", in_seconds(f.decision)},
          {"launchSeconds", in_seconds(f.launch)},
          {"readySeconds", in_seconds(f.ready)},
          {"gpuAllocatableSeconds", in_seconds(f.gpu_allocatable)},
          {"schedulingSeconds", in_seconds(f.scheduling)},
          {"imagePullSeconds", in_seconds(f.image_pull)},
          {"modelLoadSeconds", in_seconds(f.model_load)},
          {"totalSeconds", time_summary(f.total)}};
}

json pods(const sim::PodCounts& counts) {
  return present({{"submitted", number(counts.submitted)},
                  {"runningMax", counts.running_max},
                  {"pendingMax", counts.pending_max},
                  {"succeeded", number(counts.succeeded)},
                  {"failed", number(counts.failed)},
                  {"oomKilled", number(counts.oom_kills)},
                  {"restarts", number(counts.restarts)},
                  {"gpuFaults", number(counts.faults)},
                  {"faultVictims", number(counts.fault_victims)},
                  {"evicted", number(counts.evicted)},
                  {"pendingReasons", json(counts.pending_reasons)}});
}

json workload(const sim::WorkloadResult& w) {
  return present({{"name", w.name},
                  {"kind", w.kind},
                  {"unitName", text(w.unit_name)},
                  {"completed", number(w.completed)},
                  {"throughputPerSecond", number(w.throughput_per_second)},
                  {"goodputPerSecond", number(w.goodput_per_second)},
                  {"requests", w.requests ? document::requests(*w.requests) : json(nullptr)},
                  {"tokens", w.tokens ? document::tokens(*w.tokens) : json(nullptr)},
                  {"scaling", w.scaling ? document::scaling(*w.scaling) : json(nullptr)},
                  {"notebooks", w.notebooks ? document::notebooks(*w.notebooks) : json(nullptr)},
                  {"gang", w.gang ? document::gang(*w.gang) : json(nullptr)},
                  {"jobCompletionSeconds", time_summary(w.job_completion)},
                  {"waitSeconds", time_summary(w.wait)},
                  {"latencySeconds", time_summary(w.latency)},
                  {"queueingSeconds", time_summary(w.queueing)},
                  {"objectives", list(w.objectives, objective)},
                  {"gpuBusyShare", number(w.gpu_busy_share)},
                  {"boundBy", text(w.bound_by)}});
}

json gpu(const sim::GpuResult& g) {
  return present({{"node", g.node},
                  {"index", g.index},
                  {"model", g.model},
                  {"migProfile", text(g.partition)},
                  {"migInstance", g.partition.empty() ? json(nullptr) : json(g.instance)},
                  {"gpuShare", g.partition.empty() ? json(nullptr) : number(g.gpu_share)},
                  {"timeBusyRatio", number(g.time_busy_ratio)},
                  {"smActiveRatio", number(g.sm_active_ratio)},
                  {"contextSwitchRatio", number(g.context_switch_ratio)},
                  {"memoryPeakBytes", g.memory_peak.count},
                  {"memoryTotalBytes", g.memory_total.count}});
}

json node(const sim::NodeResult& n) {
  return present({{"name", n.name}, {"pool", n.pool}, {"cpuBusyRatio", number(n.cpu_busy_ratio)}});
}

// `comes_and_goes`: thrash is possible.
json cost(const sim::Cost& c, bool comes_and_goes) {
  return present({{"totalUsd", in_dollars(c.ledger.total)},
                  {"usefulUsd", in_dollars(c.ledger.useful)},
                  {"idleUsd", in_dollars(c.ledger.idle)},
                  {"switchUsd", in_dollars(c.ledger.switching)},
                  {"failedUsd", in_dollars(c.ledger.failed)},
                  {"coldStartUsd", in_dollars(c.ledger.cold_start)},
                  {"missedSloUsd", in_dollars(c.ledger.missed_slo)},
                  {"thrashUsd", comes_and_goes ? in_dollars(c.ledger.thrash) : json(nullptr)},
                  {"perJobUsd", in_dollars(c.per_job)},
                  {"per1kRequestsInSloUsd", in_dollars(c.per_1k_requests_in_slo)},
                  {"monthlyUsd", in_dollars(c.monthly)}});
}

json finding(const Diagnostic& d) {
  json out{{"code", info(d.code).name},
           {"severity", severity_name(d.severity)},
           {"message", d.message},
           {"help", text(d.help)}};
  if (d.where.line > 0) {
    out["file"] = d.where.file;
    out["line"] = d.where.line;
    out["column"] = d.where.column;
  }
  return present(std::move(out));
}

json provenance(const sim::ProvenanceCounts& p) {
  return {{"measured", p.measured},
          {"catalog", p.catalog},
          {"assumed", p.assumed},
          {"assumedInputs", p.assumed_inputs}};
}

json variant(const sim::VariantResult& v) {
  return present({{"name", v.name},
                  {"description", text(v.description)},
                  {"strategy", v.strategy},
                  {"replications", v.replications},
                  {"makespanSeconds", v.makespan.count > 0 ? time_summary(v.makespan) : json()},
                  {"nodePools", list(v.node_pools, node_pool)},
                  {"pods", pods(v.pods)},
                  {"workloads", list(v.workloads, workload)},
                  {"gpus", list(v.gpus, gpu)},
                  {"nodes", list(v.nodes, node)},
                  {"cost", cost(v.cost, has_node_dynamics(v))},
                  {"nodeStartUp", v.node_start_up ? node_start_up_json(*v.node_start_up) : json()},
                  {"policies", v.policies.empty() ? json() : list(v.policies, policy_document)},
                  {"findings", list(v.findings, finding)},
                  {"provenance", provenance(v.provenance)}});
}

}  // namespace

json result_document(const sim::Result& result) {
  json metadata = metadata_of(
      result.stamp, result.interrupted,
      {{"scenarioFile", text(result.stamp.scenario_file)},
       {"settings", result.stamp.settings.empty() ? json() : json(result.stamp.settings)},
       {"fidelity", text(result.fidelity)}});
  return {{"apiVersion", kResultApiVersion},
          {"kind", "Result"},
          {"metadata", std::move(metadata)},
          {"variants", list(result.variants, variant)}};
}

}  // namespace slicewise::reports
