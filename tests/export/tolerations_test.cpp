#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export_of.hpp"

// Whoever installs something on nodes with taints has to say that it tolerates them.
namespace slicewise::reports {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

scenarios::NodePool tainted(scenarios::NodePool pool, std::string effect = "NoSchedule") {
  pool.taints = {{"dedicated", "gpu", std::move(effect)}};
  return pool;
}

constexpr const char* kNamed = "  - effect: NoSchedule\n    key: dedicated\n    operator: Exists\n";

TEST(Tolerations, AreInAllHelmValues) {
  const auto cut_pool = tainted(cut("all-1g.5gb", scenarios::MigStrategy::Mixed));
  for (const char* kind : {"helm-values", "bundle", "terraform", "argocd", "flux"}) {
    const std::string text =
        text_of(export_of(kind, with_pool(tainted(time_sliced("t4", "g4dn.xlarge", 4)))));
    EXPECT_THAT(text, AllOf(HasSubstr("\ntolerations:\n- key: CriticalAddonsOnly\n"),
                            HasSubstr("\nnfd:\n  worker:\n    tolerations:\n"),
                            HasSubstr("\n- effect: NoSchedule\n  key: dedicated\n")))
        << kind;
  }
  for (const char* kind : {"gpu-operator", "bundle", "terraform", "argocd", "flux"}) {
    EXPECT_THAT(text_of(export_of(kind, with_pool(cut_pool))),
                AllOf(HasSubstr("\ndaemonsets:\n  tolerations:\n"), HasSubstr(kNamed),
                      HasSubstr("\nnode-feature-discovery:\n  worker:\n    tolerations:\n")))
        << kind;
  }
  EXPECT_THAT(text_of(export_of("configmap", with_pool(tainted(whole_gpus("t4", "g4dn.xlarge"))))),
              AllOf(HasSubstr("#     --set-json 'tolerations=[{\"key\":\"CriticalAddonsOnly\""),
                    HasSubstr("#     --set-json 'nfd.worker.tolerations=[")));
}

TEST(Tolerations, AreTheChartsOwnWhereThoseWillDo) {
  scenarios::NodePool pool = time_sliced("t4", "g4dn.xlarge", 4);
  pool.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}, {"x", "", "PreferNoSchedule"}};
  EXPECT_THAT(text_of(export_of("helm-values", with_pool(pool))), Not(HasSubstr("tolerations:")));
  // Of the chart's worker no other value is tolerated.
  pool.taints[0].value = "true";
  EXPECT_THAT(text_of(export_of("helm-values", with_pool(pool))),
              AllOf(HasSubstr("\nnfd:\n  worker:\n"), Not(HasSubstr("\ntolerations:"))));
}

scenarios::Scenario claiming(scenarios::NodePool pool) {
  scenarios::Scenario scenario = with_pool(tainted(std::move(pool)));
  scenario.workloads = {asking("api", 2, "nvidia.com/gpu")};
  return scenario;
}

TEST(Tolerations, OfTheDraDriver) {
  scenarios::Scenario scenario = claiming(with_mps("l4", "g6.xlarge", 2));
  EXPECT_THAT(text_of(export_of("dra", scenario)),
              HasSubstr("#     --set-json 'kubeletPlugin.tolerations=["));
  scenario.node_pools[0].taints[0].effect = "NoExecute";
  EXPECT_THAT(refusals(export_of("dra", scenario)),
              testing::ElementsAre(HasSubstr("ends the MPS servers of NVIDIA's DRA driver")));
}

TEST(Tolerations, OfHami) {
  scenarios::NodePool pool = whole_gpus("l4", "g6.xlarge");
  pool.hami.emplace();
  EXPECT_THAT(text_of(export_of("hami", with_pool(pool))), Not(HasSubstr("  tolerations:")));
  EXPECT_THAT(text_of(export_of("hami", with_pool(tainted(pool)))),
              HasSubstr("  deviceCoreScaling: 1\n  tolerations:\n  - effect: NoSchedule\n"
                        "    key: dedicated\n    operator: Exists\nscheduler:\n"));
}

TEST(Tolerations, OfTheProbe) {
  EXPECT_THAT(text_of(export_of("probe-job", claiming(whole_gpus("l4", "g6.xlarge")))),
              AllOf(HasSubstr("- key: nvidia.com/gpu\n"), HasSubstr("key: dedicated\n")));
}

// The operator's strategy beats the configs, and the plugin refuses MPS under mixed.
TEST(GpuOperator, LeavesTheStrategyToTheConfigsWherePoolsDiffer) {
  scenarios::Scenario scenario = with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Mixed));
  EXPECT_THAT(text_of(export_of("gpu-operator", scenario)), HasSubstr("mig:\n  strategy: mixed\n"));
  scenario.node_pools.push_back(with_mps("l4", "g6.xlarge", 2));
  EXPECT_THAT(text_of(export_of("gpu-operator", scenario)), HasSubstr("  strategy: \"\"\n"));
}

}  // namespace
}  // namespace slicewise::reports
