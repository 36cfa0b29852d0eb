#include "slicewise/reports/export/kinds.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../reports/golden_file.hpp"
#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

using scenarios::NodePool;
using scenarios::Scenario;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const ExportKind& kind_named(std::string_view name) {
  return *std::ranges::find(kExportKinds, name, &ExportKind::name);
}

Scenario sample_of(const std::string& name) {
  for (auto& [sample_name, scenario] : sample_scenarios(20)) {
    if (sample_name == name) return scenario;
  }
  ADD_FAILURE() << "no sample " << name;
  return {};
}

Expected<ExportFiles> export_of(const std::string& kind, const Scenario& scenario,
                                const ExportOptions& options = {}) {
  return kind_named(kind).render(scenario, models::load_catalogue(), options);
}

ExportOptions on_bottlerocket() {
  ExportOptions options;
  options.image = NodeImage::Bottlerocket;
  return options;
}

// All files as one text, as a person would read a directory.
std::string text_of(const Expected<ExportFiles>& files) {
  if (!files) {
    std::string problems;
    for (const Diagnostic& d : files.error()) problems += d.message + "\n";
    ADD_FAILURE() << problems;
    return problems;
  }
  std::string out;
  for (const ExportFile& file : *files) out += "==> " + file.path + " <==\n" + file.text;
  return out;
}

std::vector<std::string> refusals(const Expected<ExportFiles>& files) {
  std::vector<std::string> out;
  if (files) return out;
  for (const Diagnostic& d : files.error()) {
    out.push_back(std::string(info(d.code).name) + ": " + d.message);
  }
  return out;
}

Scenario with_pool(NodePool pool) {
  Scenario out;
  out.name = "base";
  out.node_pools = {std::move(pool)};
  return out;
}

NodePool cut(const std::string& config, scenarios::MigStrategy strategy) {
  NodePool pool = whole_gpus("a100", "p4d.24xlarge");
  pool.mig.emplace();
  pool.mig->strategy = strategy;
  pool.mig->config.value = config;
  return pool;
}

struct GoldenExport {
  const char* kind;
  const char* sample;
};

class ExportedFiles : public testing::TestWithParam<GoldenExport> {};

TEST_P(ExportedFiles, MatchTheGoldenText) {
  const auto [kind, sample] = GetParam();
  expect_golden("../../export/golden/" + std::string(sample) + "." + kind + ".txt",
                text_of(export_of(kind, sample_of(sample))));
}

INSTANTIATE_TEST_SUITE_P(Golden, ExportedFiles,
                         testing::Values(GoldenExport{"karpenter", "several-pools"},
                                         GoldenExport{"gpu-operator", "mig-time-slicing"},
                                         GoldenExport{"mig-parted", "mig-layouts"},
                                         GoldenExport{"kustomize", "several-pools"},
                                         GoldenExport{"bottlerocket", "demo-after"},
                                         GoldenExport{"bundle", "several-pools"},
                                         GoldenExport{"bundle", "mig-layouts"}),
                         [](const auto& test) {
                           std::string name =
                               std::string(test.param.kind) + "_" + test.param.sample;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(ExportKinds, NamesAndPathsAreDistinct) {
  std::set<std::string_view> names;
  for (const ExportKind& kind : kExportKinds) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    const auto files = kind.render(sample_of("demo-after"), models::load_catalogue(), {});
    if (!files) continue;
    std::set<std::string> paths;
    for (const ExportFile& file : *files) EXPECT_TRUE(paths.insert(file.path).second) << file.path;
  }
}

// Renamed shares are unknown to EC2, and whole GPUs of that name are hidden.
TEST(Karpenter, OverlayHoldsTheCountOfTheInstanceType) {
  const std::string shared =
      text_of(export_of("karpenter", with_pool(time_sliced("t4", "g4dn.12xlarge", 4, true))));
  EXPECT_THAT(shared, HasSubstr("  capacity:\n    nvidia.com/gpu: \"0\"\n"
                                "    nvidia.com/gpu.shared: \"16\"\n"));
  const std::string kept =
      text_of(export_of("karpenter", with_pool(time_sliced("t4", "g4dn.12xlarge", 4))));
  EXPECT_THAT(kept, HasSubstr("  capacity:\n    nvidia.com/gpu: \"16\"\n"));
  const std::string whole =
      text_of(export_of("karpenter", with_pool(whole_gpus("t4", "g4dn.12xlarge"))));
  EXPECT_THAT(whole, Not(HasSubstr("kind: NodeOverlay")));
}

// The EC2 API counts 0 GPUs in a g6f, so Karpenter would never start one.
TEST(Karpenter, FractionsOfACardNeedAnOverlay) {
  EXPECT_THAT(text_of(export_of("karpenter", with_pool(whole_gpus("small", "g6f.xlarge")))),
              HasSubstr("  capacity:\n    nvidia.com/gpu: \"1\"\n"));
}

TEST(Karpenter, LabelsThatKarpenterRefusesAreLeftOut) {
  NodePool pool = whole_gpus("t4", "g4dn.xlarge");
  pool.labels = {{"team", "ml"}, {"node.kubernetes.io/instance-type", "g4dn.xlarge"}};
  const std::string text = text_of(export_of("karpenter", with_pool(std::move(pool))));
  EXPECT_THAT(text, AllOf(HasSubstr("        team: ml\n"),
                          HasSubstr("# Left out: label node.kubernetes.io/instance-type"),
                          Not(HasSubstr("        node.kubernetes.io/instance-type:"))));
}

TEST(MigParted, LayoutThatDoesNotFitIsRefused) {
  NodePool pool = cut("twice", scenarios::MigStrategy::Mixed);
  scenarios::MigPartedEntry entry;
  entry.mig_devices = {{{"4g.20gb", {}}, 2}};
  pool.mig->configs["twice"] = {entry};
  EXPECT_THAT(refusals(export_of("mig-parted", with_pool(std::move(pool)))),
              ElementsAre(HasSubstr("MIG_LAYOUT_IMPOSSIBLE")));
}

TEST(MigParted, LayoutOfALaterChangeIsCheckedAndWritten) {
  NodePool pool = cut("all-1g.5gb", scenarios::MigStrategy::Mixed);
  pool.mig->changes = {{seconds(60), {"all-3g.20gb", {}}}};
  const std::string text = text_of(export_of("mig-parted", with_pool(pool)));
  EXPECT_THAT(text, AllOf(HasSubstr("  all-3g.20gb:\n"), HasSubstr("  all-1g.5gb:\n")));
  pool.mig->changes.front().config.value = "all-9g.90gb";
  EXPECT_FALSE(export_of("mig-parted", with_pool(pool)).has_value());
}

TEST(MigParted, NothingToSayWithoutMig) {
  EXPECT_THAT(refusals(export_of("mig-parted", sample_of("demo-after"))),
              ElementsAre(HasSubstr("EXPORT_UNFIT: no node pool of this variant has a MIG")));
}

// The operator's variable of the environment beats the config of a node.
TEST(GpuOperator, TwoStrategiesAreLeftToTheNodes) {
  Scenario scenario = with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Mixed));
  EXPECT_THAT(text_of(export_of("gpu-operator", scenario)), HasSubstr("mig:\n  strategy: mixed\n"));
  scenario.node_pools.push_back(cut("all-7g.40gb", scenarios::MigStrategy::Single));
  scenario.node_pools.back().name.value = "b100";
  EXPECT_THAT(text_of(export_of("gpu-operator", scenario)), HasSubstr("  strategy: \"\"\n"));
}

TEST(Bottlerocket, SaysWhatTheScenarioSays) {
  EXPECT_THAT(text_of(export_of("bottlerocket",
                                with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Single)))),
              HasSubstr("device-partitioning-strategy = \"mig\"\n"
                        "[settings.kubelet-device-plugins.nvidia.mig.profile]\n"
                        "\"a100.40gb\" = \"1g.5gb\"\n"));
  EXPECT_THAT(text_of(export_of("bottlerocket", with_pool(with_mps("t4", "g4dn.xlarge", 4)))),
              HasSubstr("[settings.kubelet-device-plugins.nvidia.mps]\nreplicas = 4\n"
                        "rename-by-default = false\n"));
  EXPECT_THAT(text_of(export_of("karpenter", with_pool(time_sliced("t4", "g4dn.xlarge", 4)),
                                on_bottlerocket())),
              AllOf(HasSubstr("alias: bottlerocket@latest"),
                    HasSubstr("device-sharing-strategy = \\\"time-slicing\\\"")));
}

TEST(Bottlerocket, RefusesWhatItHasNoSettingFor) {
  NodePool pool = cut("all-1g.5gb", scenarios::MigStrategy::Mixed);
  EXPECT_THAT(refusals(export_of("bottlerocket", with_pool(pool))),
              ElementsAre(HasSubstr("mig.strategy mixed")));
  pool = time_sliced("t4", "g4dn.xlarge", 4);
  pool.device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
  pool.device_plugin->other_flags = {{"flags.failOnInitError", "false"}};
  EXPECT_THAT(refusals(export_of("bottlerocket", with_pool(pool))),
              ElementsAre(HasSubstr("sharedDevicesAllocationPolicy"),
                          HasSubstr("no setting for flags.failOnInitError")));
}

TEST(Bundle, BottlerocketInstallsNoPlugin) {
  const Expected<ExportFiles> files =
      export_of("bundle", with_pool(time_sliced("t4", "g4dn.xlarge", 4)), on_bottlerocket());
  EXPECT_THAT(text_of(files),
              AllOf(Not(HasSubstr("helm upgrade -i")), HasSubstr("karpenter.yaml")));
}

}  // namespace
}  // namespace slicewise::reports
