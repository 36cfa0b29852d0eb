#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/sim/result.hpp"

// Hand-built results in the shape of the AWS time-slicing demo: 100 epochs of 18 s per job on the
// four V100 of one p3.8xlarge at 12.24 USD per hour. Nothing here was simulated; the figures are
// chosen so that every sum can be checked by hand.
namespace slicewise::reports::samples {

inline sim::TimeSummary summary(std::int64_t count, Duration mean, Duration p50, Duration p95,
                                Duration p99) {
  sim::TimeSummary t;
  t.count = count;
  t.mean = mean;
  t.p50 = p50;
  t.p95 = p95;
  t.p99 = p99;
  t.ci95 = Duration{mean.ns / 100};
  return t;
}

// Of one replication: no interval can be given.
inline sim::TimeSummary single_run(std::int64_t count, Duration mean, Duration p50, Duration p95,
                                   Duration p99, std::optional<Duration> p999 = {}) {
  sim::TimeSummary t = summary(count, mean, p50, p95, p99);
  t.p999 = p999;
  t.ci95.reset();
  return t;
}

inline sim::NodePoolResult v100_pool(std::string strategy, std::int64_t advertised) {
  sim::NodePoolResult pool;
  pool.name = "v100";
  pool.instance_type = "p3.8xlarge";
  pool.gpu_model = "V100-SXM2-16GB";
  pool.region = "us-east-1";
  pool.purchase_option = "on-demand";
  pool.strategy = std::move(strategy);
  pool.nodes = 1;
  pool.gpus_per_node = 4;
  pool.price = {from_dollars(12.24)};
  pool.price_source = "AWS price list API, 2026-07-20";
  if (pool.strategy == "timeSlicing") {
    pool.turn = microseconds(1049);
    pool.switch_cost = microseconds(110);
  }
  pool.advertised = {{"nvidia.com/gpu", advertised}};
  return pool;
}

inline sim::GpuResult v100(int index, double busy, double switching, Bytes peak) {
  sim::GpuResult gpu;
  gpu.node = "v100-0";
  gpu.index = index;
  gpu.model = "V100-SXM2-16GB";
  gpu.time_busy_ratio = busy;
  gpu.sm_active_ratio = busy * 0.55;
  gpu.context_switch_ratio = switching;
  gpu.memory_peak = peak;
  gpu.memory_total = mebibytes(16151);
  return gpu;
}

inline Diagnostic finding(Code code, std::string message, int line, std::string help = {}) {
  return make_diagnostic(code, {"aws-cifar10.yaml", line, 5, 9}, std::move(message),
                         std::move(help));
}

inline sim::WorkloadResult cifar10_jobs(double completed, Duration makespan) {
  sim::WorkloadResult w;
  w.name = "cifar10";
  w.kind = "Job";
  w.unit_name = "epoch";
  w.completed = completed;
  w.throughput_per_second = completed * 100 / to_seconds(makespan);
  w.goodput_per_second = w.throughput_per_second;
  w.left_behind.pods = 20;
  w.bound_by = "GPU";
  return w;
}

inline sim::ProvenanceCounts provenance() {
  return {0,
          7,
          4,
          {{"cifar10", "unitTime"},
           {"cifar10", "gpuBusy"},
           {"cifar10", "smActive"},
           {"cifar10", "cpu"}}};
}

inline sim::PodCounts pods(double submitted, std::int64_t running_max, std::int64_t pending_max,
                           double succeeded) {
  sim::PodCounts counts;
  counts.submitted = submitted;
  counts.running_max = running_max;
  counts.pending_max = pending_max;
  counts.succeeded = succeeded;
  return counts;
}

inline sim::VariantResult before() {
  sim::VariantResult v;
  v.name = "before";
  v.description = "One pod per GPU, as without the ConfigMap";
  v.strategy = "exclusive";
  v.seed = 42;
  v.replications = v.replications_asked = 5;
  v.makespan = summary(5, hours(1), hours(1), hours(1), hours(1));
  v.node_pools = {v100_pool("exclusive", 4)};
  v.pods = pods(5, 4, 1, 5);
  v.pods.pending_reasons = {"0/1 nodes are available: 1 Insufficient nvidia.com/gpu."};
  v.workloads = {cifar10_jobs(5, hours(1))};
  v.workloads[0].job_completion = summary(25, minutes(36), minutes(30), minutes(60), minutes(60));
  v.workloads[0].wait = summary(25, minutes(6), Duration{}, minutes(30), minutes(30));
  v.workloads[0].gpu_busy_share = 0.2375;
  v.workloads[0].bound_by = "waiting for a GPU";
  v.gpus = {v100(0, 0.38, 0, mebibytes(1853)), v100(1, 0.19, 0, mebibytes(1853)),
            v100(2, 0.19, 0, mebibytes(1853)), v100(3, 0.19, 0, mebibytes(1853))};
  v.nodes = {{"v100-0", "v100", 0.203}};
  v.cost.ledger = {from_dollars(12.24),
                   from_dollars(2.907),
                   from_dollars(9.303),
                   {},
                   {},
                   from_dollars(0.03),
                   {},
                   {},
                   {}};
  v.cost.per_job = from_dollars(2.448);
  v.cost.monthly = from_dollars(8935.2);
  v.findings = {finding(Code::PodPending, "1 of 5 pods waited 30m for a GPU", 22,
                        "share the GPUs, or add a node")};
  v.provenance = provenance();
  return v;
}

inline sim::VariantResult after() {
  sim::VariantResult v;
  v.name = "after";
  v.description = "replicas: 10 as published, TensorFlow's default allocator";
  v.strategy = "timeSlicing";
  v.seed = 42;
  v.replications = v.replications_asked = 5;
  v.makespan = summary(5, minutes(31), minutes(31), minutes(31), minutes(31));
  v.node_pools = {v100_pool("timeSlicing", 40)};
  v.pods = pods(20, 20, 0, 4);
  v.pods.failed = 16;
  v.pods.oom_kills = 96;
  v.pods.restarts = 80;
  v.workloads = {cifar10_jobs(4, minutes(31))};
  v.workloads[0].left_behind.oom_kills = 96;
  v.workloads[0].left_behind.failed = 16;
  v.workloads[0].job_completion = summary(20, minutes(31), minutes(31), minutes(31), minutes(31));
  v.workloads[0].wait = summary(100, Duration{}, Duration{}, Duration{}, Duration{});
  v.workloads[0].gpu_busy_share = 0.38;
  v.workloads[0].bound_by = "GPU memory";
  for (int i = 0; i < 4; ++i) v.gpus.push_back(v100(i, 0.38, 0.004, mebibytes(16100)));
  v.nodes = {{"v100-0", "v100", 0.325}};
  v.cost.ledger = {from_dollars(6.324),
                   from_dollars(2.40312),
                   from_dollars(3.83088),
                   from_dollars(0.025),
                   from_dollars(0.045),
                   from_dollars(0.02),
                   {},
                   {},
                   {}};
  v.cost.per_job = from_dollars(1.581);
  v.cost.monthly = from_dollars(8935.2);
  v.verdict = sim::judge(v, false);
  v.findings = {finding(Code::GpuMemGreedy, "cifar10 maps the whole V100 at start", 31,
                        "set TF_FORCE_GPU_ALLOW_GROWTH=true"),
                finding(Code::GpuOom, "16 of 20 pods ran out of GPU memory", 31)};
  v.provenance = provenance();
  return v;
}

inline sim::VariantResult after_memory_growth() {
  sim::VariantResult v;
  v.name = "after-memory-growth";
  v.description = "replicas: 10 and TF_FORCE_GPU_ALLOW_GROWTH=true";
  v.strategy = "timeSlicing";
  v.seed = 42;
  v.replications = v.replications_asked = 5;
  v.makespan = summary(5, hours(1), hours(1), hours(1), hours(1));
  v.node_pools = {v100_pool("timeSlicing", 40)};
  v.pods = pods(20, 20, 0, 20);
  v.workloads = {cifar10_jobs(20, hours(1))};
  v.workloads[0].job_completion = summary(100, minutes(59), minutes(59), minutes(60), minutes(60));
  v.workloads[0].wait = summary(100, Duration{}, Duration{}, Duration{}, Duration{});
  v.workloads[0].gpu_busy_share = 0.95;
  for (int i = 0; i < 4; ++i) v.gpus.push_back(v100(i, 0.905, 0.095, mebibytes(9265)));
  v.nodes = {{"v100-0", "v100", 0.97}};
  v.cost.ledger = {from_dollars(12.24),
                   from_dollars(10.9),
                   from_dollars(0.15),
                   from_dollars(1.16),
                   {},
                   from_dollars(0.03),
                   {},
                   {},
                   {}};
  v.cost.per_job = from_dollars(0.612);
  v.cost.monthly = from_dollars(8935.2);
  v.findings = {finding(Code::HostCpuOversubscribed, "20 pods want 52 of 32 vCPUs", 28,
                        "an instance type with more vCPUs per GPU, or fewer replicas")};
  v.provenance = provenance();
  return v;
}

inline sim::Result aws_demo() {
  sim::Result result;
  result.stamp.scenario = "aws-cifar10";
  result.stamp.scenario_sha256 = "9f3c1e0a5b7d2c4f6e8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6";
  result.stamp.seed = 42;
  result.stamp.replications = 5;
  result.stamp.price_date = "2026-07-20";
  result.variants = {before(), after(), after_memory_growth()};
  return result;
}

inline sim::RequestCounts requests(double answered, double in_objectives) {
  sim::RequestCounts counts;
  counts.arrived = counts.answered = answered;
  counts.in_objectives = in_objectives;
  return counts;
}

// Two services that share T4 GPUs, one of which misses its objective; a single replication, so
// that no interval can be given.
inline sim::Result voice() {
  sim::VariantResult v;
  v.name = "default";
  v.strategy = "timeSlicing";
  v.seed = 42;
  v.replications = v.replications_asked = 1;
  v.makespan = single_run(1, hours(1), hours(1), hours(1), hours(1));
  sim::NodePoolResult pool = v100_pool("timeSlicing", 12);
  pool.name = "t4";
  pool.instance_type = "g4dn.xlarge";
  pool.gpu_model = "T4";
  pool.nodes = 3;
  pool.gpus_per_node = 1;
  pool.price = {from_dollars(0.526)};
  pool.advertised = {{"nvidia.com/gpu.shared", 12}};
  v.node_pools = {pool};
  v.pods = pods(12, 12, 0, 0);
  sim::WorkloadResult asr;
  asr.name = "asr";
  asr.kind = "Service";
  asr.unit_name = "request";
  asr.completed = 107958;
  asr.throughput_per_second = 29.988333;
  asr.goodput_per_second = 29.97;
  asr.requests = requests(107958, 107893.2);
  asr.latency = single_run(107958, milliseconds(87), milliseconds(58), milliseconds(241),
                           milliseconds(412), milliseconds(655));
  asr.objectives = {{"latencyP95", milliseconds(300), milliseconds(241), {}, true},
                    {"latencyP99", milliseconds(500), milliseconds(412), {}, true}};
  asr.gpu_busy_share = 0.41;
  asr.bound_by = "GPU";
  sim::WorkloadResult tts = asr;
  tts.name = "tts";
  tts.completed = 36000;
  tts.throughput_per_second = 10;
  tts.goodput_per_second = 9.6;
  tts.requests = requests(36000, 34560);
  tts.latency = single_run(36000, milliseconds(201), milliseconds(171), milliseconds(488),
                           microseconds(812345), milliseconds(1310));
  tts.objectives = {{"latencyP99", milliseconds(800), microseconds(812345), {}, false}};
  tts.gpu_busy_share = 0.38;
  v.workloads = {asr, tts};
  for (int node = 0; node < 3; ++node) {
    const std::string name = "t4-" + std::to_string(node);
    sim::GpuResult t4;
    t4.node = name;
    t4.model = "T4";
    t4.time_busy_ratio = 0.79 + 0.01 * node;
    t4.context_switch_ratio = 0.061;
    t4.memory_peak = mebibytes(11469);
    t4.memory_total = mebibytes(14910);
    v.gpus.push_back(t4);
    v.nodes.push_back({name, "t4", 0.51});
  }
  v.cost.ledger = {from_dollars(1.578),
                   from_dollars(1.2),
                   from_dollars(0.236),
                   from_dollars(0.09),
                   {},
                   from_dollars(0.027),
                   from_dollars(0.025),
                   {},
                   {}};
  v.cost.per_1k_requests_in_slo = from_dollars(0.011);
  v.cost.monthly = from_dollars(1151.94);
  v.findings = {
      finding(Code::ObjectiveMissed, "tts: latency p99 is 812 ms, the limit is 800 ms", 40)};
  v.provenance = {4, 2, 1, {{"tts", "loadTime"}}};
  v.verdict = sim::judge(v, false);

  sim::Result result = aws_demo();
  result.stamp.scenario = "voice-t4";
  result.stamp.replications = 1;
  result.variants = {v};
  return result;
}

// The voice platform with a budget that it exceeds and a figure that no run has.
inline sim::Result with_policies() {
  using Verdict = sim::PolicyResult::Verdict;
  using scenarios::PolicySeverity;
  sim::Result result = voice();
  result.variants.front().policies = {
      {"budget",
       "cost.monthly <= 800",
       Verdict::Fail,
       PolicySeverity::Deny,
       {{"cost.monthly", "1151.94 USD"}}},
      {"idle", "gpu.busy >= 80%", Verdict::Fail, PolicySeverity::Warn, {{"gpu.busy", "51 %"}}},
      {"crashes", "pods.failed == 0", Verdict::Pass, PolicySeverity::Deny, {{"pods.failed", "0"}}},
      {"room", "headroom >= 1.2", Verdict::Unknown, PolicySeverity::Deny, {{"headroom", ""}}}};
  result.variants.front().verdict = sim::judge(result.variants.front(), false);
  return result;
}

}  // namespace slicewise::reports::samples
