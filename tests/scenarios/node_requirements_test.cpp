#include "slicewise/scenarios/node_requirements.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/cluster_files.hpp"

// What Karpenter makes of a requirement: kubernetes-sigs/karpenter pkg/scheduling/requirement.go.
namespace slicewise::scenarios {
namespace {

bool is_met(const std::string& op, const std::vector<std::string>& values,
            std::optional<std::string_view> label) {
  return allows({"key", op, values, {}}, label);
}

TEST(NodeRequirements, AreJudgedAsKarpenterDoes) {
  EXPECT_TRUE(is_met("In", {"g5", "g6"}, "g6"));
  EXPECT_FALSE(is_met("In", {"g5", "g6"}, "g6e"));
  EXPECT_FALSE(is_met("In", {"g5"}, std::nullopt));
  EXPECT_FALSE(is_met("NotIn", {"g5", "g6"}, "g6"));
  EXPECT_TRUE(is_met("NotIn", {"g5"}, "g6"));
  EXPECT_TRUE(is_met("NotIn", {"g5"}, std::nullopt));
  EXPECT_TRUE(is_met("Exists", {}, "g5"));
  EXPECT_TRUE(is_met("Exists", {}, ""));
  EXPECT_TRUE(is_met("In", {""}, ""));
  EXPECT_FALSE(is_met("Exists", {}, std::nullopt));
  EXPECT_FALSE(is_met("DoesNotExist", {}, "g5"));
  EXPECT_TRUE(is_met("DoesNotExist", {}, std::nullopt));
  const std::vector<std::string> bound{"22888"};
  // Below, at and above the bound.
  const auto around = [&](const std::string& op) {
    return std::vector<bool>{is_met(op, bound, "22887"), is_met(op, bound, "22888"),
                             is_met(op, bound, "22889")};
  };
  EXPECT_EQ(around("Gt"), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(around("Gte"), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(around("Lt"), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(around("Lte"), (std::vector<bool>{true, true, false}));
  for (const char* op : {"Gt", "Gte", "Lt", "Lte"}) {
    EXPECT_FALSE(is_met(op, bound, "many")) << op;
    EXPECT_FALSE(is_met(op, bound, std::nullopt)) << op;
  }
}

TEST(NodeRequirements, WhatIsNotKnownDoesNotStandInTheWay) {
  const NodeLabels labels = labels_of_type("gr6.4xlarge");
  EXPECT_TRUE(fulfils(labels, {"team", "In", {"vision"}, {}}));
  EXPECT_FALSE(fulfils(labels, {std::string(kFamilyLabel), "NotIn", {"gr6"}, {}}));
}

// As aws/karpenter-provider-aws has them in website/.../reference/instance-types.md.
TEST(NodeRequirements, NamesOfTypesTellSomeLabels) {
  const auto labels = [](const char* name) {
    std::string text;
    for (const auto& [key, value] : labels_of_type(name)) text += value.value_or("-") + " ";
    return text;
  };
  EXPECT_EQ(labels("gr6.4xlarge"), "gr gr6 6 4xlarge gr6.4xlarge ");
  EXPECT_EQ(labels("p6-b200.48xlarge"), "p p6-b200 6 48xlarge p6-b200.48xlarge ");
  EXPECT_EQ(labels("g4dn.metal"), "g g4dn 4 metal g4dn.metal ");
  EXPECT_EQ(labels("rack"), "rack rack - - rack ");
}

TEST(NodeRequirements, GpusOfOtherMakersAreNone) {
  EXPECT_TRUE(is_gpu_type("g4dn.xlarge"));
  EXPECT_FALSE(is_gpu_type("g4ad.xlarge"));  // AMD
}

}  // namespace
}  // namespace slicewise::scenarios
