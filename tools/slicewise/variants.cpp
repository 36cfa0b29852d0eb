#include "variants.hpp"

#include <algorithm>
#include <optional>

#include "slicewise/nearest_name.hpp"

#include "terminal.hpp"

namespace slicewise::tools {
namespace {

std::vector<std::string> names_in_set(const scenarios::ScenarioSet& set) {
  std::vector<std::string> names;
  for (const scenarios::Scenario& variant : set.variants) {
    names.push_back(variant.name);
  }
  return names;
}

}  // namespace

std::string variant_names(const scenarios::ScenarioSet& set) {
  std::string text;
  for (const std::string& name : names_in_set(set)) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

ExitCode keep_variants(scenarios::ScenarioSet& set, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(set.variants, name, &scenarios::Scenario::name) == set.variants.end()) {
      const std::optional<std::string> nearest = nearest_name(name, names_in_set(set));
      return usage_error("--variant: " + set.name + " has no variant \"" + name + "\"" +
                             (nearest ? "; did you mean \"" + *nearest + "\"?" : ""),
                         "its variants are " + variant_names(set));
    }
  }
  if (!names.empty()) {
    std::erase_if(set.variants, [&](const scenarios::Scenario& variant) {
      return std::ranges::find(names, variant.name) == names.end();
    });
  }
  return ExitCode::Success;
}

}  // namespace slicewise::tools
