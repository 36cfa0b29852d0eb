#include "mig_devices.hpp"

#include <algorithm>
#include <optional>

#include "slicewise/models/mig_layout.hpp"

namespace slicewise::reports {
namespace {

using scenarios::MigPartedEntry;
using scenarios::NodePool;

constexpr const char* kWholeGpu = "nvidia.com/gpu";

tl::unexpected<Diagnostics> refused_layout(const models::MigRefusal& why,
                                           const SourceLocation& where) {
  return tl::unexpected(Diagnostics{make_diagnostic(why.code, where, why.message, why.help)});
}

// The pool's own config of that name, else mig-manager's, as entries of mig-parted.
Expected<std::vector<MigPartedEntry>> entries_of(const NodePool& pool,
                                                 const models::MigGeometry& geometry) {
  const auto own = pool.mig->configs.find(pool.mig->config.value);
  if (own != pool.mig->configs.end()) return own->second;
  const auto shipped = models::shipped_mig_config(pool.mig->config.value, geometry);
  if (!shipped) return refused_layout(shipped.error(), pool.mig->config.where);
  MigPartedEntry entry;
  entry.mig_enabled = shipped->enabled;
  entry.where = pool.mig->config.where;
  for (const models::MigCount& count : shipped->counts) {
    entry.mig_devices.push_back({{count.profile, entry.where}, count.count});
  }
  return std::vector{entry};
}

class Devices {
 public:
  void add(const std::string& profile, const std::string& resource, int count) {
    if (count == 0) return;
    const auto known = std::find_if(list_.begin(), list_.end(),
                                    [&](const MigDevices& d) { return d.profile == profile; });
    if (known != list_.end()) {
      known->count += count;
    } else {
      list_.push_back({profile, resource, count});
    }
  }

  std::vector<MigDevices> take() { return std::move(list_); }

 private:
  std::vector<MigDevices> list_;
};

// The devices of one GPU, `times` over; nullopt when they fit.
std::optional<models::MigRefusal> cut(const MigPartedEntry& entry,
                                      const models::MigGeometry& geometry, int times,
                                      Devices& devices) {
  if (!entry.mig_enabled) {
    devices.add("", kWholeGpu, times);
    return std::nullopt;
  }
  std::vector<models::MigCount> counts;
  for (const auto& [profile, count] : entry.mig_devices) counts.push_back({profile.value, count});
  const auto placed = models::place_instances(geometry, counts);
  if (!placed) return placed.error();
  for (const models::MigInstance& instance : *placed) {
    devices.add(instance.profile->name, instance.profile->resource_mixed, times);
  }
  return std::nullopt;
}

}  // namespace

Expected<std::vector<MigDevices>> mig_devices(const NodePool& pool,
                                              const models::InstanceType& instance,
                                              const models::MigGeometry& geometry) {
  const auto entries = entries_of(pool, geometry);
  if (!entries) return tl::unexpected(entries.error());
  Devices devices;
  int left = instance.gpu_count;
  for (const MigPartedEntry& entry : *entries) {
    const int gpus = entry.devices.empty() ? left : static_cast<int>(entry.devices.size());
    left -= gpus;
    if (const auto why = cut(entry, geometry, gpus, devices))
      return refused_layout(*why, entry.where);
  }
  if (left < 0) {
    return refused_layout({Code::MigLayoutImpossible,
                           {},
                           "the config cuts more GPUs than the node has",
                           "each GPU belongs to one entry"},
                          pool.mig->config.where);
  }
  // mig-parted leaves GPUs alone that no entry names.
  devices.add("", kWholeGpu, left);
  std::vector<MigDevices> out = devices.take();
  if (pool.mig->strategy == scenarios::MigStrategy::Single && out.size() > 1) {
    return refused_layout({Code::MigNotUniform,
                           {},
                           "more than one MIG device type present on node",
                           "use mig.strategy: mixed, or one profile for all GPUs"},
                          pool.mig->config.where);
  }
  return out;
}

}  // namespace slicewise::reports
