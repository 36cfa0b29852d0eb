#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/schema.hpp"

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

}  // namespace
}  // namespace slicewise::scenarios
