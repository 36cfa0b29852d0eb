#pragma once

#include <string>
#include <vector>

// The SLICEWISE_* variables, which stand in for flags that are absent.
namespace slicewise::tools {

// "SLICEWISE_CHART_VERSION" for "chart-version".
std::string variable_of(const std::string& flag);

// One warning for each SLICEWISE_* variable of the environment that is not among `known`, with the
// nearest name, in alphabetic order. Those of the project's own tests are left alone.
std::vector<std::string> unknown_variables(const std::vector<std::string>& known);

}  // namespace slicewise::tools
