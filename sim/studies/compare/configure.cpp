#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "../../world/catalogue_names.hpp"
#include "candidates.hpp"

namespace slicewise::sim {
namespace {

using scenarios::NodePool;
using scenarios::Scenario;
using scenarios::Workload;

void ask_for_one_gpu(Workload& workload) {
  scenarios::ExtendedRequest request;
  request.name = {std::string(kGpuResource), workload.pod.where};
  if (!workload.pod.extended.empty()) request.name.where = workload.pod.extended.front().name.where;
  workload.pod.extended = {request};
  std::erase_if(workload.pod.node_selector,
                [](const auto& label) { return names_the_node(label.first); });
}

scenarios::PluginSharing shared(int replicas, const SourceLocation& where) {
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{std::string(kGpuResource), where}, replicas, where});
  sharing.where = where;
  return sharing;
}

void cut(NodePool& pool, const Configuration& configuration) {
  if (configuration.mig_profile.empty()) return;
  scenarios::MigLayout layout;
  std::string name = "all-" + configuration.mig_profile;
  std::ranges::replace(name, '+', '.');
  layout.config = {name, pool.instance_type.where};
  pool.mig = layout;
}

void share(NodePool& pool, const Configuration& configuration,
           const std::optional<scenarios::MpsSettings>& settings,
           const std::optional<scenarios::VgpuSettings>& vgpu) {
  const SourceLocation where = pool.instance_type.where;
  const auto use_mps = [&](bool uncapped) {
    pool.device_plugin->mps = shared(configuration.replicas, where);
    if (!settings && !uncapped && !configuration.forced) return;
    pool.mps = settings.value_or(scenarios::MpsSettings{});
    pool.mps->uncapped = uncapped;
    pool.mps->active_threads.reset();
    pool.mps->force = configuration.forced;
  };
  switch (configuration.strategy) {
    case Strategy::Exclusive:
    case Strategy::Mig:
      return;
    case Strategy::TimeSlicing:
    case Strategy::MigTimeSlicing:
      pool.device_plugin->time_slicing = shared(configuration.replicas, where);
      return;
    case Strategy::Mps:
    case Strategy::MigMps:
      return use_mps(false);
    case Strategy::MpsUncapped:
      return use_mps(true);
    case Strategy::Vgpu:
      if (!configuration.forced) return;  // a fraction of a GPU is one by itself
      pool.vgpu = vgpu.value_or(scenarios::VgpuSettings{});
      pool.vgpu->policy = scenarios::VgpuSettings::Policy::FixedShare;
      pool.vgpu->per_gpu = configuration.replicas;
      return;
  }
}

}  // namespace

bool names_the_node(std::string_view label) {
  return label.starts_with("nvidia.com/") || label.ends_with("/instance-type") ||
         label.starts_with("karpenter.k8s.aws/instance-") ||
         label == "k8s.amazonaws.com/accelerator" || label == "nos.nebuly.com/gpu-partitioning";
}

Scenario in_configuration(const Scenario& base, const Configuration& configuration,
                          const models::Catalogue& catalogue) {
  Scenario scenario = base;
  NodePool& pool = scenario.node_pools.front();
  const models::InstanceType* measured_on = catalogue.find_instance(pool.instance_type.value);
  const models::InstanceType* type = catalogue.find_instance(configuration.instance_type);
  if (measured_on == nullptr || type == nullptr || measured_on->gpu_model != type->gpu_model) {
    pool.gpu = {};  // figures of another GPU
  }
  pool.instance_type.value = configuration.instance_type;
  pool.nodes = std::max(1, configuration.nodes);
  pool.most_nodes.reset();  // what is compared is nodes that are there
  const std::optional<scenarios::MpsSettings> mps = pool.mps;
  const std::optional<scenarios::VgpuSettings> vgpu = pool.vgpu;
  pool.device_plugin.emplace();
  if (base.node_pools.front().device_plugin) {
    pool.device_plugin->allocation_policy =
        base.node_pools.front().device_plugin->allocation_policy;
  }
  pool.mig.reset();
  pool.mps.reset();
  pool.vgpu.reset();
  pool.virtual_gpu.reset();
  pool.nos.reset();
  std::erase_if(scenario.workloads, [](const Workload& workload) { return workload.count == 0; });
  cut(pool, configuration);
  share(pool, configuration, mps, vgpu);
  for (Workload& workload : scenario.workloads) {
    ask_for_one_gpu(workload);
    // "The pool's own GPU" must stay the one that the scenario names.
    const bool own = workload.measured && workload.measured->device.value.empty();
    if (own && workload.profile.value.empty() && measured_on != nullptr) {
      workload.measured->device.value = measured_on->gpu_model;
    }
  }
  return scenario;
}

Diagnostics changes_of(const Scenario& base) {
  Diagnostics notes;
  for (const Workload& workload : base.workloads) {
    if (workload.count == 0) continue;
    for (const auto& [label, value] : workload.pod.node_selector) {
      if (!names_the_node(label)) continue;
      notes.push_back(make_diagnostic(
          Code::SettingConflict, workload.pod.where,
          fmt::format("the nodeSelector {}={} of \"{}\" is left out: it names one kind of node",
                      label, value, workload.name.value)));
      notes.back().severity = Severity::Note;
    }
    if (!workload.pod.extended.empty()) continue;
    notes.push_back(
        make_diagnostic(Code::GpuNotRequested, workload.pod.where,
                        fmt::format("the pods of \"{}\" ask for one GPU here; in the scenario they "
                                    "use it without asking",
                                    workload.name.value)));
    notes.back().severity = Severity::Note;
  }
  return notes;
}

}  // namespace slicewise::sim
