#include "slicewise/models/mig.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::MigPartedEntry;

// What every step needs to know of the pool that is cut.
struct Cutter {
  const NodePool& pool;
  const InstanceType& type;
  const MigGeometry& geometry;
  Diagnostics& found;
};

Diagnostic refusal(const models::MigRefusal& refused, const SourceLocation& where) {
  return make_diagnostic(refused.code, where, refused.message, refused.help);
}

// The scenario's own config of that name, or mig-manager's, as entries of mig-parted.
std::optional<std::vector<MigPartedEntry>> entries_of(const Cutter& cutter,
                                                      const Located<std::string>& config) {
  const auto own = cutter.pool.mig->configs.find(config.value);
  if (own != cutter.pool.mig->configs.end()) return own->second;
  const auto shipped = models::shipped_mig_config(config.value, cutter.geometry);
  if (!shipped) {
    cutter.found.push_back(refusal(shipped.error(), config.where));
    return std::nullopt;
  }
  MigPartedEntry entry;
  entry.mig_enabled = shipped->enabled;
  entry.where = config.where;
  for (const MigCount& count : shipped->counts) {
    entry.mig_devices.push_back({{count.profile, config.where}, count.count});
  }
  return std::vector{entry};
}

// `parts` are memory slices, and the media engines, which one instance has.
CutGpu::Instance instance_of(const MigGeometry& geometry, const MigProfile& profile,
                             const MigProfile::Placement& place) {
  const double slices = geometry.compute_slices;
  std::uint32_t parts = ((std::uint32_t{1} << place.size) - 1) << place.start;
  if (profile.media_extensions) parts |= std::uint32_t{1} << geometry.memory_slices;
  return {&profile, models::mig_share(geometry, profile), profile.compute_slices / slices, parts};
}

std::optional<CutGpu> cut_gpu(const Cutter& cutter, const MigPartedEntry& entry) {
  CutGpu gpu{{}, entry.where};
  if (!entry.mig_enabled) {
    gpu.instances.push_back({});
    return gpu;
  }
  std::vector<MigCount> counts;
  for (const auto& [profile, count] : entry.mig_devices) counts.push_back({profile.value, count});
  const auto placed = models::place_instances(cutter.geometry, counts);
  if (!placed) {
    const auto& line = placed.error().entry;
    cutter.found.push_back(
        refusal(placed.error(), line ? entry.mig_devices[*line].first.where : entry.where));
    return std::nullopt;
  }
  for (const models::MigInstance& instance : *placed) {
    const auto place = std::ranges::find(instance.profile->placements, instance.start,
                                         &MigProfile::Placement::start);
    gpu.instances.push_back(instance_of(cutter.geometry, *instance.profile, *place));
  }
  return gpu;
}

// The GPUs that an entry of the config is about.
std::vector<int> devices_of(const Cutter& cutter, const MigPartedEntry& entry) {
  std::vector<int> devices = entry.devices;
  for (int gpu = 0; entry.devices.empty() && gpu < cutter.type.gpu_count; ++gpu) {
    devices.push_back(gpu);
  }
  return devices;
}

bool check_device(const Cutter& cutter, const MigPartedEntry& entry, int device, bool taken) {
  if (device >= 0 && device < cutter.type.gpu_count && !taken) return true;
  add_diagnostic(cutter.found, Code::MigLayoutImpossible, entry.where,
                 taken ? fmt::format("the config cuts GPU {} twice", device)
                       : fmt::format("the config names GPU {}; {} has {}", device, cutter.type.name,
                                     cutter.type.gpu_count),
                 "devices counts from 0; `devices: all` takes every GPU");
  return false;
}

}  // namespace

std::optional<CutNode> cut_node(const NodePool& pool, const InstanceType& type,
                                const MigGeometry& geometry, const Located<std::string>& config,
                                Diagnostics& found) {
  const Cutter cutter{pool, type, geometry, found};
  const auto entries = entries_of(cutter, config);
  if (!entries) return std::nullopt;
  const auto gpus = static_cast<std::size_t>(cutter.type.gpu_count);
  std::vector<std::optional<CutGpu>> cut(gpus);
  for (const MigPartedEntry& entry : *entries) {
    const std::optional<CutGpu> gpu = cut_gpu(cutter, entry);
    if (!gpu) return std::nullopt;
    for (const int device : devices_of(cutter, entry)) {
      const auto position = static_cast<std::size_t>(device);
      const bool taken = device >= 0 && position < gpus && cut[position].has_value();
      if (!check_device(cutter, entry, device, taken)) return std::nullopt;
      cut[position] = gpu;
    }
  }
  CutNode node{config.value, config.where, {}};
  for (const auto& gpu : cut) node.gpus.push_back(gpu.value_or(CutGpu{{{}}, config.where}));
  return node;
}

namespace {

// The distinct profiles of the node, "" for a GPU that is not cut.
std::vector<std::string> profiles_of(const CutNode& node) {
  std::vector<std::string> profiles;
  for (const CutGpu& gpu : node.gpus) {
    for (const CutGpu::Instance& instance : gpu.instances) {
      const std::string name = instance.profile == nullptr ? "" : instance.profile->name;
      if (!contains(profiles, name)) profiles.push_back(name);
    }
  }
  return profiles;
}

bool is_published(const Cutter& cutter, const CutNode& node) {
  for (const CutGpu& gpu : node.gpus) {
    for (const CutGpu::Instance& instance : gpu.instances) {
      if (instance.profile == nullptr || instance.profile->memory) continue;
      add_diagnostic(cutter.found, Code::StrategyNotModelled, gpu.where,
                     fmt::format("the memory of {} on {} is not published: it is not simulated",
                                 instance.profile->name, cutter.geometry.gpu_model));
      return false;
    }
  }
  return true;
}

void check_single(const Cutter& cutter, const CutNode& node) {
  for (std::size_t gpu = 0; gpu < node.gpus.size() && !profiles_of(node).empty(); ++gpu) {
    if (!node.gpus[gpu].instances.empty()) continue;
    add_diagnostic(cutter.found, Code::MigNotUniform, node.where,
                   fmt::format("device {} has no MIG devices configured", gpu),
                   "mig.strategy: single takes the same profile on all GPUs; use mixed");
    return;
  }
  std::vector<std::string> profiles = profiles_of(node);
  if (profiles.size() < 2) return;
  const bool uncut = contains(profiles, "");
  add_diagnostic(cutter.found, Code::MigNotUniform, node.where,
                 uncut ? "all devices on the node must be configured with the same migEnabled value"
                       : fmt::format("more than one MIG device type present on node: {}",
                                     fmt::join(profiles, ", ")),
                 "mig.strategy: single takes one profile for all GPUs; use mixed");
}

// Strategy none: CUDA opens the first instance of the GPU that the container got.
void keep_first_instances(const Cutter& cutter, CutNode& node) {
  bool hidden = false;
  for (CutGpu& gpu : node.gpus) {
    hidden = hidden || gpu.instances.size() > 1;
    if (gpu.instances.size() > 1) gpu.instances.resize(1);
  }
  if (!hidden) return;
  add_diagnostic(cutter.found, Code::MigNotAdvertised, node.where,
                 "mig.strategy none advertises GPUs, not instances: every pod runs in the first "
                 "instance of its GPU and the others stay idle",
                 "use mig.strategy: single or mixed");
}

void note_unused_slices(const Cutter& cutter, const CutNode& node) {
  for (const CutGpu& gpu : node.gpus) {
    int compute = 0;
    for (const CutGpu::Instance& instance : gpu.instances) {
      compute += instance.profile == nullptr ? cutter.geometry.compute_slices
                                             : instance.profile->compute_slices;
    }
    if (compute == cutter.geometry.compute_slices) continue;
    add_diagnostic(cutter.found, Code::MigSlicesUnused, node.where,
                   fmt::format("\"{}\" uses {} of the {} compute slices of a GPU", node.config,
                               compute, cutter.geometry.compute_slices));
    return;
  }
}

void check_layout(const Cutter& cutter, CutNode& node) {
  if (cutter.pool.mig->strategy == MigStrategy::Single) check_single(cutter, node);
  if (cutter.pool.mig->strategy == MigStrategy::None) keep_first_instances(cutter, node);
  if (profiles_of(node).empty()) {
    add_diagnostic(cutter.found, Code::MigLayoutImpossible, node.where,
                   fmt::format("\"{}\" switches MIG on and makes no instance: device 0 has no MIG "
                               "devices configured, and the node offers no GPU",
                               node.config),
                   "name a layout such as all-balanced, or switch MIG off with all-disabled");
    return;
  }
  note_unused_slices(cutter, node);
}

}  // namespace

namespace {

// One for each place of each profile, in the order of the names that NVIDIA's DRA driver gives
// them. Source: dra-driver-nvidia-gpu v0.4.1, cmd/gpu-kubelet-plugin/mig.go, ToCanonicalName.
std::vector<CutGpu::Instance> places_of(const MigGeometry& geometry) {
  std::vector<std::pair<std::string, CutGpu::Instance>> named;
  for (const MigProfile& profile : geometry.profiles) {
    if (!profile.memory) continue;  // not published
    std::string name = profile.name;
    std::erase(name, '.');
    for (const MigProfile::Placement& place : profile.placements) {
      named.emplace_back(
          fmt::format("{}-{}-{}", name, profile.gi_profile_id.value_or(0), place.start),
          instance_of(geometry, profile, place));
    }
  }
  std::ranges::sort(named, {}, &std::pair<std::string, CutGpu::Instance>::first);
  std::vector<CutGpu::Instance> places;
  places.reserve(named.size());
  for (const auto& [name, instance] : named) places.push_back(instance);
  return places;
}

// The devices that NVIDIA's DRA driver publishes of a GPU with its gate DynamicMIG, in the order
// which the scheduler takes them by. The whole GPU is among them where MIG mode is switched without
// a reset, from Hopper on; before that the GPU is one whose MIG mode is on. Source:
// dra-driver-nvidia-gpu v0.4.1, cmd/gpu-kubelet-plugin/nvlib.go, GetPerGpuAllocatableDevices.
CutGpu devices_to_make(const MigGeometry& geometry) {
  CutGpu gpu;
  if (!geometry.mode_change_needs_reset) {
    const std::uint32_t media = std::uint32_t{1} << geometry.memory_slices;
    gpu.instances.push_back({nullptr, {}, 1, media | (media - 1)});
  }
  for (const CutGpu::Instance& instance : places_of(geometry)) gpu.instances.push_back(instance);
  return gpu;
}

// Instances of 1g, 2g, 3g, 4g and 7g that nos makes of an A100. Its list for 80 GiB writes 7g.79gb,
// as older drivers do, and 3g.20gb beside two 2g.20gb, which is no profile of that GPU. Source:
// https://github.com/nebuly-ai/nos/blob/12e0a728/config/gpupartitioner/manager/known_mig_geometries.yaml
constexpr std::array<std::string_view, 5> kNosSizes{"1g", "2g", "3g", "4g", "7g"};
constexpr int kNosGeometries[][kNosSizes.size()] = {
    {7, 0, 0, 0, 0}, {5, 1, 0, 0, 0}, {3, 2, 0, 0, 0}, {1, 3, 0, 0, 0},
    {2, 1, 1, 0, 0}, {0, 2, 1, 0, 0}, {3, 0, 1, 0, 0}, {1, 1, 1, 0, 0},
    {0, 0, 2, 0, 0}, {3, 0, 0, 1, 0}, {1, 1, 0, 1, 0}, {0, 0, 0, 0, 1}};
constexpr std::size_t kMisspeltFor80Gb = 5;

// The first of such a size: those with twice the memory or media engines come after it.
const MigProfile* nos_profile(const MigGeometry& geometry, std::string_view size) {
  return find_if_or_null(geometry.profiles,
                         [&](const MigProfile& profile) { return profile.name.starts_with(size); });
}

// All instances that nos may make beside those of the layout at the start.
bool add_places_of_nos(const Cutter& cutter, CutNode& node) {
  const auto refuse = [&](Code code, std::string what, const char* help) {
    add_diagnostic(cutter.found, code, node.where, std::move(what), help);
    return false;
  };
  if (!cutter.geometry.gpu_model.starts_with("A100")) {
    return refuse(Code::StrategyNotModelled,
                  fmt::format("nos knows how to cut an A100, no {}", cutter.geometry.gpu_model),
                  "leave mig.nos out, or take p4d or p4de; dynamicMig of NVIDIA's DRA driver makes "
                  "MIG devices on demand on all of them");
  }
  for (const std::string_view size : kNosSizes) {
    const MigProfile* const profile = nos_profile(cutter.geometry, size);
    if (profile != nullptr && profile->memory) continue;
    return refuse(
        Code::MigUnsupported,
        fmt::format("nos makes instances of {}, which the catalogue does not know of the {}", size,
                    cutter.geometry.gpu_model),
        "add the profile and its memory to --catalogue, or leave mig.nos out");
  }
  const std::vector<CutGpu::Instance> places = places_of(cutter.geometry);
  for (CutGpu& gpu : node.gpus) {
    const std::vector<CutGpu::Instance> made = std::exchange(gpu.instances, {});
    if (!made.empty() && made.front().profile == nullptr) {
      return refuse(Code::MigLayoutImpossible, "nos switches no GPU's MIG mode on",
                    "name a layout that cuts every GPU");
    }
    for (CutGpu::Instance place : places) {
      place.at_start = std::ranges::any_of(made, [&](const CutGpu::Instance& instance) {
        return instance.profile == place.profile && instance.parts == place.parts;
      });
      const bool of_nos = std::ranges::any_of(kNosSizes, [&](std::string_view size) {
        return nos_profile(cutter.geometry, size) == place.profile;
      });
      if (of_nos || place.at_start) gpu.instances.push_back(place);
    }
  }
  return true;
}

}  // namespace

std::vector<std::vector<int>> nos_geometries(const MigGeometry& geometry,
                                             const std::vector<DomainKind>& kinds) {
  std::vector<std::vector<int>> out;
  for (std::size_t g = 0; g < std::size(kNosGeometries); ++g) {
    if (g == kMisspeltFor80Gb && geometry.gpu_model.ends_with("80GB")) continue;
    std::vector<int>& counts = out.emplace_back(kinds.size());
    for (std::size_t size = 0; size < kNosSizes.size(); ++size) {
      const MigProfile* const profile = nos_profile(geometry, kNosSizes[size]);
      const auto kind = std::ranges::find(kinds, profile->name, &DomainKind::partition);
      counts[static_cast<std::size_t>(kind - kinds.begin())] = kNosGeometries[g][size];
    }
  }
  return out;
}

std::vector<CutNode> cut_nodes(const NodePool& pool, const InstanceType& type, const GpuModel& gpu,
                               const Catalogue& catalogue, Diagnostics& found) {
  if (!pool.mig && !pool.dynamic_mig) return {};
  const SourceLocation& where = pool.mig ? pool.mig->config.where : pool.dynamic_mig->where;
  const MigGeometry* geometry = catalogue.find_mig(gpu.name);
  if (gpu.supports_mig && geometry == nullptr) {
    add_diagnostic(
        found, Code::MigUnsupported, where,
        fmt::format("{} ({}) has MIG, but the catalogue does not know its profiles", gpu.name,
                    type.name),
        "add them with --catalogue (`slicewise schema catalogue`), or use sharing.timeSlicing");
    return {};
  }
  if (geometry == nullptr) {
    add_diagnostic(found, Code::MigUnsupported, where,
                   fmt::format("{} ({}) has no MIG", gpu.name, type.name),
                   "A100, H100, H200, B200, B300 and RTX PRO 6000 have it: p4d, p4de, p5, p5e, "
                   "p5en, p6-b200, p6-b300, g7e; use sharing.timeSlicing here");
    return {};
  }
  if (pool.dynamic_mig) {
    const auto gpus = static_cast<std::size_t>(type.gpu_count);
    return {{"", where, std::vector(gpus, devices_to_make(*geometry))}};
  }
  const Cutter cutter{pool, type, *geometry, found};
  std::vector<Located<std::string>> configs{pool.mig->config};
  for (const scenarios::MigChange& change : pool.mig->changes) configs.push_back(change.config);
  std::vector<CutNode> nodes;
  for (const Located<std::string>& config : configs) {
    auto node = cut_node(pool, type, *geometry, config, found);
    if (!node || !is_published(cutter, *node)) continue;
    check_layout(cutter, *node);
    if (pool.mig->nos && !add_places_of_nos(cutter, *node)) return {};
    nodes.push_back(std::move(*node));
  }
  return nodes;
}

}  // namespace slicewise::sim
