#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"

#include "../reports/golden_file.hpp"
#include "scenario_samples.hpp"

// The whole text of one export of each kind, in tests/export/golden.
namespace slicewise::reports {
namespace {

void expect_export(const std::string& name, const Expected<std::string>& text) {
  ASSERT_TRUE(text.has_value()) << name;
  expect_golden("../../export/golden/" + name, *text);
}

scenarios::Scenario sample(const std::string& name) {
  for (auto& [sample_name, scenario] : sample_scenarios(20)) {
    if (sample_name == name) return scenario;
  }
  ADD_FAILURE() << "no sample " << name;
  return {};
}

class ExportedText : public testing::TestWithParam<const char*> {};

TEST_P(ExportedText, HelmValues) {
  expect_export(std::string(GetParam()) + ".helm-values.yaml",
                helm_values(sample(GetParam()), sample_catalogue(), {}));
}

INSTANTIATE_TEST_SUITE_P(Golden, ExportedText,
                         testing::Values("demo-after", "demo-before", "several-pools",
                                         "mig-time-slicing", "mps"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ExportedTextOfTheDemo, HelmValuesOfItsOwnChart) {
  expect_export("demo-after-0.14.helm-values.yaml",
                helm_values(demo_after(), sample_catalogue(), {"0.14.5", {{"eks-node", "gpu"}}}));
}

TEST(ExportedTextOfTheDemo, ConfigMaps) {
  expect_export("demo-after.configmap.yaml", config_map(demo_after(), sample_catalogue(), {}));
  expect_export("demo-after-0.14.configmap.yaml",
                config_map(demo_after(), sample_catalogue(), {"0.14.5", {{"eks-node", "gpu"}}}));
}

TEST(ExportedTextOfTheDemo, PodPatches) {
  expect_export("demo-after.pod-patch.yaml", pod_patches(demo_after()));
}

}  // namespace
}  // namespace slicewise::reports
