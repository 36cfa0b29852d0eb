#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

// Names that scenarios and the catalogue share, and what to say of one that is not known.
namespace slicewise::sim {

using scenarios::kGpuResource;
using scenarios::kMigPrefix;

// "did you mean" for a name that is not in a list of the catalogue, else where to find the list.
template <class Items>
Diagnostic unknown_name(Code code, const Located<std::string>& wanted, const std::string& message,
                        const Items& known, const std::string& list_command) {
  std::vector<std::string_view> names;
  names.reserve(known.size());
  for (const auto& item : known) names.push_back(item.name);
  const auto near = nearest_name(wanted.value, names);
  const std::string all = "`" + list_command + "` lists all";
  return make_diagnostic(code, wanted.where, message,
                         near ? "did you mean " + *near + "? " + all : all);
}

}  // namespace slicewise::sim
