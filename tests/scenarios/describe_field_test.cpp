#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/policy.hpp"

namespace slicewise::scenarios {
namespace {

std::string found_path(std::string_view path) {
  const auto field = describe_field(path);
  return field ? field->path : "";
}

TEST(DescribeField, KnowsTheResourcesOfAPod) {
  const std::string resources = "spec.workloads.podTemplate.resources";
  EXPECT_EQ(describe_field(resources + ".requests.cpu")->type, "quantity of CPU (500m, 2)");
  EXPECT_EQ(found_path("workloads.podTemplate.resources.limits.memory"),
            resources + ".limits.memory");
  for (const char* extended :
       {"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb"}) {
    EXPECT_EQ(found_path(resources + ".limits." + extended), resources + ".limits.nvidia.com/gpu");
  }
  EXPECT_EQ(found_path(resources + ".limits.gpu"), "");
}

// A word list makes a field a word: the reader refuses others, the schema lists them.
TEST(DescribeField, WhatHasAListOfWordsIsAWord) {
  EXPECT_THAT(describe_field("spec.scheduler.placement")->type, testing::HasSubstr("one of"));
  std::string text =
      "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nspec:\n"
      "  scheduler: {placement: gavel}\n";
  const LoadedScenario loaded = read_scenario_file({"placement.yaml", text}, {});
  const auto refused = [](const Diagnostic& problem) {
    return problem.code == Code::EnumUnknown && problem.where.line == 5;
  };
  EXPECT_TRUE(std::ranges::any_of(loaded.problems, refused));
}

TEST(DescribeField, AnAssertionNamesEveryFigure) {
  const std::string text = describe_field("spec.policies.assert")->description;
  const auto named = [&](std::string_view figure) {
    return (" " + text).find(" " + std::string(figure)) != std::string::npos;
  };
  for (const std::string_view figure : figures_of_results()) EXPECT_TRUE(named(figure)) << figure;
  for (const std::string_view figure : figures_of_workloads()) EXPECT_TRUE(named(figure)) << figure;
  EXPECT_FALSE(named("pods.eaten"));
}

TEST(DescribeField, ReadsPathsAsSetAndErrorsWriteThem) {
  EXPECT_EQ(found_path("workloads.cifar10.count"), "spec.workloads.count");
  EXPECT_EQ(found_path("workloads[0].count"), "spec.workloads.count");
  EXPECT_EQ(found_path("nodePools.gpu.nodes"), "spec.nodePools.nodes");
  EXPECT_EQ(found_path("nodePools.gpu.devicePlugin.sharing.timeSlicing.resources[0].replicas"),
            "spec.nodePools.devicePlugin.sharing.timeSlicing.resources.replicas");
}

TEST(DescribeField, AMistypedFieldIsNotTheNameOfAnItem) {
  EXPECT_EQ(found_path("nodePools.instanceTyp"), "");
  EXPECT_EQ(found_path("nodePools.devicePlugn.sharing"), "");
  EXPECT_EQ(found_path("nodePools.gpu.also.nodes"), "");
  EXPECT_EQ(found_path("workloads.cifar10.cuont"), "");
}

TEST(DescribeField, FieldsOfServing) {
  const auto peak = describe_field("workloads.traffic.peakAt");
  ASSERT_TRUE(peak.has_value());
  EXPECT_EQ(peak->path, "spec.workloads.traffic.peakAt");
  EXPECT_EQ(peak->type, "time of day (\"14:00\")");
  EXPECT_EQ(describe_field("pipelines.voice.traffic.mean")->path, "spec.pipelines.traffic.mean");
  EXPECT_EQ(describe_field("workloads.chat.llm.tokens.input")->type,
            "number, {mean, distribution}, {p50, p95} or {p50, p99}");
  EXPECT_EQ(describe_field("workloads.lab.notebooks.memory.p95")->type,
            "quantity of bytes (8Gi, 3000Mi, 16G)");
  EXPECT_EQ(describe_field("workloads.autoscaling")->children.size(), 11U);
  const auto similar = similar_fields("workloads.traffic.peekAt");
  ASSERT_FALSE(similar.empty());
  EXPECT_EQ(similar[0], "spec.workloads.traffic.peakAt");
}

}  // namespace
}  // namespace slicewise::scenarios
