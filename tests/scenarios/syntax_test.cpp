#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

Diagnostics problems(const std::string& text) {
  return read_scenario_file({"f.yaml", text}).problems;
}

void expect_one(const std::string& text, int line, int column, const std::string& message) {
  const Diagnostics found = problems(text);
  ASSERT_EQ(found.size(), 1U) << text;
  EXPECT_EQ(found[0].code, Code::YamlSyntax) << text;
  EXPECT_EQ(found[0].where.line, line) << text;
  EXPECT_EQ(found[0].where.column, column) << text;
  EXPECT_NE(found[0].message.find(message), std::string::npos) << found[0].message;
}

TEST(Syntax, ATableOfJobsIsForReplay) {
  const Diagnostics found =
      read_scenario_file({"jobs.csv", "submitted,gpus,run\n1,1,2\n"}).problems;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].help, "a table of jobs is for `slicewise replay -f jobs.csv`");
}

TEST(Syntax, AnOpenBracketIsShownWhereItOpens) {
  expect_one("{\n \"kind\": \"Scenario\",\n \"spec\": {\"duration\": \"1h\"}\n", 1, 1,
             "the mapping that opens at 1:1 is never closed");
  expect_one("[[[[", 1, 4, "the list that opens at 1:4 is never closed");
  expect_one("a: [1, {b: 2\nc: d\n", 1, 8, "the mapping that opens at 1:8");
  expect_one("{\"a\":[1, 2}\n", 1, 6, "the list that opens at 1:6");
}

TEST(Syntax, BracketsInTextDoNotCount) {
  expect_one("a: |\n  [[[ {\n  \"\nb: it's [x\n# [\nd: '[''{'\ne: \"\\\"[\"\nc: [1, 2\n", 8, 4,
             "the list that opens at 8:4");
}

TEST(Syntax, DepthIsLimitedBeforeTheParserStarts) {
  expect_one(std::string(64, '[') + "[", 1, 65, "nested deeper than 64 levels");
  for (const Diagnostic& d : problems(std::string(64, '[') + std::string(64, ']'))) {
    EXPECT_NE(d.code, Code::YamlSyntax) << d.message;
  }
}

std::string with_count(const std::string& count) {
  return "apiVersion: slicewise.dev/v1alpha1\n"
         "kind: Scenario\n"
         "metadata: {name: test}\n"
         "spec:\n"
         "  nodePools:\n"
         "  - {name: gpu, instanceType: p3.8xlarge}\n"
         "  workloads:\n"
         "  - name: a\n"
         "    work: {units: 1}\n"
         "    measured: {unitTime: 18s}\n"
         "    podTemplate: {env: {MODE: \"x\"}}\n"
         "    count: " +
         count + "\n";
}

TEST(Syntax, ATagIsOneErrorOnTheTag) {
  for (const char* value : {"!!str 3", "!!str \"3\"", "&a !!str 3"}) {
    const Diagnostics found = problems(with_count(value));
    ASSERT_EQ(found.size(), 1U) << value;
    EXPECT_EQ(found[0].code, Code::YamlSyntax);
    EXPECT_EQ(found[0].where.column, value[0] == '&' ? 15 : 12) << value;
    EXPECT_EQ(found[0].where.length, 5) << value;
  }
}

// YAML 1.2 reads 17, the YAML 1.1 of Kubernetes' tools 15.
TEST(Syntax, ALeadingZeroIsRefused) {
  for (const char* value : {"017", "+017", "00", "-01"}) {
    const Diagnostics found = problems(with_count(value));
    ASSERT_EQ(found.size(), 1U) << value;
    EXPECT_EQ(found[0].code, Code::FieldType) << value;
  }
  EXPECT_EQ(problems(with_count("017"))[0].help, "write 17, or \"017\" for text");
  EXPECT_TRUE(problems(with_count("0o17")).empty());
  EXPECT_TRUE(problems(with_count("0")).empty());
}

// In one pass, though they are missing from one place.
TEST(Syntax, EveryFieldThatIsMissingIsSaid) {
  const LoadedScenario loaded = read_scenario_file(
      {"f.yaml",
       "apiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\n"
       "spec: {nodePools: [{nodes: 1}], workloads: [{kind: Job}]}\n"},
      {});
  for (const char* const missing : {"name", "instanceType", "work", "measured"}) {
    EXPECT_TRUE(std::ranges::any_of(loaded.problems, [&](const Diagnostic& problem) {
      return problem.code == Code::FieldMissing && problem.where.line == 4 &&
             problem.message.starts_with("\"" + std::string(missing));
    })) << missing;
  }
}

}  // namespace
}  // namespace slicewise::scenarios
