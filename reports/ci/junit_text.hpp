#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// JUnit XML, as GitLab, Jenkins, Azure Pipelines and test reporters of GitHub read it. There is no
// standard; this is what all of them take. Source: https://github.com/testmoapp/junitxml
namespace slicewise::reports {

struct JunitCase {
  enum class Outcome : std::uint8_t { Passed, Failed, Skipped };
  std::string class_name;
  std::string name;
  Outcome outcome = Outcome::Passed;
  std::string message;  // one line: why it failed or was skipped
  std::string detail;   // several lines; with a passed case as well
  std::string file = {};
  int line = 0;
};

struct JunitSuite {
  std::string name;
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<JunitCase> cases;
};

// No times and no dates: a run takes as long as it takes. What XML 1.0 cannot hold becomes
// the escapes of its bytes.
std::string junit_text(const std::string& name, const std::vector<JunitSuite>& suites);

}  // namespace slicewise::reports
