#pragma once

#include <string>
#include <utility>

#include "slicewise/sim/comparison.hpp"

#include "result_samples.hpp"

// A hand-built comparison: two requests/s-serving pods on g5 and p4d. Nothing here was simulated.
namespace slicewise::reports::samples {

inline sim::PoolChoice configuration(std::string type, sim::Strategy strategy, int replicas,
                                     int nodes) {
  sim::PoolChoice c;
  c.purchase.clear();
  c.instance_type = std::move(type);
  c.strategy = strategy;
  c.replicas = replicas;
  c.nodes = nodes;
  return c;
}

inline sim::WorkloadResult chat_service(Duration p99) {
  sim::WorkloadResult w;
  w.name = "chat";
  w.kind = "Service";
  w.unit_name = "request";
  w.completed = 36'000;
  w.throughput_per_second = 10;
  w.latency = summary(36'000, milliseconds(40), milliseconds(35), milliseconds(90), p99);
  const bool pass = p99 <= milliseconds(200);
  w.goodput_per_second = pass ? 10 : 9.5;
  w.objectives = {{"latencyP99", milliseconds(200), p99, milliseconds(4), pass}};
  return w;
}

// An hour at `price` per node, half of it useful.
inline sim::ComparedOption option(sim::PoolChoice configuration, double price, Duration p99) {
  sim::ComparedOption o;
  o.price = {from_dollars(price * configuration.nodes)};
  sim::VariantResult& result = o.result;
  result.replications = 2;
  result.makespan = summary(2, hours(1), hours(1), hours(1), hours(1));
  sim::NodePoolResult& pool = result.node_pools.emplace_back();
  pool.instance_type = configuration.instance_type;
  pool.gpu_model = configuration.instance_type == "g5.xlarge" ? "A10G" : "A100-SXM4-40GB";
  pool.gpus_per_node = configuration.instance_type == "g5.xlarge" ? 1 : 8;
  pool.nodes = configuration.nodes;
  result.pods.submitted = 2;
  result.pods.running_max = 2;
  result.workloads = {chat_service(p99)};
  result.workloads.front().left_behind.pods = 2;
  result.verdict = sim::judge(result, false);
  const Usd total = o.price.per_hour;
  const Usd useful{total.nano / 2};
  result.cost.ledger.total = total;
  result.cost.ledger.useful = useful;
  result.cost.ledger.idle = total - useful;
  result.cost.per_1k_requests_in_slo = Usd{total.nano / 36};
  result.provenance = {1, 4, 1, {{"chat", "requestGpuTime"}}};
  o.per_work_hour = Usd{total.nano * 2};
  o.gpu_busy_ratio = 0.5;
  o.configuration = std::move(configuration);
  return o;
}

inline sim::StrategyComparison chat() {
  using sim::Strategy;
  sim::StrategyComparison c;
  c.stamp.scenario = "chat";
  c.stamp.scenario_sha256 = "9f3c1e0a5b7d";
  c.stamp.variant = "busy";
  c.stamp.variants = 2;
  c.stamp.seed = 42;
  c.stamp.replications = 2;
  c.stamp.price_date = "2026-07-20";
  c.instance_types = {"g5.xlarge", "p4d.24xlarge"};
  c.replicas = {{"g5.xlarge", 4, 3, sim::ReplicaChoice::Rule::Scenario},
                {"p4d.24xlarge", 4, 4, sim::ReplicaChoice::Rule::Scenario}};

  c.options.push_back(
      option(configuration("g5.xlarge", Strategy::Exclusive, 1, 2), 1.006, milliseconds(80)));
  c.options.push_back(
      option(configuration("g5.xlarge", Strategy::TimeSlicing, 4, 1), 1.006, milliseconds(240)));
  c.options.push_back(
      option(configuration("g5.xlarge", Strategy::Mps, 3, 1), 1.006, milliseconds(150)));
  c.options.back().best = true;
  c.options.push_back(
      option(configuration("g5.xlarge", Strategy::MpsUncapped, 3, 1), 1.006, milliseconds(120)));
  sim::PoolChoice slices = configuration("p4d.24xlarge", Strategy::Mig, 1, 1);
  slices.mig = {{"1g.5gb", 7}};
  c.options.push_back(option(slices, 21.957642, milliseconds(150)));
  slices.strategy = Strategy::MigMps;
  slices.replicas = 2;
  c.options.push_back(option(slices, 21.957642, milliseconds(150)));
  c.options.back().forced = true;
  c.options.back().result.pods.failed = 1;
  c.options.back().result.workloads.front().left_behind.failed = 1;
  c.options.back().result.verdict = sim::judge(c.options.back().result, false);
  c.options.back().result.findings = {
      make_diagnostic(Code::GpuOom, {}, "CUDA out of memory killed containers 7 times")};

  const auto refuse = [&](std::string type, Strategy strategy, Code code, std::string message) {
    c.refused.push_back({configuration(std::move(type), strategy, 1, 0), code, std::move(message)});
  };
  refuse("g5.xlarge", Strategy::Mig, Code::MigUnsupported, "A10G (g5.xlarge) has no MIG");
  refuse("g5.xlarge", Strategy::MigMps, Code::MigUnsupported, "A10G (g5.xlarge) has no MIG");
  refuse("g5.xlarge", Strategy::Vgpu, Code::VgpuNotOnEks, "EC2 offers vGPU as g6f and gr6f only");
  refuse("p4d.24xlarge", Strategy::Vgpu, Code::VgpuNotOnEks,
         "EC2 offers vGPU as g6f and gr6f only");
  c.refused.push_back({configuration("p4d.24xlarge", Strategy::Exclusive, 1, 0), std::nullopt,
                       "needs more than 64 nodes to run all pods at once"});
  return c;
}

}  // namespace slicewise::reports::samples
