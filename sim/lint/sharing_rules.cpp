#include <algorithm>

#include <fmt/format.h>

#include "lint_rules.hpp"

// Configs of the device plugin on the nodes that use them.
namespace slicewise::sim::lint {
namespace {

using scenarios::FileSharing;
using scenarios::PluginConfigFile;
using scenarios::ReplicatedResource;

constexpr std::int64_t kMebibyte = 1 << 20;

// Before compute capability 7.5 the plugin's daemon allows 16 clients.
// Source: github.com/NVIDIA/k8s-device-plugin cmd/mps-control-daemon/mps/device.go.
void judge_mps_on_gpu(const LintInput& input, const ReplicatedResource& shared,
                      const models::GpuModel& gpu) {
  constexpr std::int64_t kMostOnVolta = 16;
  if (gpu.compute_capability.starts_with("7.0") && shared.replicas > kMostOnVolta) {
    input.tell(Code::MpsTooManyClients, shared.replicas_where,
               fmt::format("{}: invalid device maximum allowed replicas exceeded: {} > {}",
                           gpu.name, shared.replicas, kMostOnVolta),
               "at most 16 replicas below compute capability 7.5");
  }
  constexpr std::int64_t kTight = 1024;  // MiB
  const std::int64_t each = gpu.memory_total.count / kMebibyte / shared.replicas;
  if (each < kTight) {
    input.tell(
        Code::MpsContextTight, shared.replicas_where,
        fmt::format("{}: {} MiB for each process, the CUDA context included", gpu.name, each),
        "fewer replicas");
  }
}

void judge_mps(const LintInput& input, const NodeOffer& offer) {
  const PluginConfigFile& config = *offer.config;
  const bool partitioned = !offer.layouts.empty() ||
                           (offer.mig_label != nullptr && offer.mig_label->value != "all-disabled");
  if (partitioned) {
    input.tell(Code::MpsOnMig, config.sharing_where,
               "sharing using MPS is not supported for MIG devices",
               "time-slicing for these nodes, or no MIG layout");
  }
  for (const ReplicatedResource& shared : config.resources) {
    for (const models::InstanceType* type : offer.types) {
      const models::GpuModel* gpu = input.catalogue.find_gpu(type->gpu_model);
      if (gpu != nullptr && shared.replicas > 1) judge_mps_on_gpu(input, shared, *gpu);
    }
  }
}

// Shared names that the nodes do not have.
void judge_names(const LintInput& input, const NodeOffer& offer) {
  const PluginConfigFile& config = *offer.config;
  if (offer.group == nullptr || offer.may_have_mig || offer.group->bottlerocket) return;
  for (const ReplicatedResource& shared : config.resources) {
    const std::string name = config.renames ? shared.name + ".shared" : shared.name;
    if (offer.offers(name)) continue;
    const bool has_mig = !offer.layouts.empty();
    input.tell_as(has_mig ? Severity::Warning : Severity::Error, Code::SharedResourceAbsent,
                  shared.where,
                  fmt::format("nodes of {} have no {} to share", offer.group->name.substr(0, 60),
                              shared.name.substr(0, 60)),
                  has_mig ? "with migStrategy mixed name each profile: nvidia.com/mig-<profile>"
                          : "share nvidia.com/gpu, or give the nodes a MIG layout");
  }
}

// What holds on every node with such a config.
void remind(const LintInput& input, const PluginConfigFile& config) {
  if (config.sharing == FileSharing::TimeSlicing) {
    input.tell(Code::GpuMemUnlimited, config.sharing_where,
               "time-slicing sets no memory limit: all pods of a GPU must fit it together",
               "limit memory in each program, or use MPS or MIG");
  } else if (config.sharing == FileSharing::Mps) {
    input.tell_as(Severity::Note, Code::MpsPerProcessLimits, config.sharing_where,
                  "memory and threads are limited for each CUDA process, not for each pod",
                  "one CUDA process per pod");
    input.tell_as(Severity::Note, Code::GpuExclusiveProcess, config.sharing_where,
                  "the GPUs are in mode EXCLUSIVE_PROCESS: what does not use MPS cannot open them",
                  "no other device plugin and no CUDA process of the host on these nodes");
  }
}

}  // namespace

void lint_sharing(const LintInput& input) {
  for (const PluginConfigFile& config : input.files.configs) {
    remind(input, config);
    const bool by_chart = std::ranges::any_of(input.files.charts, [](const auto& chart) {
      return chart.chart != scenarios::ChartValues::Chart::Dra;
    });
    if (config.sharing != FileSharing::Mps || config.has_mps_root || by_chart) continue;
    const bool is_static = input.files.static_plugin.has_value();
    input.tell_as(is_static ? Severity::Error : Severity::Note, Code::MpsRootMissing,
                  config.sharing_where, "using MPS requires --mps-root to be specified",
                  "the chart does so; without it set flags.mpsRoot or MPS_ROOT");
  }
  for (const NodeOffer& offer : input.offers) {
    if (offer.config == nullptr || offer.config->sharing == FileSharing::None) continue;
    if (offer.group != nullptr && offer.group->bottlerocket) remind(input, *offer.config);
    if (offer.config->sharing == FileSharing::Mps) judge_mps(input, offer);
    judge_names(input, offer);
  }
}

}  // namespace slicewise::sim::lint
