
#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

// Services a and b without traffic of their own, and a Job.
std::string with_pipelines(const std::string& pipelines) {
  return with_workload("kind: Service, measured: {requestGpuTime: 9ms}",
                       "  pipelines: [" + pipelines + "]\n") +
         "  - {name: b, kind: Service, measured: {requestGpuTime: 9ms}}\n"
         "  - {name: train, work: {units: 1}, measured: {unitTime: 1s}}\n";
}

std::string voice(const std::string& stages, const std::string& more = "") {
  return with_pipelines("{name: voice, traffic: {mean: 2/s}, stages: [" + stages + "]" + more +
                        "}");
}

const std::string kAThenB = "{workload: a}, {workload: b, after: [a]}";

TEST(Pipelines, StagesTrafficAndObjectivesAreRead) {
  const Scenario scenario =
      scenario_of(voice(kAThenB, ", slo: {latencyP95: 1s, availability: 99%}"));
  ASSERT_EQ(scenario.pipelines.size(), 1U);
  const Pipeline& pipeline = scenario.pipelines[0];
  EXPECT_EQ(pipeline.name.value, "voice");
  EXPECT_EQ(pipeline.traffic.mean.per_second, 2);
  ASSERT_EQ(pipeline.stages.size(), 2U);
  EXPECT_EQ(pipeline.stages[1].workload.value, "b");
  ASSERT_EQ(pipeline.stages[1].after.size(), 1U);
  EXPECT_EQ(pipeline.stages[1].after[0].value, "a");
  EXPECT_EQ(pipeline.objectives.size(), 2U);
  EXPECT_FALSE(scenario.workloads[0].traffic.has_value());
}

std::string halves(const std::string& first, const std::string& second,
                   const std::string& stages = "{workload: a}, {workload: b, after: [a]}") {
  return with_workload(
             "kind: Service, llm: {model: m, " + first + "}",
             "  pipelines: [{name: p, traffic: {mean: 2/s}, stages: [" + stages + "]}]\n") +
         "  - {name: b, kind: Service, llm: {" + second + "}}\n";
}

TEST(Pipelines, WhoDecodesComesAfterTheOneWithThePrompt) {
  const std::string prompt = "role: Prefill, tokens: {input: 600, output: 100}";
  const std::string rest = "model: m, role: Decode";
  const Scenario scenario = scenario_of(
      halves(prompt, rest, "{workload: a}, {workload: b, after: [a], kvBandwidth: 3Gi}"));
  EXPECT_EQ(scenario.workloads[0].llm->role, LlmRole::Prefill);
  EXPECT_EQ(scenario.workloads[1].llm->role, LlmRole::Decode);
  EXPECT_EQ(scenario.pipelines[0].stages[1].kv_bandwidth, gibibytes(3));
  expect_problem(halves(prompt, rest, "{workload: a}, {workload: b}"), Code::SettingConflict,
                 "\"b\" decodes, and needs");
  expect_problem(halves("tokens: {input: 600, output: 100}", rest), Code::SettingConflict,
                 "\"b\" decodes, and needs");
  expect_problem(halves(prompt, "model: other, role: Decode"), Code::SettingConflict,
                 "do not have the same keys and values");
  expect_problem(halves(prompt, rest + ", tokens: {input: 600, output: 100}"),
                 Code::SettingConflict, "tokens on a Service with llm.role Decode");
  expect_problem(with_workload("kind: Service, llm: {model: m, " + prompt +
                               "}, traffic: {mean: 1/s}, slo: {tpotP95: 50ms}"),
                 Code::SettingConflict, "tpotP95 on a Service with llm.role Prefill");
  expect_problem(halves(prompt, "model: m, tokens: {input: 600, output: 100}",
                        "{workload: a}, {workload: b, after: [a], kvBandwidth: 3Gi}"),
                 Code::SettingConflict, "kvBandwidth of \"b\"");
}

// Of a workload that lacks its name, too.
TEST(Pipelines, WhatIsWrongHasAPlace) {
  std::string text = voice("{workload: b}, {workload: missing}");
  const std::string name = "name: a, ";
  text.erase(text.find(name), name.size());
  const LoadedScenario loaded = read_scenario_file({"f.yaml", text}, {});
  EXPECT_GE(loaded.problems.size(), 3U);
  for (const Diagnostic& problem : loaded.problems) {
    EXPECT_GT(problem.where.line, 0) << problem.message;
    EXPECT_EQ(problem.help.find("known: ,"), std::string::npos);
  }
}

TEST(Pipelines, APathNamesAStageByItsWorkload) {
  const auto set = [](const std::string& path) {
    return read_scenario_file({"f.yaml", voice(kAThenB)}, {{"pipelines.voice.stages." + path}});
  };
  const LoadedScenario loaded = set("b.network=7ms");
  ASSERT_TRUE(loaded.problems.empty());
  EXPECT_EQ(loaded.set.variants[0].pipelines[0].stages[1].network, milliseconds(7));
  ASSERT_FALSE(set("zzz.network=7ms").problems.empty());
  EXPECT_EQ(set("zzz.network=7ms").problems[0].help, "known here: a, b");
}

TEST(Pipelines, AServiceNeedsTrafficOrAPipeline) {
  expect_problem(voice("{workload: a}"), Code::FieldMissing, "unless a pipeline uses it");
  expect_problem(with_workload("kind: Service, measured: {requestGpuTime: 9ms}"),
                 Code::FieldMissing, "unless a pipeline uses it");
}

TEST(Pipelines, StagesAreServicesOfTheScenario) {
  expect_problem(voice(kAThenB + ", {workload: train}"), Code::SettingConflict,
                 "\"train\" is a Job, not a Service");
  expect_problem(voice(kAThenB + ", {workload: c}"), Code::FieldUnknown,
                 "no workload is called \"c\"");
  expect_problem(voice("{workload: a}, {workload: b, after: [train]}"), Code::FieldUnknown,
                 "\"train\" is no stage of pipeline \"voice\"");
  expect_problem(voice(kAThenB + ", {workload: a}"), Code::NameDuplicate, "two stages");
}

TEST(Pipelines, EveryCycleIsFound) {
  expect_problem(voice("{workload: a, after: [b]}, {workload: b, after: [a]}"),
                 Code::SettingConflict, "stages \"a\", \"b\" wait for each other");
  expect_problem(voice("{workload: a, after: [a]}, {workload: b}"), Code::SettingConflict,
                 "stage \"a\" waits for itself");
  const Diagnostics found =
      read_scenario_file({"f.yaml", voice("{workload: a, after: [a]}, {workload: b, after: [b]}")})
          .problems;
  EXPECT_EQ(found.size(), 2U);
}

TEST(Pipelines, HaveTheirOwnNamesAndFigures) {
  const std::string one = "{name: voice, traffic: {mean: 2/s}, stages: [" + kAThenB + "]}";
  expect_problem(with_pipelines(one + ", " + one), Code::NameDuplicate, "\"voice\"");
  expect_problem(voice(kAThenB, ", slo: {waitP95: 1s}"), Code::FieldUnknown, "waitP95");
  expect_problem(with_pipelines("{name: voice, stages: [" + kAThenB + "]}"), Code::FieldMissing,
                 "\"traffic\" is missing in pipelines[0]");
  const Diagnostics empty = read_scenario_file({"f.yaml", voice("")}).problems;
  ASSERT_FALSE(empty.empty());
  EXPECT_EQ(empty[0].message, "pipelines[0].stages is empty");
}

TEST(Pipelines, BringTokensOrTheServiceHasThem) {
  const std::string chat = "kind: Service, llm: {model: m}";
  const std::string text = with_workload(
      chat, "  pipelines: [{name: p, traffic: {mean: 1/s}, stages: [{workload: a}]}]\n");
  expect_problem(text, Code::FieldMissing, "\"tokens\" is missing");
}

}  // namespace
}  // namespace slicewise::scenarios
