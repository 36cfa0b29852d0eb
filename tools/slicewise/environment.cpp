#include "environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "slicewise/nearest_name.hpp"

#include "command_line.hpp"

namespace slicewise::tools {
namespace {

constexpr std::string_view kPrefix = "SLICEWISE_";

// Inputs of tools/github_action.
constexpr std::string_view kActionPrefix = "SLICEWISE_ACTION_";

constexpr std::array<std::string_view, 7> kOfNoFlag = {
    "SLICEWISE_PROMETHEUS_TOKEN",  // a secret: never on the command line
    // Of the project's tests.
    "SLICEWISE_VALIDATORS_DIR", "SLICEWISE_REQUIRE_TOOLS", "SLICEWISE_UPDATE_GOLDEN",
    "SLICEWISE_BINARY", "SLICEWISE_SOURCE_DIR", "SLICEWISE_SHARED_DIR"};

}  // namespace

std::string variable_of(const std::string& flag) {
  std::string name(kPrefix);
  for (const char c : flag) {
    name += c == '-' ? '_' : upper(c);
  }
  return name;
}

std::vector<std::string> unknown_variables(const std::vector<std::string>& known) {
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string_view name = variable.substr(0, variable.find('='));
    if (name.starts_with(kPrefix) && !name.starts_with(kActionPrefix) &&
        std::ranges::find(kOfNoFlag, name) == kOfNoFlag.end() &&
        std::ranges::find(known, name) == known.end()) {
      unknown.emplace_back(name);
    }
  }
  std::ranges::sort(unknown);
  for (std::string& name : unknown) {
    std::string warning = "warning: ";
    warning += name;
    warning += " is the variable of no flag";
    warning += did_you_mean(name, known);
    name = std::move(warning);
  }
  return unknown;
}

}  // namespace slicewise::tools
