#include "offered_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../text/flow_text.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

using GpuLayout = MigLayouts::value_type;

// Layouts of a GPU that add up to what a node offers.
class LayoutSearch {
 public:
  LayoutSearch(const MigLayouts& known, std::map<std::string, std::int64_t> offered)
      : offered_(std::move(offered)) {
    for (const GpuLayout& layout : known) {
      if (!layout.second.empty() && takes(layout, 1)) {
        layouts_.push_back(&layout);
        takes(layout, -1);
      }
    }
  }

  // The fewest for so many GPUs, with the GPUs of each; empty: there are none.
  std::vector<std::pair<const GpuLayout*, std::int64_t>> fewest(std::int64_t gpus) {
    for (std::size_t most = 1; most <= layouts_.size(); ++most) {
      if (adds_up(0, gpus, most)) return taken_;
    }
    return {};
  }

 private:
  // False: the node does not offer as much, and nothing is taken.
  bool takes(const GpuLayout& layout, std::int64_t gpus) {
    const bool fits = std::ranges::all_of(layout.second, [&](const auto& instance) {
      const auto found = offered_.find(instance.first);
      return found != offered_.end() && gpus * instance.second <= found->second;
    });
    if (!fits) return false;
    for (const auto& [name, each] : layout.second) offered_[name] -= gpus * each;
    return true;
  }

  bool adds_up(std::size_t from, std::int64_t gpus, std::size_t most) {
    if (gpus == 0) {
      return std::ranges::all_of(offered_, [](const auto& left) { return left.second == 0; });
    }
    for (std::size_t at = from; most > 0 && at < layouts_.size(); ++at) {
      for (std::int64_t count = gpus; count > 0; --count) {
        if (!takes(*layouts_[at], count)) continue;
        taken_.emplace_back(layouts_[at], count);
        if (adds_up(at + 1, gpus - count, most - 1)) return true;
        taken_.pop_back();
        takes(*layouts_[at], -count);
      }
    }
    return false;
  }

  std::map<std::string, std::int64_t> offered_;  // and not taken
  std::vector<const GpuLayout*> layouts_;
  std::vector<std::pair<const GpuLayout*, std::int64_t>> taken_;
};

// 1g.10gb+me of nvidia.com/mig-1g.10gb.me.
std::string profile_of(std::string_view resource) {
  std::string profile(resource.substr(kMigPrefix.size()));
  if (profile.ends_with(".me")) profile[profile.size() - 3] = '+';
  return profile;
}

}  // namespace

bool write_out_layout(const std::vector<ResourceAmount>& allocatable, const std::string& type,
                      const ImportOptions& options, DraftMig& mig) {
  std::map<std::string, std::int64_t> offered;
  std::int64_t whole = 0;
  for (const ResourceAmount& amount : allocatable) {
    if (amount.resource == kGpuResource) whole += amount.amount;
    if (amount.resource.starts_with(kMigPrefix)) offered[amount.resource] += amount.amount;
  }
  const auto known = options.mig_layouts.find(type);
  if (known == options.mig_layouts.end()) return false;
  const std::int64_t gpus = gpus_of(type, options) - whole;
  const auto found = LayoutSearch(known->second, std::move(offered)).fewest(gpus);
  if (found.empty()) return false;
  std::vector<std::string> entries;
  std::int64_t next = 0;
  const auto add_part = [&](std::int64_t count, bool enabled) -> MigPartFile& {
    MigPartFile& part = mig.parts.emplace_back();
    part.enabled = enabled;
    part.devices.emplace();
    for (const std::int64_t end = next + count; next < end; ++next) part.devices->push_back(next);
    return part;
  };
  for (const auto& [layout, count] : found) {
    MigPartFile& part = add_part(count, true);
    std::vector<std::string> instances;
    for (const auto& [resource, each] : layout->second) {
      part.counts.push_back({profile_of(resource), each, {}});
      instances.push_back(fmt::format("{}: {}", in_quotes(part.counts.back().resource), each));
    }
    entries.push_back(fmt::format("{{devices: [{}], mig-enabled: true, mig-devices: {{{}}}}}",
                                  fmt::join(*part.devices, ", "), fmt::join(instances, ", ")));
  }
  if (whole > 0) {
    entries.push_back(fmt::format("{{devices: [{}], mig-enabled: false}}",
                                  fmt::join(*add_part(whole, false).devices, ", ")));
  }
  mig.configs = fmt::format("{{{}: [{}]}}", in_quotes(mig.layout), fmt::join(entries, ", "));
  return true;
}

}  // namespace slicewise::scenarios
