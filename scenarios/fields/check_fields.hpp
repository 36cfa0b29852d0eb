#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "fields.hpp"

namespace slicewise::scenarios {

enum class Completeness : std::uint8_t {
  Whole,  // required fields must be there, null only where the table says so
  Base,   // a file with variants: spec is only what they have in common
  Part,   // a patch: nothing is required, null removes a field
};

// Reports everything in `node` that the table of fields does not allow. `path` is what messages
// call the node ("workloads[1]"), `where` the place to show when something is missing from it.
void check_field(const Field& field, const Node& node, const std::string& path,
                 const SourceLocation& where, Completeness completeness, Findings& findings);

// "a" + "b" -> "a.b".
std::string join_path(const std::string& path, std::string_view name);

}  // namespace slicewise::scenarios
