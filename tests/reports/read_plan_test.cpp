#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

sim::Plan small_plan() {
  sim::Plan plan;
  plan.stamp.scenario = "voice";
  plan.stamp.scenario_file = "voice.yaml";
  plan.stamp.scenario_sha256 = "abc";
  plan.stamp.variant = "base";
  sim::PlanOption option;
  option.pools.push_back({"p4d.24xlarge",
                          "spot",
                          sim::Strategy::Mig,
                          1,
                          {{"3g.20gb", 1}, {"1g.5gb", 3}},
                          {"asr", "tts"},
                          {"3g.20gb", "1g.5gb"},
                          2});
  option.pools.back().other_cuts = {{2, {{"7g.40gb", 1}}}};
  plan.options = {option};
  return plan;
}

// The codes of what is wrong with the plan after an edit of its JSON.
std::vector<std::string> problems_after(const std::function<void(json&)>& edit) {
  json document = json::parse(Report(small_plan()).json());
  edit(document);
  const auto plan = read_plan({"plan.json", document.dump(1)});
  std::vector<std::string> codes;
  if (plan) return codes;
  for (const Diagnostic& d : plan.error()) codes.emplace_back(info(d.code).name);
  return codes;
}

json& pool_of(json& document) { return document["options"][0]["pools"][0]; }

TEST(ReadPlan, IsWhatWasWritten) {
  const sim::Plan written = small_plan();
  const SourceText source{"plan.json", Report(written).json()};
  EXPECT_TRUE(looks_like_plan(source));
  const auto read = read_plan(source);
  ASSERT_TRUE(read) << read.error().front().message;
  EXPECT_EQ(read->stamp.scenario_file, "voice.yaml");
  EXPECT_EQ(read->stamp.variant, "base");
  ASSERT_EQ(read->options.size(), 1U);
  EXPECT_EQ(read->options.front().pools, written.options.front().pools);
  EXPECT_EQ(Report(*read).json(), Report(written).json());
}

// Zero replicas were a division by zero; each of these was taken in silence.
TEST(ReadPlan, EveryOddPoolIsSaid) {
  for (const char* count : {"replicas", "nodes"}) {
    for (const json& odd : {json(0), json(4'000'000'000U), json(18'446'744'073'709'551'615U)}) {
      EXPECT_THAT(problems_after([&](json& d) { pool_of(d)[count] = odd; }),
                  ElementsAre("VALUE_RANGE"))
          << count << odd;
    }
    EXPECT_THAT(problems_after([&](json& d) { pool_of(d)[count] = 1.5; }),
                ElementsAre("FIELD_TYPE"));
  }
  EXPECT_THAT(problems_after([](json& d) { pool_of(d)["onDemandNodes"] = pool_of(d)["nodes"]; }),
              ElementsAre("VALUE_RANGE"));
  EXPECT_THAT(problems_after([](json& d) { pool_of(d)["strategy"] = "mips"; }),
              Contains("ENUM_UNKNOWN"));
  EXPECT_THAT(problems_after([](json& d) { pool_of(d)["replica"] = 4; }),
              ElementsAre("FIELD_UNKNOWN"));
  EXPECT_THAT(problems_after([](json& d) { pool_of(d).erase("purchaseOption"); }),
              ElementsAre("FIELD_MISSING"));
  // Which profile the pods of the second workload ask for.
  EXPECT_THAT(problems_after([](json& d) { pool_of(d)["migProfiles"] = {"3g.20gb"}; }),
              ElementsAre("FIELD_MISSING"));
  EXPECT_THAT(problems_after([](json& d) { pool_of(d).erase("migProfiles"); }),
              ElementsAre("FIELD_MISSING"));
  EXPECT_THAT(problems_after([](json& d) { pool_of(d)["strategy"] = "mps"; }),
              ElementsAre("SETTING_CONFLICT"));
  EXPECT_THAT(problems_after([](json& d) { d["options"][0]["pools"] = json::array(); }),
              ElementsAre("FIELD_MISSING"));
}

TEST(ReadPlan, AllMistakesAtOnceWithTheirPlaces) {
  json document = json::parse(Report(small_plan()).json());
  document["metadata"]["sed"] = 4;
  pool_of(document)["workloads"] = "asr";
  document["counts"].erase("bounded");
  const auto plan = read_plan({"plan.json", document.dump(1)});
  ASSERT_FALSE(plan);
  std::vector<std::string> said;
  for (const Diagnostic& d : plan.error()) {
    EXPECT_GT(d.where.line, 1);
    said.push_back(d.message);
  }
  EXPECT_THAT(said, ElementsAre("counts has no \"bounded\"", "metadata has no key \"sed\"",
                                "options/0/pools/0/workloads must be of type array"));
}

TEST(ReadPlan, AnotherVersionIsSaidAlone) {
  EXPECT_THAT(problems_after([](json& d) {
                d["apiVersion"] = "slicewise.dev/plan.v1alpha2";
                d["news"] = 1;
              }),
              ElementsAre("API_VERSION_UNKNOWN"));
  EXPECT_EQ(read_plan({"plan.json", "{\"a\": "}).error().front().code, Code::YamlSyntax);
}

TEST(ReadPlan, NamesAreThoseOfTheScenario) {
  sim::Plan plan = small_plan();
  plan.options.front().pools.front().instance_type = "g4dn.huge";
  plan.options.front().pools.front().purchase = "savings";
  plan.options.front().pools.front().mig_profiles.back() = "2g.10gb";
  const SourceText source{"plan.json", Report(plan).json()};
  scenarios::Scenario scenario;
  for (const char* name : {"asr", "llm"}) {
    scenario.workloads.emplace_back().name.value = name;
  }
  std::vector<std::string> said;
  const sim::Plan read = read_plan(source).value();
  for (const Diagnostic& d : check_plan_names(source, read.options.front().pools, "/options/0",
                                              scenario, models::load_catalogue())) {
    EXPECT_GT(d.where.line, 1);
    said.push_back(d.message);
  }
  sim::PoolChoice too_many = small_plan().options.front().pools.front();
  too_many.other_cuts.front().gpus = 8;
  const auto of_gpus = check_plan_names(source, std::span(&too_many, 1), "/options/0", scenario,
                                        models::load_catalogue());
  EXPECT_EQ(of_gpus.front().message, "otherCuts has 8 of the 8 GPUs of a node");
  EXPECT_THAT(said, ElementsAre(HasSubstr("\"g4dn.huge\" is not in the catalogue"),
                                "the scenario has no price plan \"savings\"",
                                "the scenario has no workload \"tts\"",
                                "profile \"2g.10gb\" is not in the layout of the pool",
                                "workload \"llm\" has no pool"));
}

}  // namespace
}  // namespace slicewise::reports
