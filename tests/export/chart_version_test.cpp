#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/cluster_files.hpp"

#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

Expected<std::string> values_for(const std::string& chart) {
  return helm_values(demo_after(), sample_catalogue(), {chart, {}});
}

class SupportedChart : public testing::TestWithParam<const char*> {};

TEST_P(SupportedChart, IsNamedInTheRollOutCommand) {
  const auto values = values_for(GetParam());
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(*values, testing::HasSubstr(std::string("--version ") + GetParam() + " "));
}

INSTANTIATE_TEST_SUITE_P(ChartVersion, SupportedChart,
                         testing::Values("0.14.0", "0.14.5", "0.15.1", "0.19.3", "0.20.0",
                                         "0.20.12"));

// What `check` takes for the plugin's version is what `export` installs.
TEST(ChartVersion, IsTheOneThatFilesAreCheckedFor) {
  EXPECT_EQ(scenarios::plugin_version(ExportOptions{}.chart_version), scenarios::PluginVersion{});
}

class OtherChart : public testing::TestWithParam<const char*> {};

TEST_P(OtherChart, IsRefusedWithTheListOfSupportedOnes) {
  const auto values = values_for(GetParam());
  ASSERT_FALSE(values.has_value());
  ASSERT_EQ(values.error().size(), 1U);
  EXPECT_EQ(values.error().front().code, Code::EnumUnknown);
  EXPECT_THAT(values.error().front().help, testing::HasSubstr("0.20.x, 0.15.x to 0.19.x, 0.14.x"));
}

INSTANTIATE_TEST_SUITE_P(ChartVersion, OtherChart,
                         testing::Values("0.13.0", "0.21.0", "1.20.0", "", "0.20", "v0.20.0",
                                         "0.20.0-rc.1", "0.-20.0", "0.20.0.1", "latest", "0.20.",
                                         "0.20.0 ", "0.99999999999999999999.0"));

}  // namespace
}  // namespace slicewise::reports
