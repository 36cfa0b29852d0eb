#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/mig_layout.hpp"
#include "slicewise/nearest_name.hpp"

namespace slicewise::models {
namespace {

constexpr std::string_view kDisabled = "all-disabled";
constexpr std::string_view kEnabled = "all-enabled";
constexpr std::string_view kBalanced = "all-balanced";

std::string config_name(const MigProfile& profile) {
  std::string name = "all-" + profile.name;
  std::ranges::replace(name, '+', '.');
  return name;
}

// Neither media engines, graphics nor their absence in the name, nor twice the memory.
bool is_plain(const MigProfile& profile, int compute_slices) {
  return profile.compute_slices == compute_slices &&
         profile.name.find_first_of("+-") == std::string::npos &&
         (compute_slices != 1 || profile.memory_slices == 1);
}

std::vector<MigCount> balanced(const MigGeometry& geometry) {
  std::vector<MigCount> counts;
  for (const int compute_slices : {1, 2, 3}) {
    const auto profile = std::ranges::find_if(
        geometry.profiles, [&](const MigProfile& p) { return is_plain(p, compute_slices); });
    if (profile == geometry.profiles.end()) continue;
    counts.push_back({profile->name, compute_slices == 1 ? 2 : 1});
  }
  return counts;
}

}  // namespace

std::vector<std::string> shipped_mig_config_names(const MigGeometry& geometry) {
  std::vector<std::string> names{std::string(kDisabled), std::string(kEnabled),
                                 std::string(kBalanced)};
  for (const MigProfile& profile : geometry.profiles) names.push_back(config_name(profile));
  return names;
}

tl::expected<MigConfig, MigRefusal> shipped_mig_config(std::string_view name,
                                                       const MigGeometry& geometry) {
  if (name == kDisabled) return MigConfig{false, {}};
  if (name == kEnabled) return MigConfig{true, {}};
  if (name == kBalanced) return MigConfig{true, balanced(geometry)};
  const auto profile = std::ranges::find(geometry.profiles, name, config_name);
  if (profile != geometry.profiles.end()) {
    return MigConfig{true, {{profile->name, profile->max_count}}};
  }
  const std::vector<std::string> names = shipped_mig_config_names(geometry);
  auto meant = nearest_name(name, names);
  if (!meant) meant = nearest_name("all-" + std::string(name), names);
  return tl::unexpected(
      MigRefusal{Code::MigConfigUnknown,
                 {},
                 fmt::format("mig-manager has no config {} for {}", name, geometry.gpu_model),
                 fmt::format("{}it has {}", meant ? fmt::format("did you mean {}? ", *meant) : "",
                             fmt::join(names, ", "))});
}

}  // namespace slicewise::models
