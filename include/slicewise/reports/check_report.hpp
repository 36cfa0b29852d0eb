#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

// What `slicewise check` found, in the forms that programs read. Findings are in the order given.
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

}  // namespace slicewise::reports
