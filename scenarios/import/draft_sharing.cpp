#include "draft_sharing.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../text/flow_text.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostUnits = 10'000;

// Instances of a GPU by their resource, in a layout that is known for the GPUs of the type;
// nullptr: one of the files' own, or GPUs that are not known.
const std::map<std::string, int>* known_layout(const DraftMig& mig,
                                               const std::string& instance_type,
                                               const ImportOptions& options) {
  const auto type = options.mig_layouts.find(instance_type);
  if (type == options.mig_layouts.end()) return nullptr;
  const auto layout = type->second.find(mig.layout);
  return layout == type->second.end() ? nullptr : &layout->second;
}

// nvidia.com/mig-1g.10gb.me of 1g.10gb+me.
std::string resource_of_profile(std::string profile) {
  std::ranges::replace(profile, '+', '.');
  return std::string(kMigPrefix) + profile;
}

// Of the resource, or of all where none is named; of parts of the GPUs the one with the most.
std::int64_t instances_in(const DraftMig& mig, const std::string& instance_type,
                          const std::string& device, const ImportOptions& options) {
  std::int64_t found = 0;
  if (const auto* layout = known_layout(mig, instance_type, options)) {
    for (const auto& [name, count] : *layout) {
      if (device.empty() || name == device) found += count;
    }
    return found;
  }
  if (mig.configs.empty()) {
    const bool is_it =
        device.empty() || mig.layout == "all-balanced" ||
        (mig.layout.starts_with("all-") && resource_of_profile(mig.layout.substr(4)) == device);
    return is_it ? 1 : 0;
  }
  for (const MigPartFile& part : mig.parts) {
    std::int64_t here = 0;
    for (const ResourceAmount& count : part.counts) {
      const bool is_it = device.empty() || resource_of_profile(count.resource) == device;
      if (is_it) here += std::clamp<std::int64_t>(count.amount, 0, 7);
    }
    found = std::max(found, here);
  }
  return found;
}

// How often a device is there under the name that is asked for: what the plugin replicates under
// one of its two names, all else once.
std::int64_t replicas_of(const DraftSharing& sharing, const std::string& resource) {
  const std::string device(device_name(resource));
  const bool is_shared = device != resource;
  const std::vector<ReplicatedResource> none;
  const auto& replicated = sharing.plugin ? sharing.plugin->resources : none;
  const auto found = std::ranges::find(replicated, device, &ReplicatedResource::name);
  if (found == replicated.end()) return is_shared ? 0 : 1;
  if (sharing.plugin->renames != is_shared) return 0;
  return std::clamp<std::int64_t>(found->replicas, 1, kMostUnits);
}

bool has_whole_gpus(const DraftMig& mig) {
  return std::ranges::any_of(mig.parts, [](const MigPartFile& part) { return !part.enabled; });
}

}  // namespace

std::vector<std::string> DraftSharing::entries() const {
  std::vector<std::string> texts;
  if (mig) {
    texts.push_back(fmt::format("mig: {{strategy: {}, config: {}{}}}",
                                mig->is_mixed ? "mixed" : "single", scalar_text(mig->layout),
                                mig->configs.empty() ? "" : ", configs: " + mig->configs));
  }
  if (plugin) texts.push_back("devicePlugin: " + plugin->config);
  if (virtual_gpus > 0) texts.push_back(fmt::format("virtualGpu: {{perGpu: {}}}", virtual_gpus));
  if (active_threads > 0)
    texts.push_back(fmt::format("mps: {{activeThreads: {}%}}", active_threads));
  if (!nos_slices.empty())
    texts.push_back(fmt::format("nos: {{slices: [{}]}}", fmt::join(nos_slices, ", ")));
  if (driver == Driver::Dra) {
    texts.emplace_back("dra: true");
    if (makes_mig) texts.emplace_back("dynamicMig: {}");
  }
  if (driver == Driver::Hami) {
    texts.push_back(split > 0 ? fmt::format("hami: {{deviceSplitCount: {}}}", split) : "hami: {}");
  }
  if (driver == Driver::Kai) texts.emplace_back("kai: true");
  return texts;
}

DraftSharing shared_by_plugin(FileSharing mode, bool renames, std::int64_t replicas,
                              bool refuses_several, std::string_view device) {
  return shared_by_plugin(mode, renames, refuses_several,
                          {{std::string(device), replicas, {}, {}}});
}

DraftSharing shared_by_plugin(FileSharing mode, bool renames, bool refuses_several,
                              std::vector<ReplicatedResource> resources) {
  std::vector<std::string> entries;
  entries.reserve(resources.size());
  for (const ReplicatedResource& one : resources) {
    entries.push_back(fmt::format("{{name: {}, replicas: {}}}", one.name, one.replicas));
  }
  DraftPlugin plugin;
  plugin.config = fmt::format(
      "{{version: v1, sharing: {{{}: {{{}{}resources: [{}]}}}}}}",
      mode == FileSharing::Mps ? "mps" : "timeSlicing", renames ? "renameByDefault: true, " : "",
      refuses_several ? "failRequestsGreaterThanOne: true, " : "", fmt::join(entries, ", "));
  plugin.renames = renames;
  plugin.resources = std::move(resources);
  DraftSharing sharing;
  sharing.plugin = std::move(plugin);
  return sharing;
}

DraftSharing cut_by_mig(std::string layout, bool is_mixed) {
  DraftSharing sharing;
  sharing.mig = DraftMig{is_mixed, std::move(layout), {}, {}};
  return sharing;
}

bool is_counted_layout(const DraftMig& mig, const std::string& instance_type,
                       const ImportOptions& options) {
  return known_layout(mig, instance_type, options) != nullptr;
}

std::int64_t units_per_gpu(const DraftSharing& sharing, const std::string& instance_type,
                           const std::string& resource, const ImportOptions& options) {
  using Kind = GpuResource::Kind;
  const auto asked = gpu_resource(resource);
  if (!asked || sharing.driver == DraftSharing::Driver::Dra) return 0;
  if (asked->kind == Kind::VirtualGpu) return sharing.virtual_gpus;
  if (asked->kind == Kind::MemorySlice) {
    return std::ranges::count(sharing.nos_slices, resource.substr(kMemorySlicePrefix.size()));
  }
  if (sharing.virtual_gpus > 0 || !sharing.nos_slices.empty()) return 0;
  const std::string device(device_name(resource));
  const bool is_mixed = sharing.mig && sharing.mig->is_mixed;
  std::int64_t devices = 0;
  if (device == kGpuResource) {
    const bool is_there = !is_mixed || has_whole_gpus(*sharing.mig);
    devices = !is_there ? 0 : is_mixed ? 1 : devices_per_gpu(sharing, instance_type, options);
  } else if (is_mixed) {
    devices = instances_in(*sharing.mig, instance_type, device, options);
  }
  return devices * replicas_of(sharing, resource);
}

std::string instance_alone(const DraftSharing& sharing, const std::string& resource) {
  constexpr std::string_view kAll = "all-";
  std::string device(device_name(resource));
  if (!sharing.mig || replicas_of(sharing, resource) != 1) return {};
  if (device.starts_with(kMigPrefix)) return device;
  const bool is_one_kind = !sharing.mig->is_mixed && sharing.mig->layout.starts_with(kAll);
  return is_one_kind ? resource_of_profile(sharing.mig->layout.substr(kAll.size())) : std::string();
}

std::int64_t devices_per_gpu(const DraftSharing& sharing, const std::string& instance_type,
                             const ImportOptions& options) {
  if (!sharing.mig) return 1;
  return std::max<std::int64_t>(1, instances_in(*sharing.mig, instance_type, {}, options));
}

}  // namespace slicewise::scenarios
