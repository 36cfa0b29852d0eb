#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

// Labels and taints of nodes have to be ones that the API server takes: two NodePools were exported
// that it refused.
namespace slicewise::scenarios {
namespace {

Diagnostics problems_of(const std::string& fields) {
  return read_scenario_file({"f.yaml",
                             "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\n"
                             "metadata: {name: test}\nspec:\n  nodePools:\n"
                             "  - {name: gpu, instanceType: g5.xlarge,\n" +
                                 fields +
                                 "}\n  workloads:\n"
                                 "  - {name: a, work: {units: 1}, measured: {unitTime: 18s}}\n"})
      .problems;
}

TEST(NodeLabels, WhatKubernetesTakesIsTaken) {
  for (const char* fields :
       {"labels: {team: vision, a.b/c_D.e: \"\", x-9.example.com/y: \"1.30_a-B\"}",
        "taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]"}) {
    EXPECT_TRUE(problems_of(fields).empty()) << fields;
  }
}

TEST(NodeLabels, WhatKubernetesRefusesIsRefused) {
  const std::string longest(63, 'a');
  for (const std::string& fields :
       {std::string("labels: {\"bad key!\": x}"), std::string("labels: {-a: x}"),
        std::string("labels: {a/b/c: x}"), std::string("labels: {Team.com/a: x}"),
        std::string("labels: {/a: x}"), std::string("labels: {a..b/c: x}"),
        std::string("labels: {a: \"x y\"}"), std::string("labels: {a: x-}"),
        "labels: {a" + longest + ": x}", "labels: {a: a" + longest + "}",
        std::string("taints: [{key: \"a b\", effect: NoSchedule}]"),
        std::string("taints: [{key: a, value: \"b c\", effect: NoSchedule}]")}) {
    const Diagnostics found = problems_of(fields);
    ASSERT_EQ(found.size(), 1U) << fields;
    EXPECT_EQ(info(found[0].code).name, "NAME_INVALID") << fields;
    EXPECT_EQ(found[0].where.line, 7) << fields;
  }
  EXPECT_TRUE(problems_of("labels: {" + longest + ": " + longest + "}").empty());
}

}  // namespace
}  // namespace slicewise::scenarios
