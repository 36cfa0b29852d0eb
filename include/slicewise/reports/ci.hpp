#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/result.hpp"

// What programs that review changes read: findings of `slicewise check`, and any answer as JUnit
// XML.
namespace slicewise::reports {

inline constexpr const char* kCheckApiVersion = "slicewise.dev/check.v1alpha1";

struct CheckReport {
  std::vector<std::string> files;  // that were read, as the user named them
  Diagnostics findings;
};

std::string check_json(const CheckReport& report);
std::string check_schema_json();

// SARIF 2.1.0 with the rules that were broken: for code scanning.
// Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
std::string check_sarif(const CheckReport& report);

// Workflow commands of GitHub Actions, one a line: annotations of a pull request.
// Source: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
std::string check_github(const CheckReport& report);

// Objectives and policies as test cases: JUnit XML, so that GitLab, Jenkins, Azure Pipelines and
// GitHub's test reporters show them beside the unit tests. A case fails where the verb's exit code
// says so, and nowhere else: a policy with severity Warn passes with a remark, one that could not
// be judged is skipped. Pure functions: same value, same bytes.

// A suite for each variant: one case for each objective and policy, and one for its pods running.
std::string result_junit(const sim::Result& result);
// A suite for the search and one for each ranked option.
std::string plan_junit(const sim::Plan& plan);
// A suite for each simulated option; refused ones are skipped.
std::string comparison_junit(const sim::StrategyComparison& comparison);
// A suite for each file: one case for each finding; a file without any is one case that passes.
// `strict`: warnings fail as well.
std::string check_junit(const CheckReport& report, bool strict);

}  // namespace slicewise::reports
