#include "slicewise/reports/explain.hpp"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/codes.hpp"

#include "golden_file.hpp"

namespace slicewise::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr TextStyle kTerminal{false, true, 100};

std::string text_of(std::string_view topic, const TextStyle& style = kTerminal) {
  const Expected<std::string> text = explain(topic, style);
  return text ? *text : "unknown: " + std::string(topic);
}

TEST(Explain, EveryCodeSaysWhatHappensAndWhatToDo) {
  for (const CodeInfo& code : kCodes) {
    const std::string text = text_of(code.name);
    EXPECT_THAT(text, StartsWith(std::string(code.name) + " ("));
    EXPECT_THAT(text, HasSubstr("\nWHAT     ")) << code.name;
    EXPECT_THAT(text, HasSubstr("\nFIX      ")) << code.name;
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
}

TEST(Explain, TopicsNameNoFractionOfAGpu) {
  EXPECT_THAT(text_of("sharing"), HasSubstr("A replica is a ticket, never a fraction."));
  for (const char* topic : {"cost", "exit-codes", "not-modelled", "sharing", "time-slicing"}) {
    EXPECT_THAT(text_of(topic), Not(HasSubstr("unknown: ")));
    EXPECT_THAT(text_of(topic), Not(HasSubstr("milli"))) << topic;
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

TEST(ExplainTopics, ListsCodesAndTopicsOnePerLine) {
  const std::string list = explain_topics();
  EXPECT_THAT(list, HasSubstr("sharing\n"));
  for (const CodeInfo& code : kCodes) {
    EXPECT_THAT(list, HasSubstr("\n" + std::string(code.name) + "\n"));
  }
}

}  // namespace
}  // namespace slicewise::reports
