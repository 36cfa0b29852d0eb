#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/run_size.hpp"

#include "../../scenarios/fields/fields.hpp"
#include "demo.hpp"

// Every value that a scenario may hold, at its ends and beyond: a world that runs or a diagnostic,
// never a crash. What a world is built from holds no value that was refused.
namespace slicewise::sim {
namespace {

std::string every_field() {
  std::ifstream file(SLICEWISE_SOURCE_DIR "/tests/scenarios/every_field.yaml", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The traces that it names.
Expected<SourceText> read_trace(const std::string& path) {
  if (path.find("jobs") != std::string::npos || path.find("team") != std::string::npos) {
    return SourceText{path,
                      "arrival_s,run_s,gpus,user,group\n0,60,1,ana,vision\n"
                      "5,60,1,bo,vision\n9,60,2,bo,vision\n"};
  }
  return SourceText{path,
                    "when,prompt,answer,client,at_s,rate,law,variation,blocks\n"
                    "0,100,10,0,0,1,Gamma,2,1\n12.5,200,20,0,600,0,,0,1\n"};
}

// The first ones stand with the unit of the value that they replace.
const char* const kExtremes[] = {"0",      "-1",     "2147483648", "9223372036854775807",
                                 "1e-300", "-0",     "1",          "2147483647",
                                 "1e309",  "0.1",    "nan",        "inf",
                                 "\"\"",   "null",   "[]",         "{}",
                                 "[nan]",  "[\"\"]", "1Pi",        "99999999999999999999999"};
constexpr std::size_t kWithUnit = 5;

void expect_an_answer(const std::string& text) {
  const scenarios::LoadedScenario loaded =
      scenarios::read_scenario_file({"extreme.yaml", text}, {}, read_trace);
  for (const Diagnostic& problem : check_names(loaded, demo::catalogue())) {
    EXPECT_GE(problem.where.line, 1) << problem.message;
    EXPECT_FALSE(problem.message.empty());
  }
}

// `step`: one in so many of the values that may stand in the fields is tried, others in the next
// field.
void try_every_field(std::size_t step) {
  const std::string text = every_field();
  const std::regex value(R"(: *(-?\d[\d.]*)([a-zA-Z%/]*)(?=[,}\]\s]))");
  std::size_t next = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), value), end; at != end; ++at) {
    const auto place = static_cast<std::size_t>(at->position(1));
    const auto length = static_cast<std::size_t>(at->length(1) + at->length(2));
    for (; next < std::size(kExtremes); next += step) {
      const std::string other = kExtremes[next] + (next < kWithUnit ? at->str(2) : "");
      SCOPED_TRACE(testing::Message() << at->str() << " as " << other);
      expect_an_answer(std::string(text).replace(place, length, other));
    }
    next -= std::size(kExtremes);
  }
}

TEST(ExtremeValues, OfEveryFieldGiveAWorldOrADiagnostic) { try_every_field(67); }
TEST(ThoroughExtremeValues, OfEveryFieldGiveAWorldOrADiagnostic) { try_every_field(19); }
TEST(NightlyExtremeValues, OfEveryFieldGiveAWorldOrADiagnostic) { try_every_field(1); }

// The declaration of a field by its path, "workloads.asr.replicas"; names of the file's are no
// fields. Where a name has dots, that of what was found last.
const scenarios::Field& field_at(const std::string& path) {
  const scenarios::Field* field = &scenarios::spec_field();
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    const scenarios::FieldList below = field->children();
    if (const auto* found = below.find(part.substr(0, part.find('[')))) field = found;
  }
  return *field;
}

// A minute of each variant that is not too large for it.
void run_a_minute(const scenarios::LoadedScenario& loaded) {
  for (scenarios::Scenario scenario : loaded.set.variants) {
    scenario.duration = std::min(seconds(60), scenario.duration.value_or(seconds(60)));
    scenario.warmup = std::min(scenario.warmup, *scenario.duration);
    const auto world = build_world(scenario, demo::catalogue());
    if (!world || !beyond_limits(estimate_size(*world), {1e6, mebibytes(256)}).empty()) continue;
    try {
      run_replication(*world, 0);
    } catch (const Standstill&) {  // an answer
    }
  }
}

struct Limits {
  Int128 least = 0;
  Int128 most = 0;  // of some the largest number that there is
  std::string unit;
};

// What the table of fields has: of a time, nanoseconds.
Limits limits_of(const scenarios::Field& field, const std::string& unit) {
  const scenarios::Field* time = &field;
  if (field.type == scenarios::FieldType::Random) time = field.block->find("mean");
  const bool is_time = time->type == scenarios::FieldType::Duration ||
                       time->type == scenarios::FieldType::FineDuration;
  if (is_time) return {time->least, time->longest.ns, "ns"};
  return {field.least, field.most, unit};
}

// Every quantity of every example at 0, at 1, at the limits that the table of fields has for it and
// just beyond. One in `step` of them.
void run_every_quantity(std::size_t step) {
  std::size_t next = 0;
  std::size_t run = 0;
  std::set<std::filesystem::path> examples;
  for (const auto& entry :
       std::filesystem::directory_iterator(SLICEWISE_SOURCE_DIR "/scenarios/examples")) {
    if (entry.path().extension() == ".yaml") examples.insert(entry.path());
  }
  for (const std::filesystem::path& example : examples) {
    std::ostringstream text;
    text << std::ifstream(example, std::ios::binary).rdbuf();
    const SourceText file{example.filename().string(), text.str()};
    for (const std::string& input :
         scenarios::read_scenario_file(file, {}, read_trace).set.inputs) {
      const std::regex quantity(R"((.*)=-?\d[\d.]*([a-zA-Z%/]*))");
      std::smatch parts;
      if (!std::regex_match(input, parts, quantity)) continue;
      const auto [least, most, unit] = limits_of(field_at(parts[1]), parts[2]);
      for (const Int128 value : {Int128{0}, Int128{1}, least - 1, least, most, most + 1}) {
        if (next++ % step != 0) continue;
        const std::string setting = fmt::format("{}={}{}", parts.str(1), value, unit);
        SCOPED_TRACE(testing::Message() << file.name << " --set " << setting);
        const auto loaded = scenarios::read_scenario_file(file, {.set = {setting}}, read_trace);
        for (const Diagnostic& problem : loaded.problems) EXPECT_FALSE(problem.message.empty());
        if (!loaded.problems.empty()) continue;
        run_a_minute(loaded);
        ++run;
      }
    }
  }
  EXPECT_GT(run, next / step / 4);
}

TEST(ExtremeValues, OfEveryQuantityRunAMinute) { run_every_quantity(131); }
TEST(ThoroughExtremeValues, OfEveryQuantityRunAMinute) { run_every_quantity(41); }
TEST(NightlyExtremeValues, OfEveryQuantityRunAMinute) { run_every_quantity(1); }

const char* const kHead =
    "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\n"
    "spec:\n  duration: 2m\n";
const char* const kPool = "  nodePools: [{name: t4, instanceType: g4dn.xlarge}]\n";
const char* const kJob =
    "  workloads:\n  - {name: j, kind: Job, podTemplate: {resources: {limits: {nvidia.com/gpu: "
    "1}}},"
    " work: {units: 2}, measured: {unitTime: 6s, gpuBusy: 80%}}\n";

TEST(ExtremeValues, ThoseThatDividedByZero) {
  expect_an_answer(std::string(kHead) +
                   "  nodePools: [{name: t4, instanceType: g4dn.xlarge, devicePlugin: {sharing: "
                   "{mps: {resources: [{name: nvidia.com/gpu, replicas: 0}]}}}}]\n" +
                   kJob);
  for (const char* const slice : {"99999999999999999999gb", "nan", "\"\"", "0gb"}) {
    expect_an_answer(std::string(kHead) +
                     "  nodePools: [{name: t4, instanceType: g4dn.xlarge, nos: {slices: [" + slice +
                     "]}}]\n" + kJob);
  }
  expect_an_answer(std::string(kHead) + kPool +
                   "  workloads:\n  - {name: s, kind: Service, podTemplate: {resources: {limits: "
                   "{nvidia.com/gpu: 1}}}, traffic: {shape: Constant, mean: 1/s}, llm: {weights: "
                   "2Gi, kvBytesPerToken: 0, tokens: {input: 100, output: 20}, step: {weightsTime: "
                   "14.2ms, tokenTime: 63.7us, cacheReadTime: 0.3673us, overhead: 1ms}}}\n");
}

// Kubernetes takes a limit of none for none.
TEST(ExtremeValues, AGpuLimitOfNoneAsksForNone) {
  for (const char* const none : {"0", "-0", "0m"}) {
    std::string text = std::string(kHead) + kPool + kJob;
    text.replace(text.find("gpu: 1"), 6, std::string("gpu: ") + none);
    const auto set = scenarios::load_scenario({"none.yaml", text});
    if (!set) continue;  // refused with a place
    EXPECT_TRUE(set->variants[0].workloads[0].pod.extended.empty());
    EXPECT_EQ(demo::result(set->variants[0]).pods.succeeded, 1);
  }
}

}  // namespace
}  // namespace slicewise::sim
