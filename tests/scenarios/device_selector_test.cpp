#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/resource_claim.hpp"

namespace slicewise::scenarios {
namespace {

using ::testing::HasSubstr;

const DraDevice kA10g{"NVIDIA A10G", "Ampere", "8.6", "", gibibytes(24)};
const DraDevice kSlice{"NVIDIA A100-SXM4-40GB", "Ampere", "8.0", "1g.5gb", mebibytes(4864)};

std::string attribute(const std::string& rest) {
  return "device.attributes['gpu.nvidia.com']." + rest;
}

TEST(DeviceSelector, SelectsByWhatTheDriverPublishes) {
  const std::vector<std::pair<std::string, std::pair<bool, bool>>> cases = {
      {"device.driver == 'gpu.nvidia.com'", {true, true}},
      {attribute("type == 'gpu'"), {true, false}},
      {attribute("productName == 'NVIDIA A10G'"), {true, false}},
      {attribute("productName.matches('^NVIDIA.A10G$')"), {true, false}},
      {attribute("productName.lowerAscii().contains('a100')"), {false, true}},
      {attribute("architecture in ['Ampere', \"Hopper\"]"), {true, true}},
      {attribute("cudaComputeCapability.compareTo(semver('8.6.0')) >= 0"), {true, false}},
      {attribute("cudaComputeCapability.isLessThan(semver('8.6.0'))"), {false, true}},
      {"'profile' in device.attributes['gpu.nvidia.com'] && " + attribute("profile == '1g.5gb'"),
       {false, true}},
      {"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0", {true, false}},
      {"device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('24Gi'))", {false, false}},
      {"!(" + attribute("type == 'mig'") + ") || " + attribute("profile.startsWith('1g')"),
       {true, true}}};
  for (const auto& [expression, expected] : cases) {
    EXPECT_FALSE(selector_problem(expression)) << expression;
    EXPECT_EQ(selects(expression, kA10g), expected.first) << expression;
    EXPECT_EQ(selects(expression, kSlice), expected.second) << expression;
  }
}

TEST(DeviceSelector, SaysWhatItCannotTell) {
  const auto wrong = selector_problem(attribute("productname == 'NVIDIA A10G'"));
  ASSERT_TRUE(wrong);
  EXPECT_TRUE(wrong->is_wrong);
  EXPECT_THAT(wrong->message, HasSubstr("publishes no attributes \"productname\""));
  EXPECT_THAT(wrong->help, HasSubstr("did you mean productName?"));
  const auto one = selector_problem(attribute("uuid == 'GPU-1'"));
  ASSERT_TRUE(one);
  EXPECT_FALSE(one->is_wrong);
  EXPECT_THAT(one->message, HasSubstr("nobody knows here"));
  EXPECT_TRUE(selector_problem("device.attributes['resource.kubernetes.io'].pcieRoot == 'a'"));
  EXPECT_TRUE(selector_problem("cel.bind(x, device.driver, x == 'gpu.nvidia.com')"));
  EXPECT_FALSE(selector_problem("cel.bind(x, device.driver, x == 'gpu.nvidia.com')")->is_wrong);
  for (const char* broken :
       {"device.driver == ", "device.driver = 'gpu.nvidia.com'", "device.driver == 'gpu.nvidia.com",
        "(device.driver == 'gpu.nvidia.com'", "device.driver == 'a')", "dev.driver == 'a'"}) {
    ASSERT_TRUE(selector_problem(broken)) << broken;
    EXPECT_TRUE(selector_problem(broken)->is_wrong) << broken;
  }
  EXPECT_TRUE(selector_problem(std::string(10'000, '(')));
  EXPECT_TRUE(selector_problem(std::string(10'000, '!')));
}

}  // namespace
}  // namespace slicewise::scenarios
