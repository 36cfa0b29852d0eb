#include "scenario_samples.hpp"

#include "slicewise/sim/pool_choice.hpp"

namespace slicewise::reports {
namespace {

using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PluginSharing;
using scenarios::Scenario;
using scenarios::SharedResource;
using scenarios::Workload;
using scenarios::WorkloadKind;

models::GpuModel gpu(std::string name, std::string product, std::string capability, bool mig) {
  models::GpuModel out;
  out.name = std::move(name);
  out.kubernetes_product = std::move(product);
  out.compute_capability = std::move(capability);
  out.supports_mig = mig;
  return out;
}

models::InstanceType instance(std::string name, std::string gpu_model, int count) {
  models::InstanceType out;
  out.name = std::move(name);
  out.gpu_model = std::move(gpu_model);
  out.gpu_count = count;
  return out;
}

PluginSharing sharing(int replicas, bool rename) {
  PluginSharing out;
  out.rename_by_default = rename;
  SharedResource resource;
  resource.name.value = "nvidia.com/gpu";
  resource.replicas = replicas;
  out.resources = {resource};
  return out;
}

Workload workload(std::string name, WorkloadKind kind, std::string resource) {
  Workload out;
  out.name.value = std::move(name);
  out.kind = kind;
  out.pod.cpu_request = {1500};
  out.pod.memory_request = gibibytes(4);
  scenarios::ExtendedRequest request;
  request.name.value = std::move(resource);
  out.pod.extended = {request};
  return out;
}

Scenario scenario(std::string name, std::vector<NodePool> pools, std::vector<Workload> workloads) {
  Scenario out;
  out.name = std::move(name);
  out.node_pools = std::move(pools);
  out.workloads = std::move(workloads);
  return out;
}

Scenario several_pools() {
  NodePool flags = whole_gpus("t4", "g4dn.12xlarge");
  flags.device_plugin.emplace();
  flags.device_plugin->other_flags = {{"flags.failOnInitError", "false"},
                                      {"flags.plugin.passDeviceSpecs", "true"},
                                      {"flags.plugin.deviceListStrategy", "volume-mounts"}};
  Workload service = workload("asr", WorkloadKind::Service, "nvidia.com/gpu.shared");
  service.namespace_name = "voice";
  service.count = 3;
  service.pod.cpu_limit = Millicores{2000};
  service.pod.env = {{"MODE", "on"}};
  service.pod.tolerations = {{"nvidia.com/gpu", "Equal", "present", "NoSchedule"}};
  service.pod.node_selector = {{"eks.amazonaws.com/nodegroup", "l4"}};
  return scenario(
      "several pools",
      {whole_gpus("v100", "p3.8xlarge"), std::move(flags), time_sliced("l4", "g6.xlarge", 4, true),
       time_sliced("l4b", "g6.xlarge", 4, true)},
      {workload("train", WorkloadKind::Job, "nvidia.com/gpu"), std::move(service)});
}

Scenario mig_time_slicing() {
  NodePool pool = time_sliced("a100", "p4d.24xlarge", 2, true);
  pool.mig.emplace();
  pool.mig->strategy = MigStrategy::Mixed;
  pool.mig->config.value = "all-1g.5gb";
  pool.device_plugin->time_slicing->resources.front().name.value = "nvidia.com/mig-1g.5gb";
  return scenario("mig", {std::move(pool)},
                  {workload("tenant", WorkloadKind::Job, "nvidia.com/mig-1g.5gb.shared")});
}

// A layout of the scenario's own that leaves two GPUs out, and a pool that is not cut.
Scenario mig_layouts() {
  NodePool pool = whole_gpus("a100", "p4d.24xlarge");
  pool.mig.emplace();
  pool.mig->strategy = MigStrategy::Mixed;
  pool.mig->config.value = "six-for-small";
  scenarios::MigPartedEntry small;
  small.devices = {0, 1, 2, 3, 4};
  small.mig_devices = {{{"1g.5gb", {}}, 7}};
  scenarios::MigPartedEntry large;
  large.devices = {5};
  large.mig_devices = {{{"3g.20gb", {}}, 1}, {{"1g.5gb+me", {}}, 1}};
  pool.mig->configs["six-for-small"] = {small, large};
  pool.taints = {{"nvidia.com/gpu", "true", "NoSchedule"}};
  Workload users = workload("lab", WorkloadKind::Notebook, "nvidia.com/mig-1g.5gb");
  users.count = 60;
  return scenario(
      "mig layouts", {std::move(pool), time_sliced("t4", "g4dn.12xlarge", 4, true)},
      {workload("tenant", WorkloadKind::Service, "nvidia.com/mig-3g.20gb"), std::move(users)});
}

}  // namespace

models::Catalogue sample_catalogue() {
  models::Catalogue out;
  out.gpus = {gpu("V100-SXM2-16GB", "Tesla-V100-SXM2-16GB", "7.0", false),
              gpu("T4", "Tesla-T4", "7.5", false),
              gpu("A100-SXM4-40GB", "NVIDIA-A100-SXM4-40GB", "8.0", true),
              gpu("L4", "", "8.9", false)};
  out.instances = {instance("p3.8xlarge", "V100-SXM2-16GB", 4), instance("g4dn.12xlarge", "T4", 4),
                   instance("p4d.24xlarge", "A100-SXM4-40GB", 8), instance("g6.xlarge", "L4", 1)};
  return out;
}

NodePool whole_gpus(std::string name, std::string instance_type) {
  NodePool out;
  out.name.value = std::move(name);
  out.instance_type.value = std::move(instance_type);
  return out;
}

NodePool time_sliced(std::string name, std::string instance_type, int replicas, bool rename) {
  NodePool out = whole_gpus(std::move(name), std::move(instance_type));
  out.device_plugin.emplace();
  out.device_plugin->time_slicing = sharing(replicas, rename);
  return out;
}

NodePool with_mps(std::string name, std::string instance_type, int replicas) {
  NodePool out = whole_gpus(std::move(name), std::move(instance_type));
  out.device_plugin.emplace();
  out.device_plugin->mps = sharing(replicas, false);
  return out;
}

Scenario demo_after() {
  Workload cifar10 = workload("cifar10", WorkloadKind::Deployment, "nvidia.com/gpu");
  cifar10.count = 20;
  cifar10.gpu_memory.allocator = scenarios::Allocator::Greedy;
  return scenario("after", {time_sliced("v100", "p3.8xlarge", 10)}, {std::move(cifar10)});
}

namespace {

// What a plan bought of spot, but for one node that stays.
Scenario mixed_purchase(const Workload& job) {
  sim::PoolChoice choice;
  choice.instance_type = "g4dn.12xlarge";
  choice.strategy = sim::Strategy::TimeSlicing;
  choice.replicas = 4;
  choice.purchase = "spot";
  choice.workloads = {job.name.value};
  choice.nodes = 3;
  choice.on_demand = 1;
  return sim::planned_scenario(scenario("mixed", {whole_gpus("t4", "g4dn.12xlarge")}, {job}),
                               {&choice, 1}, sample_catalogue());
}

Workload scaled_service(const std::string& name, scenarios::Autoscaling::Metric metric, int least) {
  Workload out = workload(name, WorkloadKind::Service, "nvidia.com/gpu");
  scenarios::Autoscaling& scaling = out.autoscaling.emplace();
  scaling.min_replicas = least;
  scaling.max_replicas = out.count = 8;
  scaling.metric = metric;
  scaling.target = 4.5;
  return out;
}

NodePool tainted() {
  NodePool pool = time_sliced("t4", "g4dn.12xlarge", 4);
  pool.taints = {{"dedicated", "gpu", "NoSchedule"}, {"team", "", "NoExecute"}};
  return pool;
}

// Services that are scaled by each metric, and Jobs of several priorities.
Scenario scaled_services() {
  using Metric = scenarios::Autoscaling::Metric;
  std::vector<Workload> workloads{scaled_service("queue", Metric::Queue, 1),
                                  scaled_service("chat", Metric::Concurrency, 2),
                                  scaled_service("rate", Metric::RequestRate, 0),
                                  scaled_service("busy", Metric::GpuUtilization, 1)};
  workloads[1].llm.emplace();
  workloads[1].autoscaling->schedule.push_back({*scenarios::parse_cron("0 7 * * 1-5"),
                                                *scenarios::parse_cron("0 20 * * 1-5"),
                                                "Europe/Berlin",
                                                6,
                                                {}});
  workloads.push_back(scaled_service("office", Metric::Queue, 0));
  workloads.back().autoscaling->target = 0;
  workloads.back().autoscaling->schedule.push_back(
      {*scenarios::parse_cron("30 6 * * *"), *scenarios::parse_cron("0 22 * * *"), "", 4, {}});
  workloads[2].autoscaling->sync_period = seconds(30);
  Workload urgent = workload("urgent", WorkloadKind::Job, "nvidia.com/gpu");
  urgent.priority = 1000;
  urgent.restart_policy = scenarios::RestartPolicy::Never;
  urgent.count = 3;
  urgent.backoff_limit = 2;
  Workload filler = urgent;
  filler.name.value = "filler";
  filler.priority = -5;
  filler.preemption_policy = scenarios::PreemptionPolicy::Never;
  filler.count = 1;
  Workload none = urgent;
  none.name.value = "none";
  none.count = 0;
  for (Workload* one : {&urgent, &filler, &none}) workloads.push_back(std::move(*one));
  return scenario("scaled", {time_sliced("t4", "g4dn.12xlarge", 2)}, std::move(workloads));
}

}  // namespace

std::vector<std::pair<std::string, Scenario>> sample_scenarios(int chart_minor) {
  const Workload job = workload("train", WorkloadKind::Job, "nvidia.com/gpu");
  std::vector<std::pair<std::string, Scenario>> out = {
      {"demo-after", demo_after()},
      {"demo-before", scenario("before", {whole_gpus("v100", "p3.8xlarge")}, {job})},
      {"odd-names", scenario("after: \"it\"\nworks # really", {time_sliced("1e3", "g6.xlarge", 2)},
                             {workload("0123", WorkloadKind::Job, "nvidia.com/gpu")})},
      {"several-pools", several_pools()},
      {"mig-time-slicing", mig_time_slicing()},
      {"mig-layouts", mig_layouts()},
      {"mixed-purchase", mixed_purchase(job)},
      {"scaled-services", scaled_services()},
      {"tainted", scenario("tainted", {tainted()}, {job})},
  };
  if (chart_minor >= 15) {
    NodePool pool = with_mps("t4", "g4dn.12xlarge", 8);
    pool.device_plugin->other_flags = {{"flags.mpsRoot", "/var/run/mps"}};
    out.emplace_back("mps", scenario("mps", {std::move(pool)}, {job}));
  }
  if (chart_minor >= 20) {
    NodePool pool = time_sliced("v100", "p3.8xlarge", 10);
    pool.device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
    out.emplace_back("packed", scenario("packed", {std::move(pool)}, {job}));
  }
  return out;
}

}  // namespace slicewise::reports
