#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

// Scenarios built in code, after the AWS time-slicing demo: CIFAR-10 training on V100.
namespace slicewise::sim::demo {

inline const models::Catalogue& catalogue() {
  static const models::Catalogue loaded = models::load_catalogue();
  return loaded;
}

// `nodes` x p3.8xlarge (4 x V100, 12.24 USD/h in us-east-1); replicas 0 = no sharing.
inline scenarios::NodePool pool(int replicas, int nodes = 1) {
  scenarios::NodePool pool;
  pool.name.value = "v100";
  pool.instance_type.value = "p3.8xlarge";
  pool.nodes = nodes;
  if (replicas > 0) {
    scenarios::PluginSharing sharing;
    sharing.resources.push_back({{"nvidia.com/gpu", {}}, replicas, {}});
    pool.device_plugin.emplace().time_slicing = sharing;
  }
  return pool;
}

// 100 epochs of 18 s, the GPU busy 38 % of the time.
inline scenarios::Workload training(int count) {
  scenarios::Workload w;
  w.name.value = "cifar10";
  w.kind = scenarios::WorkloadKind::Job;
  w.count = count;
  w.pod.cpu_request = {1000};
  w.pod.memory_request = gibibytes(4);
  w.pod.extended.push_back({{"nvidia.com/gpu", {}}, 1, {}});
  w.gpu_memory.resident = mebibytes(1400);
  w.work = scenarios::Work{100, "epoch", 1563};
  scenarios::Measured m;
  m.device.value = "V100-SXM2-16GB";
  m.unit_time = seconds(18);
  m.gpu_busy = 0.38;
  m.sm_active = 0.21;
  w.measured = m;
  return w;
}

// One request stream, `rate` requests/s over `replicas`, GPU time `mean` each.
inline scenarios::Workload service(int replicas, double rate, Duration mean,
                                   scenarios::ServiceTime::Law law) {
  scenarios::Workload w;
  w.name.value = "api";
  w.kind = scenarios::WorkloadKind::Service;
  w.count = replicas;
  w.restart_policy = scenarios::RestartPolicy::Always;
  w.pod.extended.push_back({{"nvidia.com/gpu", {}}, 1, {}});
  w.gpu_memory.resident = mebibytes(500);
  scenarios::Measured m;
  m.device.value = "V100-SXM2-16GB";
  m.request_gpu_time = scenarios::ServiceTime{law, mean, 0.5};
  w.measured = m;
  w.traffic.emplace().mean = {rate};
  return w;
}

inline scenarios::Scenario scenario(scenarios::NodePool pool,
                                    std::vector<scenarios::Workload> workloads) {
  scenarios::Scenario s;
  s.name = "test";
  s.replications = 1;
  s.node_pools.push_back(std::move(pool));
  s.workloads = std::move(workloads);
  return s;
}

inline World world(const scenarios::Scenario& s) {
  auto built = build_world(s, catalogue());
  if (!built) throw std::runtime_error(built.error().front().message);
  return std::move(*built);
}

// The first error that keeps a scenario from being a world; "": there is none.
inline std::string refusal(const scenarios::Scenario& s) {
  const auto built = build_world(s, catalogue());
  if (built) return "";
  const auto error = std::ranges::find(built.error(), Severity::Error, &Diagnostic::severity);
  return error == built.error().end() ? "" : error->message;
}

inline bool has(const Diagnostics& diagnostics, Code code) {
  return std::ranges::any_of(diagnostics, [&](const Diagnostic& d) { return d.code == code; });
}

inline VariantResult result(const scenarios::Scenario& s, int threads = 1) {
  RunOptions options;
  options.threads = threads;
  return simulate(world(s), options).value();
}

}  // namespace slicewise::sim::demo
