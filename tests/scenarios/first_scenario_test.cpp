#include <gtest/gtest.h>

#include "one_workload.hpp"

// What somebody writes who knows Kubernetes and not yet this format: one mistake is one diagnostic,
// and what it advises can be done.
namespace slicewise::scenarios {
namespace {

// The one problem of a workload with these fields.
Diagnostic problem_of(const std::string& fields) {
  const Diagnostics found = read_scenario_file({"f.yaml", with_workload(fields)}).problems;
  EXPECT_EQ(found.size(), 1U) << fields;
  return found.empty() ? Diagnostic{} : found.front();
}

constexpr const char* kRest =
    "kind: Service, measured: {requestGpuTime: 20ms}, traffic: {mean: 1/s}";

TEST(FirstScenario, AMisplacedKeyIsToldWhereItBelongs) {
  const auto help = [](const std::string& key) {
    return problem_of(std::string(kRest) + ", " + key).help;
  };
  EXPECT_EQ(help("resources: {limits: {nvidia.com/gpu: 1}}"),
            "it belongs in podTemplate: write `podTemplate: {resources: {requests: {cpu: 500m}, "
            "limits: {nvidia.com/gpu: 1}}}`");
  EXPECT_EQ(help("p95: 250ms"), "it belongs in slo: write `slo: {latencyP95: 250ms}`");
  EXPECT_EQ(help("p95: 250"), "it belongs in slo: write `slo: {latencyP95: 300ms}`")
      << "250 of what?";
  EXPECT_EQ(help("distribution: Exponential").substr(0, 12), "known here: ")
      << "every random time has one: the key says nothing";
  EXPECT_EQ(help("queueLimit: 5").substr(0, 22), "it belongs in serving:");
  EXPECT_EQ(help("banana: 5").substr(0, 12), "known here: ") << "no block has it";
}

TEST(FirstScenario, AnObjectiveByHabitIsToldHowItIsWritten) {
  const auto told = [](const std::string& objective) {
    const Diagnostic found = problem_of(std::string(kRest) + ", slo: {" + objective + "}");
    return found.message.substr(0, found.message.find('"')) + found.help;
  };
  EXPECT_EQ(told("p99: 200ms"), "unknown field write `latencyP99: 200ms`, or ttftP99, tpotP99");
  EXPECT_EQ(told("p50: 1s"), "unknown field write `latencyP50: 1s`, or ttftP50, tpotP50");
  for (const char* key : {"p95Latency", "p95_latency", "latency_p95", "latency-p95"}) {
    const Diagnostic found = problem_of(std::string(kRest) + ", slo: {" + key + ": 100ms}");
    EXPECT_TRUE(found.message.ends_with("did you mean \"latencyP95\"?")) << found.message;
  }
}

TEST(FirstScenario, TheKeyThatItBelongsUnderIsTaken) {
  const std::string pool =
      "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nspec:\n"
      "  nodePools: [{name: gpu, instanceType: g5.xlarge, timeSlicing: {replicas: 4}}]\n"
      "  workloads: [{name: a, profile: p}]\n";
  const Diagnostics found = read_scenario_file({"f.yaml", pool}).problems;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].help.find("it belongs in devicePlugin.sharing: write `devicePlugin: {sharing: "
                               "{timeSlicing: {"),
            0U)
      << found[0].help;
}

TEST(FirstScenario, AMappingIsToldHowItIsWritten) {
  for (const char* field : {"slo: 100ms", "gpuMemory: 4Gi", "startup: 50s"}) {
    const Diagnostic found = problem_of(std::string(kRest) + ", " + field);
    EXPECT_EQ(found.code, Code::FieldType) << field;
    const std::string name = std::string(field).substr(0, std::string(field).find(':'));
    EXPECT_EQ(found.help.find("write it like `" + name + ": {"), 0U) << found.help;
  }
}

TEST(FirstScenario, ACountOfNodesByHabitIsToldHowItIsWritten) {
  for (const std::string key : {"count", "nodeCount", "size", "desiredSize", "desiredCapacity"}) {
    const Diagnostics found =
        read_scenario_file({"f.yaml",
                            "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: "
                            "a}\nspec:\n  nodePools: [{name: gpu, instanceType: g5.xlarge, " +
                                key + ": 3}]\n  workloads: [{name: a, profile: p}]\n"})
            .problems;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].help, "write `nodes: 3`");
  }
}

TEST(FirstScenario, ADeploymentThatServesIsAService) {
  for (const std::string kind : {"kind: Deployment, ", ""}) {
    const std::string rest =
        "measured: {requestGpuTime: 20ms}, traffic: {mean: 1/s}, slo: {latencyP95: 300ms}, "
        "serving: "
        "{concurrency: 2}";
    const Diagnostic found = problem_of(kind + rest);
    EXPECT_EQ(found.message, kind.empty() ? "traffic on a Job" : "traffic on a Deployment");
    EXPECT_EQ(found.help.find("write `kind: Service`"), 0U) << found.help;
    EXPECT_TRUE(
        read_scenario_file({"f.yaml", with_workload("kind: Service, " + rest)}).problems.empty());
  }
}

}  // namespace
}  // namespace slicewise::scenarios
