#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "lint_rules.hpp"

// MIG layouts on the GPUs that they are for. mig-parted checks none of this.
namespace slicewise::sim::lint {
namespace {

using models::MigCount;
using models::MigGeometry;
using scenarios::KeyValue;
using scenarios::MigConfigFile;
using scenarios::MigPartFile;

std::vector<MigCount> counts_of(const MigPartFile& part) {
  std::vector<MigCount> counts;
  for (const auto& count : part.counts) {
    counts.push_back({count.resource, static_cast<int>(count.amount)});
  }
  return counts;
}

bool knows_all(const MigGeometry& geometry, const MigPartFile& part) {
  return std::ranges::all_of(part.counts, [&](const auto& count) {
    return contains(geometry.profiles, count.resource, &models::MigProfile::name);
  });
}

void judge_on(const LintInput& input, const MigPartFile& part, const MigGeometry& geometry,
              const SourceLocation& fallback) {
  const auto placed = models::place_instances(geometry, counts_of(part));
  if (!placed) {
    const models::MigRefusal& refusal = placed.error();
    const bool has_place = refusal.entry && *refusal.entry < part.counts.size();
    const SourceLocation& where = has_place             ? part.counts[*refusal.entry].where
                                  : part.counts.empty() ? fallback
                                                        : part.counts.front().where;
    return input.tell(refusal.code, where,
                      fmt::format("{}: {}", geometry.gpu_model, refusal.message), refusal.help);
  }
  const int used = std::accumulate(
      placed->begin(), placed->end(), 0,
      [](int sum, const auto& instance) { return sum + instance.profile->compute_slices; });
  if (used > 0 && used < geometry.compute_slices) {
    input.tell(Code::MigSlicesUnused, part.counts.front().where,
               fmt::format("{}: {} of {} compute slices are in use", geometry.gpu_model, used,
                           geometry.compute_slices),
               fmt::format("slicewise get mig-profiles --gpu {}", geometry.gpu_model));
  }
}

// By the filter of the entry, or by any GPU that has profiles of these names.
void judge_part(const LintInput& input, const MigPartFile& part) {
  if (!part.enabled || part.counts.empty()) return;
  if (!part.filters.empty()) {
    for (const std::string& filter : part.filters) {
      const MigGeometry* geometry = geometry_of_filter(input.catalogue, filter);
      if (geometry != nullptr) judge_on(input, part, *geometry, part.where);
    }
    return;
  }
  const MigGeometry* first = nullptr;
  for (const MigGeometry& geometry : input.catalogue.mig) {
    if (!knows_all(geometry, part)) continue;
    if (models::place_instances(geometry, counts_of(part))) {
      if (first == nullptr) judge_on(input, part, geometry, part.where);
      return;
    }
    if (first == nullptr) first = &geometry;
  }
  if (first != nullptr) return judge_on(input, part, *first, part.where);
  // Boards that EC2 does not have are none of the catalogue's.
  input.tell_as(Severity::Warning, Code::MigConfigUnknown, part.counts.front().where,
                "no GPU of the catalogue has all these profiles",
                "slicewise get mig-profiles lists the profiles of each GPU");
}

void judge_own_layout(const LintInput& input, const NodeOffer& offer, const MigConfigFile& config) {
  for (const models::InstanceType* type : offer.types) {
    const MigGeometry* geometry = input.catalogue.find_mig(type->gpu_model);
    if (geometry == nullptr) continue;
    for (const MigPartFile& part : config.parts) {
      if (part.enabled && part.filters.empty()) judge_on(input, part, *geometry, part.where);
    }
  }
}

void judge_uniform(const LintInput& input, const NodeOffer& offer) {
  if (offer.strategy != "single") return;
  for (const ChosenLayout& layout : offer.layouts) {
    const bool mixed = std::ranges::any_of(
        layout.counts, [&](const auto& c) { return c.first != layout.counts.front().first; });
    if (!mixed && !layout.is_partial) continue;
    input.tell(Code::MigNotUniform, offer.mig_label->where,
               mixed ? "more than one MIG device type present on node"
                     : "all devices on the node must be configured with the same migEnabled value",
               "migStrategy mixed, or one profile for all GPUs of the node");
  }
}

void judge_chosen(const LintInput& input, const NodeOffer& offer) {
  const KeyValue& label = *offer.mig_label;
  if (label.value == "all-disabled") return;
  input.tell(Code::MigDrainFirst, label.where,
             "changing this label on a node in use fails while pods hold its GPUs",
             "cordon and drain first: mig-manager evicts no pod of yours");
  const auto own = std::ranges::find(input.files.mig_configs, label.value, &MigConfigFile::name);
  const bool has_mig = std::ranges::any_of(offer.types, [&](const auto* type) {
    const models::GpuModel* gpu = input.catalogue.find_gpu(type->gpu_model);
    return gpu != nullptr && gpu->supports_mig;
  });
  if (!offer.types.empty() && !has_mig) {
    return input.tell(
        Code::MigUnsupported, label.where,
        fmt::format("{} has no MIG: the label changes nothing", offer.types.front()->gpu_model),
        "p4d, p4de, p5, p5e, p5en and p6 have it; else use time-slicing");
  }
  if (own != input.files.mig_configs.end()) {
    judge_own_layout(input, offer, *own);
  } else {
    for (const auto* type : offer.types) {
      const MigGeometry* geometry = input.catalogue.find_mig(type->gpu_model);
      if (geometry == nullptr) continue;
      const auto shipped = models::shipped_mig_config(label.value, *geometry);
      if (shipped) continue;
      // A layout of one's own may be in a file that is not here, but all-... is built in.
      const bool may_be_own = input.files.mig_configs.empty() && !label.value.starts_with("all-");
      input.tell_as(may_be_own ? Severity::Warning : Severity::Error, Code::MigConfigUnknown,
                    label.where, shipped.error().message, shipped.error().help);
    }
  }
  judge_uniform(input, offer);
  if (offer.strategy == "none" && !offer.layouts.empty() && offer.config_is_known) {
    input.tell(Code::MigNotAdvertised, label.where,
               "with migStrategy none the plugin counts GPUs, not MIG devices",
               "set migStrategy: single or mixed");
  }
  for (const scenarios::ChartValues& chart : input.files.charts) {
    const bool is_ampere = std::ranges::any_of(
        offer.types, [](const auto* type) { return type->gpu_model.starts_with("A100"); });
    if (!is_ampere || !chart.manages_mig || chart.reboots) continue;
    input.tell(Code::MigNeedsReboot, chart.where,
               "an A100 in EC2 may refuse the reset that its MIG mode needs",
               "migManager.env: [{name: WITH_REBOOT, value: \"true\"}]");
  }
}

// Bottlerocket's name of a board.
std::string_view bottlerocket_model(std::string_view gpu) {
  if (gpu == "A100-SXM4-40GB") return "a100.40gb";
  if (gpu == "A100-SXM4-80GB") return "a100.80gb";
  if (gpu == "H100-SXM5-80GB") return "h100.80gb";
  if (gpu == "H200-SXM-141GB") return "h200.141gb";
  if (gpu == "B200") return "b200.180gb";
  return gpu == "B300" ? "b300.269gb" : "";
}

void judge_bottlerocket(const LintInput& input, const NodeOffer& offer) {
  const scenarios::NodeGroupFile& group = *offer.group;
  for (const models::InstanceType* type : offer.types) {
    const MigGeometry* geometry = input.catalogue.find_mig(type->gpu_model);
    if (geometry == nullptr) {
      input.tell(Code::MigUnsupported, group.bottlerocket_where,
                 fmt::format("{} has no MIG", type->gpu_model),
                 "remove device-partitioning-strategy, or use p4d, p5 or later");
      continue;
    }
    const auto profile = std::ranges::find(group.bottlerocket_mig,
                                           bottlerocket_model(type->gpu_model), &KeyValue::key);
    if (profile == group.bottlerocket_mig.end()) {
      input.tell(Code::BottlerocketMig, group.bottlerocket_where,
                 fmt::format("no mig.profile for {}: it gets the profile for one instance",
                             bottlerocket_model(type->gpu_model)),
                 "add its key; quote it in TOML");
      continue;
    }
    const bool is_count = profile->value.find_first_not_of("0123456789") == std::string::npos;
    const bool known = contains(geometry->profiles, profile->value, &models::MigProfile::name);
    if (is_count || known) continue;
    input.tell(Code::MigConfigUnknown, profile->where,
               fmt::format("{} has no profile {}", type->gpu_model, profile->value.substr(0, 40)),
               fmt::format("slicewise get mig-profiles --gpu {}", type->gpu_model));
  }
}

}  // namespace

void lint_mig_layouts(const LintInput& input) {
  for (const MigConfigFile& config : input.files.mig_configs) {
    for (const MigPartFile& part : config.parts) judge_part(input, part);
  }
  for (const NodeOffer& offer : input.offers) {
    if (offer.mig_label != nullptr) judge_chosen(input, offer);
    if (offer.group != nullptr && offer.group->bottlerocket_partitions) {
      judge_bottlerocket(input, offer);
    }
  }
}

// Configs of the device plugin on the nodes that use them.

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

// What the plugin calls devices before it shares them. Source: NVIDIA/k8s-device-plugin
// internal/rm/device_map.go, updateDeviceMapWithReplicas skips all others.
bool is_of_plugin(const ReplicatedResource& shared) {
  using Kind = scenarios::GpuResource::Kind;
  const auto gpu = scenarios::gpu_resource(shared.name);
  return gpu && (gpu->kind == Kind::Whole || gpu->kind == Kind::Mig);
}

// Shared names that no nodes have, whatever their GPUs.
void judge_names(const LintInput& input, const PluginConfigFile& config) {
  if (config.sharing == FileSharing::Mps) return;  // which the plugin refuses with other names
  for (const ReplicatedResource& shared : config.resources) {
    if (is_of_plugin(shared)) continue;
    input.tell(Code::SharedResourceAbsent, shared.where,
               fmt::format("the plugin has no {} to share", shared.name.substr(0, 60)),
               "name what there is before it is shared, nvidia.com/gpu or a MIG profile as in "
               "nvidia.com/mig-1g.5gb: renameByDefault renames the replicas");
  }
}

// Shared names that the nodes do not have.
void judge_names(const LintInput& input, const NodeOffer& offer) {
  const PluginConfigFile& config = *offer.config;
  if (offer.group == nullptr || offer.may_have_mig || offer.group->bottlerocket) return;
  for (const ReplicatedResource& shared : config.resources) {
    const std::string name = scenarios::advertised_name(shared.name, config.renames);
    if (offer.offers(name) || !is_of_plugin(shared)) continue;
    // A node says what it offers now, which is not yet, or no more, what the file makes of it.
    const std::string other = scenarios::advertised_name(shared.name, !config.renames);
    if (offer.group->allocatable && (offer.offers(shared.name) || offer.offers(other))) {
      input.tell_as(
          Severity::Note, Code::SharedResourceAbsent, shared.where,
          fmt::format("not in force on {}, which offers {}: with this config it would offer {}",
                      offer.group->name.substr(0, 60),
                      offer.offers(other) ? other.substr(0, 60) : shared.name.substr(0, 60),
                      name.substr(0, 60)));
      continue;
    }
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
  const bool shares =
      config.resources.empty() || std::ranges::any_of(config.resources, is_of_plugin);
  if (config.sharing == FileSharing::TimeSlicing && shares) {
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

// What a chart says beats migStrategy of its configs.
void judge_chart_strategy(const LintInput& input, const PluginConfigFile& config) {
  if (config.sharing != FileSharing::Mps || config.strategy == "mixed") return;
  const scenarios::ChartValues* chart = scenarios::plugin_chart(input.files);
  if (chart == nullptr || chart->strategy != "mixed") return;
  input.tell(Code::MpsWithMixed, chart->strategy_where,
             "using --mig-strategy=mixed is not supported with MPS: this one beats migStrategy of "
             "the configs, one of which has MPS",
             "leave it to the configs: strategy: \"\" (of the plugin's chart: no migStrategy)");
}

// EKS Auto Mode brings a device plugin that reads nobody's settings.
// Source: https://docs.aws.amazon.com/eks/latest/userguide/auto-accelerated.html
void judge_auto_mode(const LintInput& input, const scenarios::NodeGroupFile& group) {
  if (group.maker != scenarios::NodeMaker::AutoMode) return;
  const std::string name = group.name.substr(0, 60);
  const KeyValue* layout = scenarios::label_of(group, kMigLabel);
  if (layout != nullptr && layout->value != "all-disabled") {
    input.tell_as(Severity::Warning, Code::MigUnsupported, layout->where,
                  fmt::format("nodes of {} are of EKS Auto Mode, which cuts no GPU: mig-manager "
                              "and nvidia-mig-parted do not reach them",
                              name),
                  "nodes of Karpenter or of a node group for MIG");
  }
  const PluginConfigFile* config =
      scenarios::chosen_config(input.files, scenarios::label_of(group, kConfigLabel)).config;
  if (config == nullptr || config->sharing == FileSharing::None) return;
  input.tell_as(Severity::Warning, Code::SharedResourceAbsent, config->sharing_where,
                fmt::format("not on nodes of {}, which are of EKS Auto Mode: nobody configures its "
                            "device plugin, which shares no GPU",
                            name),
                "nodes of Karpenter or of a node group for pods that share GPUs");
}

}  // namespace

void lint_sharing(const LintInput& input) {
  for (const PluginConfigFile& config : input.files.configs) {
    remind(input, config);
    judge_names(input, config);
    judge_chart_strategy(input, config);
    const bool by_chart = std::ranges::any_of(input.files.charts, [](const auto& chart) {
      return chart.chart != scenarios::ChartValues::Chart::Dra;
    });
    if (config.sharing != FileSharing::Mps || config.has_mps_root || by_chart) continue;
    const bool is_static = std::ranges::any_of(
        input.files.plugin_daemons, [](const scenarios::PluginDaemonFile& daemon) {
          return daemon.release.empty() && !daemon.is_of_operator;
        });
    input.tell_as(is_static ? Severity::Error : Severity::Note, Code::MpsRootMissing,
                  config.sharing_where, "using MPS requires --mps-root to be specified",
                  "the chart does so; without it set flags.mpsRoot or MPS_ROOT");
  }
  for (const NodeOffer& offer : input.offers) {
    if (offer.group != nullptr) judge_auto_mode(input, *offer.group);
    if (offer.config == nullptr || offer.config->sharing == FileSharing::None) continue;
    if (offer.group != nullptr && offer.group->bottlerocket) remind(input, *offer.config);
    if (offer.config->sharing == FileSharing::Mps) judge_mps(input, offer);
    judge_names(input, offer);
  }
}

}  // namespace slicewise::sim::lint
