#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/codes.hpp"
#include "slicewise/exit_code.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/reference.hpp"
#include "slicewise/scenarios/load.hpp"

#include "golden_file.hpp"
#include "reports/explain/explanations.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string text_of(std::string_view topic, const TextStyle& style = kTerminal) {
  const Expected<std::string> text = explain(topic, style);
  return text ? *text : "unknown: " + std::string(topic);
}

TEST(Explain, WordsThatAreUsedElsewhereLeadToWhatHasThemHere) {
  for (const char* word : {"hpa", "KEDA"}) EXPECT_EQ(text_of(word), text_of("autoscaling"));
  EXPECT_EQ(text_of("tensor-parallelism"), text_of("llm"));
  EXPECT_EQ(text_of("nos"), text_of("mig"));
  EXPECT_THAT(text_of("priority"), StartsWith("spec.workloads.priority"));
  EXPECT_THAT(text_of("preemption"), StartsWith("spec.workloads.preemptionPolicy"));
}

TEST(Explain, EveryCodeSaysWhatHappensAndWhatToDo) {
  for (const CodeInfo& code : kCodes) {
    const std::string text = text_of(code.name);
    EXPECT_THAT(text, StartsWith(std::string(code.name) + " ("));
    EXPECT_THAT(text, HasSubstr("\nWHAT     ")) << code.name;
    EXPECT_THAT(text, HasSubstr("\nFIX      ")) << code.name;
  }
}

TEST(Explain, FindsNamesWhateverTheirCase) {
  for (const auto& [asked, name] : {std::pair("MPS", "mps"),
                                    {"Time-Slicing", "time-slicing"},
                                    {"gpu_oom", "GPU_OOM"},
                                    {"spec.NodePools", "spec.nodePools"},
                                    {"NODEPOOLS", "nodePools"},
                                    {"pods.OOMKILLS", "pods.oomKills"}}) {
    EXPECT_EQ(text_of(asked), text_of(name));
    EXPECT_THAT(text_of(asked), Not(StartsWith("unknown"))) << asked;
  }
}

// The catalogue has it, and `run` prints it.
TEST(Explain, FindsFiguresByTheEndOfTheirPath) {
  EXPECT_EQ(text_of("oomKilled"), text_of("variants[].pods.oomKilled"));
  EXPECT_EQ(text_of("perJobUsd"), text_of("variants[].cost.perJobUsd"));
}

TEST(Explain, TheDefaultTurnIsThatOfTheCatalogue) {
  const Duration turn = models::load_catalogue().find_gpu("T4")->time_slice;
  EXPECT_THAT(text_of("time-slicing"),
              HasSubstr(fmt::format("default turn is {:.6g} ms", to_seconds(turn) * 1e3)));
}

// A code without a section in codes.md, or one out of order, shows the text of another.
TEST(Explain, EveryCodeHasItsSectionInTheOrderOfTheCodes) {
  ASSERT_EQ(explanations().size(), kCodes.size());
  for (const CodeInfo& code : kCodes) {
    EXPECT_EQ(explanation_of(code.code).name, code.name);
    EXPECT_NE(explanation_of(code.code).happens, "") << code.name;
    EXPECT_NE(explanation_of(code.code).fix, "") << code.name;
  }
}

TEST(Explain, QuotesTheRealMessages) {
  EXPECT_THAT(text_of("POD_PENDING"),
              HasSubstr("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."));
  EXPECT_THAT(text_of("REPLICAS_TOO_FEW"), HasSubstr("number of replicas must be >= 2"));
  EXPECT_THAT(text_of("GPU_OOM"), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY: out of memory"));
  EXPECT_THAT(text_of("REQUEST_TOO_LARGE", {false, true, 0}),
              HasSubstr("UnexpectedAdmissionError: ... invalid request: maximum request size for "
                        "shared resources is 1; found 2"));
}

TEST(Explain, CodesAreFoundInEitherCase) { EXPECT_EQ(text_of("gpu_oom"), text_of("GPU_OOM")); }

TEST(Explain, MatchesTheGoldenTexts) {
  expect_golden("explain_request_too_large.txt", text_of("REQUEST_TOO_LARGE"));
  expect_golden("explain_time_slicing.txt", text_of("time-slicing"));
  expect_golden("explain_sharing.txt", text_of("sharing"));
  expect_golden("explain_serving.txt", text_of("serving"));
}

TEST(Explain, TopicsNameNoFractionOfAGpu) {
  EXPECT_THAT(text_of("sharing"), HasSubstr("A replica is a ticket, never a fraction."));
  for (const char* topic : {"autoscaling", "cost", "exit-codes", "mig", "mps", "not-modelled",
                            "notebooks", "serving", "sharing", "time-slicing", "vgpu"}) {
    EXPECT_THAT(text_of(topic), Not(HasSubstr("unknown: ")));
    EXPECT_THAT(text_of(topic), Not(HasSubstr("milli"))) << topic;
  }
}

TEST(Explain, WhatPeopleWaitForNamesItsSources) {
  for (const char* topic : {"autoscaling", "import", "llm", "notebooks", "replay", "serving"}) {
    EXPECT_THAT(text_of(topic, {false, true, 0}), HasSubstr("\nSources: ")) << topic;
  }
}

// The same instance types as the hint of MIG_UNSUPPORTED.
TEST(Explain, MigSaysWhichInstanceTypesHaveIt) {
  for (const char* topic : {"mig", "sharing"}) {
    EXPECT_THAT(text_of(topic, {false, true, 0}),
                HasSubstr("p4d, p4de, p5, p5e, p5en and p6-b200"));
  }
}

TEST(Explain, ProseKeepsToTheWidth) {
  std::istringstream lines(text_of("GPU_OOM", {false, true, 60}));
  for (std::string line; std::getline(lines, line);) {
    const bool address = line.find("https://") != std::string::npos;
    EXPECT_TRUE(address || line.size() <= 60) << line;
  }
}

TEST(Explain, UnknownTopicNamesTheNearest) {
  const Expected<std::string> text = explain("GPU_OM", kTerminal);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().at(0).code, Code::PathUnknown);
  EXPECT_THAT(text.error().at(0).help, StartsWith("did you mean GPU_OOM"));
  EXPECT_FALSE(explain("", kTerminal).has_value());
}

TEST(Explain, DescribesFieldsOfTheScenario) {
  const std::string text = text_of("spec.nodePools.instanceType");
  EXPECT_THAT(text, StartsWith("spec.nodePools.instanceType <"));
  EXPECT_THAT(text, HasSubstr("\nMEANING  "));
}

// Every field of a scenario file by its last name.
std::set<std::string> field_names() {
  std::set<std::string> names;
  std::istringstream lines(explain_fields());
  for (std::string path; std::getline(lines, path);) {
    names.insert(path.substr(path.rfind('.') + 1));
  }
  return names;
}

std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

TEST(ExplainFields, EveryPathIsExplained) {
  std::istringstream lines(explain_fields());
  int count = 0;
  for (std::string path; std::getline(lines, path); ++count) {
    // Its type is on the next line where the path leaves no room.
    EXPECT_THAT(text_of(path), AnyOf(StartsWith(path + " <"), StartsWith(path + "\n  <")));
  }
  EXPECT_GT(count, 60);
}

// A reader of an explanation looks the names up: topics after `slicewise explain`, paths from
// `spec.`, and words in the spelling of fields must exist.
TEST(Explain, NamesNoFieldThatDoesNotExist) {
  const std::set<std::string> fields = field_names();
  // At the top of the file, the device plugin's that are refused here, and a verb.
  const std::set<std::string> of_others = {"apiVersion", "devices", "rename", "resources",
                                           "explain",
                                           // of a policy's expression
                                           "and", "or", "not", "pass"};
  std::istringstream topics(explain_topics());
  for (std::string topic; std::getline(topics, topic);) {
    const std::string text = text_of(topic, {false, true, 0});
    for (const std::string& name : matches(text, "slicewise explain ([\\w.-]*[\\w])")) {
      EXPECT_TRUE(name == "FIELD.PATH" || name == "CODE" || explain(name, kTerminal)) << name;
    }
    for (const std::string& path : matches(text, "\\b(spec\\.[\\w.]*\\w)")) {
      EXPECT_TRUE(scenarios::describe_field(path)) << topic << " names " << path;
    }
    for (const std::string& name : matches(text, "`(?:[a-zA-Z]+\\.)*([a-zA-Z]+)[`:]")) {
      EXPECT_TRUE(fields.contains(name) || of_others.contains(name)) << topic << " names " << name;
    }
  }
}

TEST(Explain, ExitCodesAreThoseOfTheTable) {
  const std::string text = text_of("exit-codes", {false, true, 0});
  const std::vector<ExitCodeInfo> codes = exit_codes();
  for (const ExitCodeInfo& info : codes) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\n  {:<4}  {}\n", info.code, info.meaning)));
  }
  for (const ExitCode code :
       {ExitCode::Success, ExitCode::Different, ExitCode::Usage, ExitCode::InvalidInput,
        ExitCode::Infeasible, ExitCode::FileAccess, ExitCode::PodsLost, ExitCode::InternalError,
        ExitCode::OutOfMemory, ExitCode::ObjectiveMissed, ExitCode::Interrupted}) {
    EXPECT_EQ(std::ranges::count(codes, static_cast<int>(code), &ExitCodeInfo::code), 1);
  }
}

// Below a list a name may be that of an item: its page was that of the list.
TEST(Explain, WhatIsNoFieldIsNoPageOfTheFieldAbove) {
  const Expected<std::string> text = explain("spec.nodePools.zones", kTerminal);
  ASSERT_FALSE(text.has_value());
  EXPECT_THAT(text.error().at(0).help, StartsWith("did you mean spec.nodePools."));
  EXPECT_THAT(text_of("spec.nodePools.v100.mig"), StartsWith("spec.nodePools.mig <"));
  EXPECT_THAT(text_of("scenario"), StartsWith("spec <"));
}

TEST(ExplainIndex, SaysOfEachWhatItIs) {
  const std::string index = explain_index({false, true, 0});
  for (const CodeInfo& code : kCodes) {
    EXPECT_THAT(index, HasSubstr(fmt::format("{:<26}  {}\n", code.name, code.meaning)));
  }
  EXPECT_THAT(index, HasSubstr("\nFIELDS of a scenario"));
  EXPECT_THAT(index, HasSubstr("\n  spec.nodePools          Groups of equal nodes.\n"));
}

TEST(ExplainTopics, ListsCodesAndTopicsOnePerLine) {
  const std::string list = explain_topics();
  EXPECT_THAT(list, HasSubstr("sharing\n"));
  for (const CodeInfo& code : kCodes) {
    EXPECT_THAT(list, HasSubstr("\n" + std::string(code.name) + "\n"));
  }
}

}  // namespace
}  // namespace slicewise::reports
