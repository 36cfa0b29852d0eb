#pragma once

#include <string>
#include <vector>

#include "../text/document.hpp"
#include "../text/findings.hpp"

namespace slicewise::scenarios {

// One configuration of a file: spec after --set, a patch and a point of the sweep.
struct Variant {
  std::string name;
  std::string description;
  NodePtr spec;
};

// Every variant in the order of the file, each with every point of the sweep. Names and paths that
// lead nowhere are reported in `findings`, points of the sweep that a variant skips in `notes`.
// `set` holds the values of --set; they win over patches.
std::vector<Variant> expand_variants(const NodePtr& spec, const std::vector<std::string>& set,
                                     Findings& findings, Diagnostics& notes);

}  // namespace slicewise::scenarios
