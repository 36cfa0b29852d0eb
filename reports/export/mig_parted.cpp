#include "mig_parted.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/models/mig.hpp"
#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "node_settings.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::MigPartedEntry;
using scenarios::NodePool;

// One entry; mig-parted wants mig-devices exactly where MIG is on.
json entry_of(const json& devices, bool enabled, const json& counts) {
  json entry = {{"devices", devices}, {"mig-enabled", enabled}};
  if (enabled) entry["mig-devices"] = counts.is_null() ? json::object() : counts;
  return entry;
}

json own_layout(const std::vector<MigPartedEntry>& entries, int gpus) {
  json out = json::array();
  std::vector<bool> named(static_cast<std::size_t>(gpus), false);
  for (const MigPartedEntry& entry : entries) {
    json counts = json::object();
    for (const auto& [profile, count] : entry.mig_devices) counts[profile.value] = count;
    out.push_back(entry_of(entry.devices.empty() ? json("all") : json(entry.devices),
                           entry.mig_enabled, counts));
    if (entry.devices.empty()) named.assign(named.size(), true);
    for (const int device : entry.devices) {
      if (device >= 0 && device < gpus) named[static_cast<std::size_t>(device)] = true;
    }
  }
  // mig-parted leaves a GPU as it is that no entry names: it may still be cut from before.
  json others = json::array();
  for (int gpu = 0; gpu < gpus; ++gpu) {
    if (!named[static_cast<std::size_t>(gpu)]) others.push_back(gpu);
  }
  if (!others.empty()) out.push_back(entry_of(others, false, nullptr));
  return out;
}

json shipped_layout(const models::MigConfig& config) {
  json counts = json::object();
  for (const models::MigCount& count : config.counts) counts[count.profile] = count.count;
  return json::array({entry_of("all", config.enabled, counts)});
}

class LayoutCollector {
 public:
  explicit LayoutCollector(const models::Catalogue& catalogue) : catalogue_(catalogue) {
    layouts_["all-disabled"] = json::array({entry_of("all", false, nullptr)});
  }

  void add(const PoolTarget& target) {
    const NodePool& pool = *target.pool;
    const models::MigGeometry* geometry = catalogue_.find_mig(target.instance->gpu_model);
    if (!pool.mig) return;
    if (pool.mig->nos) {
      found_.push_back(make_diagnostic(
          Code::ExportUnfit, pool.mig->nos->where,
          fmt::format("nos cuts the GPUs of node pool \"{}\", not mig-manager", pool.name.value),
          "use --to nos"));
      return;
    }
    if (geometry == nullptr) {
      found_.push_back(make_diagnostic(
          Code::MigUnsupported, pool.mig->config.where,
          fmt::format("the placements of MIG instances on {} are not known", target.gpu->name)));
      return;
    }
    needs_reset_ = needs_reset_ || geometry->mode_change_needs_reset;
    add_layout(target, *geometry, pool.mig->config);
    for (const scenarios::MigChange& change : pool.mig->changes) {
      add_layout(target, *geometry, change.config);
    }
    any_ = true;
  }

  Expected<std::optional<MigPartedFile>> finish() {
    if (!found_.empty()) return tl::unexpected(std::move(found_));
    if (!any_) return std::nullopt;
    MigPartedFile file;
    file.yaml = "version: v1\nmig-configs:\n" + indented(yaml_text(layouts_), 2);
    file.has_own = has_own_;
    file.needs_reset = needs_reset_;
    return file;
  }

 private:
  void add_layout(const PoolTarget& target, const models::MigGeometry& geometry,
                  const Located<std::string>& name) {
    NodePool pool = *target.pool;
    pool.mig->config = name;
    if (const auto devices = mig_devices(pool, *target.instance, geometry); !devices) {
      found_.insert(found_.end(), devices.error().begin(), devices.error().end());
      return;
    }
    const auto own = pool.mig->configs.find(name.value);
    const bool is_own = own != pool.mig->configs.end();
    has_own_ = has_own_ || is_own;
    json layout = is_own ? own_layout(own->second, target.instance->gpu_count)
                         : shipped_layout(*models::shipped_mig_config(name.value, geometry));
    const auto [known, is_new] = layouts_.emplace(name.value, layout);
    if (is_new || *known == layout) return;
    found_.push_back(make_diagnostic(
        Code::ExportUnfit, name.where,
        fmt::format("MIG layout {} stands for two layouts, and mig-manager reads one file for all "
                    "nodes",
                    name.value),
        "give them different names under mig.configs"));
  }

  const models::Catalogue& catalogue_;
  json layouts_ = json::object();
  bool any_ = false;
  bool has_own_ = false;
  bool needs_reset_ = false;
  Diagnostics found_;
};

std::string mig_label_commands(const std::vector<PoolTarget>& targets) {
  std::string out;
  for (const PoolTarget& target : targets) {
    if (!target.pool->mig) continue;
    out += fmt::format("  kubectl label nodes -l {} {}={} --overwrite\n",
                       label_of_nodes(*target.pool), kMigLabel, target.pool->mig->config.value);
  }
  return out;
}

std::string mig_parted_title(const scenarios::Scenario& scenario,
                             const std::vector<PoolTarget>& targets, const MigPartedFile& file) {
  const auto first = std::ranges::find_if(
      targets, [](const PoolTarget& target) { return target.pool->mig.has_value(); });
  const std::string config =
      first == targets.end() ? "all-disabled" : first->pool->mig->config.value;
  return head(head_files::mig_parted_txt(),
              {{"variant", yaml_scalar(scenario.name)},
               {"known", file.has_own
                             ? ""
                             : "mig-manager knows all of these layouts by itself: only the node "
                               "labels are needed.\n"},
               {"config", config}}) +
         mig_runbook_comment(targets, file.needs_reset);
}

}  // namespace

std::string mig_manager_values(const std::optional<MigPartedFile>& file) {
  if (!file) return "migManager:\n  enabled: false\n";
  std::string out = "migManager:\n  enabled: true\n";
  if (file->needs_reset) {
    out += comment(
        "These GPUs are reset to change MIG mode, which virtual machines often refuse: the node is "
        "rebooted then (https://github.com/NVIDIA/gpu-operator/issues/1606).",
        2);
    out += "  env:\n  - name: WITH_REBOOT\n    value: \"true\"\n";
  }
  if (!file->has_own) {
    return out + comment("Layouts: mig-manager makes the list of each node from its GPUs.", 2);
  }
  out +=
      "  config:\n    create: true\n    name: slicewise-mig-configs\n    default: all-disabled\n";
  return out + "    data:\n      config.yaml: |-\n" + indented(file->yaml, 8);
}

std::string mig_runbook_comment(const std::vector<PoolTarget>& targets, bool needs_reset) {
  return head(head_files::mig_runbook_txt(),
              {{"reset", needs_reset ? "These GPUs are reset to turn MIG on or off, which virtual "
                                       "machines often refuse "
                                       "(https://github.com/NVIDIA/gpu-operator/issues/1606): set "
                                       "WITH_REBOOT=true for mig-manager, and plan the time of a "
                                       "boot.\n"
                                     : ""}}) +
         commented(mig_label_commands(targets));
}

Expected<std::optional<MigPartedFile>> mig_parted_file(const std::vector<PoolTarget>& targets,
                                                       const models::Catalogue& catalogue) {
  LayoutCollector layouts(catalogue);
  for (const PoolTarget& target : targets) layouts.add(target);
  return layouts.finish();
}

Expected<ExportFiles> render_mig_parted(const scenarios::Scenario& scenario,
                                        const models::Catalogue& catalogue,
                                        const ExportOptions& /*options*/) {
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  const auto file = mig_parted_file(*targets, catalogue);
  if (!file) return tl::unexpected(file.error());
  if (!*file) {
    return failure(
        Code::ExportUnfit, scenario.where, "no node pool of this variant has a MIG layout",
        "export a variant with nodePools.mig, or another kind: slicewise explain export");
  }
  return ExportFiles{
      {"mig-config.yaml", mig_parted_title(scenario, *targets, **file) + "\n" + (*file)->yaml}};
}

}  // namespace slicewise::reports
