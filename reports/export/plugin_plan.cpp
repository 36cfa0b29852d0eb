#include "plugin_plan.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "plugin_config.hpp"

namespace slicewise::reports {
namespace {

using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PluginSharing;

constexpr std::string_view kExclusive = "exclusive";
constexpr std::string_view kDefaultMpsRoot = "/run/nvidia/mps";
constexpr std::size_t kPoolPartOfKey = 40;  // a label value holds 63 characters

// Takes one number off the front of "20.0"; nullopt when there is none.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take_dot(std::string_view& text) {
  if (text.empty() || text.front() != '.') return false;
  text.remove_prefix(1);
  return true;
}

// The minor of 0.<minor>.<patch>, nullopt for anything else.
std::optional<int> chart_minor(std::string_view version) {
  const std::optional<int> major = take_number(version);
  if (major != 0 || !take_dot(version)) return std::nullopt;
  const std::optional<int> minor = take_number(version);
  if (!minor || !take_dot(version) || !take_number(version) || !version.empty()) {
    return std::nullopt;
  }
  if (*minor < kOldestChartMinor || *minor > kNewestChartMinor) return std::nullopt;
  return minor;
}

Diagnostic unknown_chart(std::string_view version) {
  return make_diagnostic(
      Code::EnumUnknown, {},
      fmt::format("chart version \"{}\" of nvidia-device-plugin is not supported", version),
      "supported: 0.20.x, 0.15.x to 0.19.x, 0.14.x, in full, as in 0.20.0 or 0.14.5");
}

std::string key_of(const NodePool& pool) {
  const PluginSharing* sharing = sharing_of(pool);
  const MigStrategy mig = mig_strategy_of(pool);
  const bool other_flags = pool.device_plugin && !pool.device_plugin->other_flags.empty();
  if (!sharing && mig == MigStrategy::None && !other_flags) return std::string(kExclusive);
  std::string key = pool.name.value.substr(0, kPoolPartOfKey);
  if (mig != MigStrategy::None) key += "-mig-" + mig_strategy_name(mig);
  if (!sharing) return mig == MigStrategy::None ? fmt::format("{}-{}", key, kExclusive) : key;
  const bool mps = pool.device_plugin->mps.has_value();
  return fmt::format("{}-{}{}", key, mps ? "mps" : "timeslicing",
                     sharing->resources.front().replicas);
}

class Planner {
 public:
  Planner(const models::Catalogue& catalogue, int minor) : catalogue_(catalogue) {
    plan_.chart_minor = minor;
  }

  void add(const NodePool& pool) {
    Expected<PoolTarget> target = pool_target(pool, catalogue_);
    if (!target) {
      std::move(target.error().begin(), target.error().end(), std::back_inserter(found_));
      return;
    }
    Diagnostics refused = check_plugin_config(pool, *target->gpu, plan_.chart_minor);
    if (!refused.empty()) {
      std::move(refused.begin(), refused.end(), std::back_inserter(found_));
      return;
    }
    add_config(*target);
    add_mps_root(pool);
  }

  Expected<PluginPlan> finish() {
    if (!found_.empty()) return tl::unexpected(std::move(found_));
    plan_.default_key = default_config().key;
    return std::move(plan_);
  }

 private:
  // A node without a label must not share silently, so one of whole GPUs where there is one.
  const NamedConfig& default_config() const {
    const auto shares_nothing = [](const NamedConfig& config) {
      return sharing_of(*config.pools.front().pool) == nullptr;
    };
    const auto exclusive = [](const NamedConfig& config) { return config.key == kExclusive; };
    auto found = std::find_if(plan_.configs.begin(), plan_.configs.end(), exclusive);
    if (found == plan_.configs.end()) {
      found = std::find_if(plan_.configs.begin(), plan_.configs.end(), shares_nothing);
    }
    return found == plan_.configs.end() ? plan_.configs.front() : *found;
  }

  bool key_taken(const std::string& key) const {
    return std::any_of(plan_.configs.begin(), plan_.configs.end(),
                       [&](const NamedConfig& config) { return config.key == key; });
  }

  void add_config(const PoolTarget& target) {
    std::string text = plugin_config_yaml(*target.pool);
    for (NamedConfig& config : plan_.configs) {
      if (config.yaml != text) continue;
      config.pools.push_back(target);
      return;
    }
    std::string key = key_of(*target.pool);
    for (int n = 2; key_taken(key); ++n) key = fmt::format("{}-{}", key_of(*target.pool), n);
    plan_.configs.push_back({std::move(key), std::move(text), {target}});
  }

  // The chart sets MPS_ROOT from its value mps.root, which beats flags.mpsRoot of the file.
  void add_mps_root(const NodePool& pool) {
    if (!pool.device_plugin || !pool.device_plugin->mps) return;
    std::string root = mps_root_of(pool);
    if (root.empty()) root = kDefaultMpsRoot;
    if (!plan_.mps_root.empty() && plan_.mps_root != root) {
      found_.push_back(make_diagnostic(
          Code::SettingConflict, pool.device_plugin->mps->where,
          fmt::format("two values of flags.mpsRoot: {} and {}", plan_.mps_root, root),
          "the chart has one mps.root for all nodes"));
    }
    plan_.mps_root = std::move(root);
  }

  const models::Catalogue& catalogue_;
  PluginPlan plan_;
  Diagnostics found_;
};

}  // namespace

Expected<PluginPlan> plan_plugin(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue,
                                 std::string_view chart_version) {
  const std::optional<int> minor = chart_minor(chart_version);
  if (!minor) return tl::unexpected(Diagnostics{unknown_chart(chart_version)});
  if (scenario.node_pools.empty()) {
    return tl::unexpected(Diagnostics{
        make_diagnostic(Code::FieldMissing, scenario.where, "no node pool to write a config for")});
  }
  Planner planner(catalogue, *minor);
  for (const NodePool& pool : scenario.node_pools) planner.add(pool);
  return planner.finish();
}

}  // namespace slicewise::reports
