#include "slice_devices.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/flow_text.hpp"

namespace slicewise::scenarios {
namespace {

// By its name where mig-manager knows it, else by parts.
DraftMig layout_of(const SliceGpus& gpus, const std::string& type, const ImportOptions& options) {
  constexpr std::string_view kLayout = "of-slices";
  const auto& [profile, count] = *gpus.front().begin();
  const bool is_alike = gpus.front().size() == 1 &&
                        std::ranges::all_of(gpus, [&](const auto& gpu) { return gpu == gpus[0]; });
  const DraftSharing all = cut_by_mig("all-" + profile);
  const std::string resource = std::string(kMigPrefix) + profile;
  if (is_alike && units_per_gpu(all, type, resource, options) == count) return *all.mig;

  DraftMig mig{true, std::string(kLayout), {}, {}};
  std::vector<std::string> texts;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    MigPartFile part;
    part.devices = {static_cast<std::int64_t>(g)};
    part.enabled = !gpus[g].contains("");
    std::vector<std::string> counts;
    for (const auto& [name, number] : gpus[g]) {
      if (!part.enabled) break;
      part.counts.push_back({name, number, {}});
      counts.push_back(fmt::format("{}: {}", in_quotes(name), number));
    }
    texts.push_back(fmt::format("{{devices: [{}], mig-enabled: {}, mig-devices: {{{}}}}}", g,
                                part.enabled, fmt::join(counts, ", ")));
    mig.parts.push_back(std::move(part));
  }
  mig.configs = fmt::format("{{{}: [{}]}}", kLayout, fmt::join(texts, ", "));
  return mig;
}

}  // namespace

SliceGpus gpus_in_slices(const ClusterFiles& cluster, const std::string& node) {
  SliceGpus gpus;
  std::map<std::string, std::size_t> known;
  for (const SliceDevice& one : cluster.devices) {
    if (one.node != node || one.gpu.empty()) continue;
    const auto [place, is_new] = known.try_emplace(one.gpu, gpus.size());
    if (is_new) gpus.emplace_back();
    ++gpus[place->second][one.device.profile];
  }
  return gpus;
}

bool makes_mig(const ClusterFiles& cluster, const std::string& node) {
  return std::ranges::any_of(cluster.devices, [&](const SliceDevice& one) {
    return one.node == node && one.takes_counters;
  });
}

void take_slices(const SliceGpus& gpus, const ImportOptions& options, DraftPool& pool) {
  if (gpus.empty()) return;
  if (std::ssize(gpus) < gpus_of(pool.instance_type, options)) {
    pool.allocatable.gpus = static_cast<int>(gpus.size());
  }
  if (pool.sharing.makes_mig) return;
  const bool is_cut = std::ranges::any_of(gpus, [](const auto& gpu) { return !gpu.contains(""); });
  if (is_cut) pool.sharing.mig = layout_of(gpus, pool.instance_type, options);
}

}  // namespace slicewise::scenarios
