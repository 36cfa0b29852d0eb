#include "node_sharing.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/flow_text.hpp"
#include "../text/kubernetes_names.hpp"
#include "../text/scalars.hpp"
#include "live_objects.hpp"
#include "node_pool_choice.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kMigStrategyLabel = "nvidia.com/mig.strategy";

// Source: https://github.com/nebuly-ai/nos/blob/12e0a728/pkg/api/nos.nebuly.com/v1alpha1/labels.go
constexpr std::string_view kNosLabel = "nos.nebuly.com/gpu-partitioning";

DraftSharing by_bottlerocket(const NodeGroupFile& group) {
  if (group.bottlerocket_partitions && !group.bottlerocket_mig.empty()) {
    return cut_by_mig("all-" + group.bottlerocket_mig.front().value, false);
  }
  if (!group.bottlerocket || group.bottlerocket->resources.empty()) return {};
  const PluginConfigFile& config = *group.bottlerocket;
  return shared_by_plugin(config.sharing, config.renames, config.resources.front().replicas,
                          config.refuses_several.value_or(true));
}

}  // namespace

DraftSharing NodeSharing::of(const NodeGroupFile& group) const {
  if (DraftSharing here = by_bottlerocket(group); !here.is_none()) return here;
  const KeyValue* const nos = label_of(group, kNosLabel);
  if (nos != nullptr && nos->value == "mps") return by_nos(group);
  if (nos != nullptr && nos->value == "mig") {
    report_.noted(
        "nodes whose MIG GPUs nos cuts anew by what waits: with the instances that they have; "
        "mig.nos of a node pool simulates it",
        nos->where);
  }
  const KeyValue* const accelerator = label_of(group, kAcceleratorLabel);
  if (accelerator != nullptr && accelerator->value == "vgpu") {
    const VirtualGpuDaemonFile daemon =
        cluster_.virtual_gpus.empty() ? VirtualGpuDaemonFile{} : cluster_.virtual_gpus.front();
    DraftSharing by_aws;
    by_aws.virtual_gpus = std::clamp<std::int64_t>(daemon.per_gpu, 1, kMpsClients);
    by_aws.active_threads = std::clamp<std::int64_t>(daemon.active_threads, 0, 100);
    return by_aws;
  }
  const auto word_of = [&](std::string_view label) {
    const KeyValue* const found = label_of(group, label);
    return found == nullptr ? std::string_view() : std::string_view(found->value);
  };
  const bool is_there = group.kind == NodeGroupFile::Kind::Node;
  DraftSharing sharing = by_plugin(label_of(group, kConfigLabel), word_of(kMigLabel),
                                   is_there ? word_of(kMigStrategyLabel) : std::string_view());
  if (group.maker != NodeMaker::AutoMode || sharing.is_none()) return sharing;
  report_.noted(
      "nodes of EKS Auto Mode, whose device plugin nobody configures: whole GPUs, whatever is set "
      "for it",
      group.object_where);
  return {};
}

// nos cuts GPUs for MPS by what waits: simulated is one cut for good, that of a node which is
// there, else one with all sizes that pods ask for, the small ones first, as often as they fit.
DraftSharing NodeSharing::by_nos(const NodeGroupFile& group) const {
  const std::string type = !group.types.empty()
                               ? group.types.front().value
                               : type_asked_for(group.requirements, {}, options_.instances);
  const InstanceGpus instance = instance_called(type, options_.instances);
  DraftSharing sharing;
  std::map<int, std::string> sizes;  // by gigabytes
  const auto add = [&](const std::string& resource, std::int64_t count) {
    const auto asked = gpu_resource(resource);
    if (!asked || asked->kind != GpuResource::Kind::MemorySlice) return;
    const std::string size = resource.substr(kMemorySlicePrefix.size());
    sizes.emplace(asked->gigabytes, size);
    for (std::int64_t n = 0; n < std::min(count, kMpsClients); ++n) {
      sharing.nos_slices.push_back(size);
    }
  };
  if (group.allocatable) {
    for (const ResourceAmount& one : *group.allocatable) {
      add(one.resource, one.amount / std::max<std::int64_t>(1, instance.count));
    }
  }
  if (!sharing.nos_slices.empty()) return sharing;
  for (const DraftWorkload& workload : draft_.workloads) add(workload.resource, 0);
  std::int64_t left = instance.gpu_memory.count >> 30;
  for (bool any = true; any;) {
    any = false;
    for (const auto& [gigabytes, size] : sizes) {
      if (gigabytes > left || std::ssize(sharing.nos_slices) == kMpsClients) continue;
      any = true;
      left -= gigabytes;
      sharing.nos_slices.push_back(size);
    }
  }
  if (!sharing.nos_slices.empty()) {
    report_.guessed("slices of nos (MPS), which it cuts by what waits: those that pods ask for",
                    group.object_where);
  }
  return sharing;
}

void NodeSharing::take_live(const NodeGroupFile& node, DraftPool& pool) const {
  DraftSharing files = of(node);
  if (!files.nos_slices.empty()) {
    pool.sharing = std::move(files);
    return;
  }
  const auto note = [&](const std::string& what) { report_.noted(what, node.object_where); };
  LiveSharing live = sharing_of(node, std::move(files), pool.instance_type, options_);
  pool.sharing = std::move(live.sharing);
  pool.sharing_is_guessed = live.is_guessed;
  pool.offers_nothing = offers_no_gpu(node);
  if (pool.offers_nothing) {
    note("nodes with GPUs that offer none (allocatable): only pods with claims of DRA run there");
  }
  if (live.is_guessed) {
    report_.guessed(
        "sharing of nodes, by how many GPUs they offer: time-slicing, or MIG by its names",
        node.object_where);
  }
  if (live.is_other) {
    note(
        "sharing that files or labels say, and that nodes do not offer (allocatable): as they "
        "offer it");
  }
  if (live.gpus) {
    pool.allocatable.gpus = static_cast<int>(*live.gpus);
    note(fmt::format("nodes that offer {} of their {}: the others are unhealthy", *live.gpus,
                     counted(gpus_of(pool.instance_type, options_), "GPU")));
  }
}

DraftSharing NodeSharing::by_plugin(const KeyValue* config_label, std::string_view mig_label,
                                    std::string_view strategy_label) const {
  const PluginConfigFile* config = chosen_config(cluster_, config_label).config;
  DraftSharing sharing;
  if (config != nullptr && config->sharing != FileSharing::None) {
    sharing.plugin = DraftPlugin{flow_text(*config->document), config->resources, config->renames};
  }
  if (mig_label.empty() || mig_label == "all-disabled") return sharing;
  std::string_view strategy = config == nullptr ? std::string_view() : config->strategy;
  for (const ChartValues& chart : cluster_.charts) {
    if (!chart.strategy.empty() && chart.strategy != "none") strategy = chart.strategy;
  }
  if (!strategy_label.empty() && strategy_label != "none") strategy = strategy_label;
  sharing.mig = DraftMig{strategy != "single", std::string(mig_label), {}, {}};
  const auto layout = std::ranges::find(cluster_.mig_configs, mig_label, &MigConfigFile::name);
  // Layouts called all-... are built in.
  if (layout != cluster_.mig_configs.end() && !mig_label.starts_with("all-")) {
    sharing.mig->parts = layout->parts;
    sharing.mig->configs =
        fmt::format("{{{}: {}}}", in_quotes(layout->name), flow_text(*layout->document));
  }
  return sharing;
}

}  // namespace slicewise::scenarios
