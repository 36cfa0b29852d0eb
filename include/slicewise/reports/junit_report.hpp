#pragma once

#include <string>

#include "slicewise/reports/check_report.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/result.hpp"

// Objectives and policies as test cases: JUnit XML, so that GitLab, Jenkins, Azure Pipelines and
// GitHub's test reporters show them beside the unit tests. A case fails where the verb's exit code
// says so, and nowhere else: a policy with severity Warn passes with a remark, one that could not
// be judged is skipped. Pure functions: same value, same bytes.
namespace slicewise::reports {

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
