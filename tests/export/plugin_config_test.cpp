#include <filesystem>

#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/load.hpp"

#include "../reports/golden_file.hpp"

// The same files that the plugin's own parser reads in validate_exports.py: the loader refuses what
// the plugin refuses, and also what the plugin reads past without a word (ignored_by_plugin).
namespace slicewise::reports {
namespace {

namespace fs = std::filesystem;

std::string as_scenario(const std::string& plugin_config) {
  std::string out =
      "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: pasted}\n"
      "spec:\n  nodePools:\n  - name: a100\n    instanceType: p4d.24xlarge\n    devicePlugin:\n";
  std::istringstream lines(plugin_config);
  for (std::string line; std::getline(lines, line);) out += "      " + line + '\n';
  return out +
         "  workloads:\n  - name: train\n    kind: Job\n"
         "    podTemplate: {resources: {requests: {cpu: 1, memory: 4Gi}}}\n"
         "    gpuMemory: {resident: 1Gi}\n    work: {units: 1}\n"
         "    measured: {device: A100-SXM4-40GB, unitTime: 1s, gpuBusy: 50%, provenance: "
         "Assumed}\n";
}

std::vector<fs::path> configs_in(const std::string& folder) {
  std::vector<fs::path> out;
  const fs::path root = fs::path(SLICEWISE_SOURCE_DIR) / "tests/export/plugin_configs" / folder;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) out.push_back(entry.path());
  EXPECT_FALSE(out.empty()) << folder;
  return out;
}

std::string listed(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    out += std::string(info(d.code).name) + ": " + d.message + '\n';
  }
  return out;
}

TEST(PastedPluginConfig, AcceptedByThePluginIsAcceptedAndExported) {
  const models::Catalogue catalogue = models::load_catalogue();
  for (const fs::path& path : configs_in("accepted")) {
    const auto set = scenarios::load_scenario({path.string(), as_scenario(file_text(path))});
    ASSERT_TRUE(set.has_value()) << path << listed(set.error());
    const auto values = helm_values(set->variants.front(), catalogue, {});
    EXPECT_TRUE(values.has_value()) << path << listed(values.error());
  }
}

void expect_refused(const std::string& folder) {
  for (const fs::path& path : configs_in(folder)) {
    const auto set = scenarios::load_scenario({path.string(), as_scenario(file_text(path))});
    ASSERT_FALSE(set.has_value()) << path;
    for (const Diagnostic& d : set.error()) {
      EXPECT_GE(d.where.line, 9) << path << ": not about the plugin config: " << d.message;
    }
  }
}

TEST(PastedPluginConfig, RefusedByThePluginIsRefused) { expect_refused("refused"); }

TEST(PastedPluginConfig, IgnoredByThePluginIsRefused) { expect_refused("ignored_by_plugin"); }

}  // namespace
}  // namespace slicewise::reports
