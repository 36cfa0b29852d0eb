#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// Which types a plan takes for pods that select the architecture of the CPUs, or devices of DRA.
namespace slicewise::sim {
namespace {

using small_plans::limit;
using small_plans::set_with;
using small_plans::small_space;

// Each pool was taken for one of amd64: images for ARM had no node anywhere.
TEST(Plan, PodsForArmRunOnTypesThatHaveIt) {
  models::Catalogue catalogue = demo::catalogue();
  std::ranges::find(catalogue.instances, "g5.xlarge", &models::InstanceType::name)->architecture =
      "arm64";
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge", "g5.xlarge"};
  scenarios::Workload api =
      demo::service(1, 5, milliseconds(5), scenarios::ServiceTime::Law::Exponential);
  api.measured->device.value = "A10G";
  api.objectives.push_back(limit(scenarios::Figure::LatencyP99, milliseconds(200)));
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.node_pools.front().instance_type.value = "g5.xlarge";
  scenario.duration = seconds(12);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  const auto types_for = [&](const std::string& architecture) {
    scenario.workloads[0].pod.node_selector["kubernetes.io/arch"] = architecture;
    std::vector<std::string> types;
    const auto plan = make_plan(set_with(scenario), 0, catalogue, options);
    if (!plan) return types;
    for (const Diagnostic& note : plan->notes) EXPECT_EQ(note.code, Code::ProfileScaled);
    for (const auto& option : plan->options) {
      types.push_back(option.pools.front().instance_type);
    }
    return types;
  };
  EXPECT_THAT(types_for("arm64"), testing::AllOf(testing::Contains("g5.xlarge"),
                                                 testing::Not(testing::Contains("g4dn.xlarge"))));
  EXPECT_THAT(types_for("amd64"), testing::AllOf(testing::Contains("g4dn.xlarge"),
                                                 testing::Not(testing::Contains("g5.xlarge"))));
}

// The cheapest type of all has CPUs for which hardly any image is built.
TEST(Plan, TypesOfArmAreForImagesThatAreBuiltForThem) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge", "g5g.xlarge"};
  scenarios::Workload api =
      demo::service(1, 5, milliseconds(5), scenarios::ServiceTime::Law::Exponential);
  api.measured->device.value = "T4";
  api.objectives.push_back(limit(scenarios::Figure::LatencyP99, milliseconds(200)));
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.node_pools.front().instance_type.value = "g4dn.xlarge";
  scenario.duration = seconds(12);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  const auto plan_now = [&] {
    return *make_plan(set_with(scenario), 0, demo::catalogue(), options);
  };
  const Plan usual = plan_now();
  ASSERT_FALSE(usual.options.empty());
  for (const PlanOption& option : usual.options) {
    EXPECT_EQ(option.pools.front().instance_type, "g4dn.xlarge");
  }
  const auto refused = std::ranges::find(usual.rejected, Code::ImageArchitecture,
                                         [](const RejectedChoice& one) { return one.code; });
  ASSERT_NE(refused, usual.rejected.end());
  EXPECT_EQ(refused->choice.instance_type, "g5g.xlarge");
  EXPECT_THAT(refused->reason.text(), testing::HasSubstr("imageArchitectures does not say"));
  scenario.workloads[0].pod.image_architectures = {scenarios::Architecture::Amd64,
                                                   scenarios::Architecture::Arm64};
  EXPECT_EQ(plan_now().options.front().pools.front().instance_type, "g5g.xlarge");
}

// A claim of DRA says which device the pods need, whatever offers it; how that is shared is a
// choice.
TEST(Plan, ClaimsAreKept) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge", "g5.xlarge", "p4d.24xlarge"};
  options.strategies = {"exclusive", "mig"};
  scenarios::Workload api =
      demo::service(1, 5, milliseconds(5), scenarios::ServiceTime::Law::Exponential);
  api.measured->device.value = "A10G";
  api.pod.extended.clear();
  api.pod.claim.value = "gpu";
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.node_pools.front().instance_type.value = "g5.xlarge";
  scenario.node_pools.front().dra = true;
  scenario.duration = seconds(12);
  scenario.replications = 2;
  const auto refused_with = [&](const std::string& selector) {
    scenarios::ResourceClaim claim;
    claim.name.value = "gpu";
    claim.is_template = true;
    claim.selectors.push_back({selector, {}});
    scenario.claims = {claim};
    std::set<std::string> refused;
    const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
    EXPECT_TRUE(plan && !plan->options.empty()) << selector;
    if (!plan) return refused;
    for (const RejectedChoice& rejected : plan->rejected) {
      if (rejected.code != Code::ResourceNameMismatch) continue;
      EXPECT_THAT(rejected.reason.text(), testing::StartsWith("the claim \"gpu\" of \""));
      const auto& mig = rejected.choice.mig;
      refused.insert(rejected.choice.instance_type +
                     (mig.empty() ? "" : " " + mig.front().profile));
    }
    return refused;
  };
  const std::string of_driver = "device.attributes['gpu.nvidia.com'].";
  const auto others = refused_with(of_driver + "productName == 'NVIDIA A10G'");
  EXPECT_THAT(others, testing::IsSupersetOf({"g4dn.xlarge", "p4d.24xlarge"}));
  EXPECT_FALSE(others.contains("g5.xlarge"));
  const auto small =
      refused_with("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('18Gi')) >= 0");
  EXPECT_THAT(small, testing::IsSupersetOf({"g4dn.xlarge", "p4d.24xlarge 1g.5gb"}));
  EXPECT_FALSE(small.contains("g5.xlarge") || small.contains("p4d.24xlarge") ||
               small.contains("p4d.24xlarge 3g.20gb"));
  EXPECT_TRUE(refused_with(of_driver + "type == 'gpu'").empty());
}

// Whoever asked for nodes of a type is told that the plan chose others.
TEST(Plan, SelectorsOfTypesAreNotKeptAndThatIsSaid) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  scenarios::Workload api =
      demo::service(1, 5, milliseconds(5), scenarios::ServiceTime::Law::Exponential);
  api.measured->device.value = "T4";
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.node_pools.front().instance_type.value = "g5.xlarge";
  scenario.duration = seconds(12);
  const auto notes_with = [&](const std::string& key, const std::string& value) {
    scenario.workloads[0].pod.node_selector = {{key, value}};
    const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
    return plan ? plan->notes : Diagnostics{};
  };
  const Diagnostics told = notes_with("node.kubernetes.io/instance-type", "g5.xlarge");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told.front().message, testing::HasSubstr("instance-type: g5.xlarge"));
  EXPECT_TRUE(notes_with("karpenter.sh/nodepool", "v100").empty());
}

}  // namespace
}  // namespace slicewise::sim
