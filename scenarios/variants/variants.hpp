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
  std::string swept_value =
      {};  // of the last path that the sweep varies; "": it is no point of one
};

// Every variant in the order of the file, each with every point of the sweep. Names and paths that
// lead nowhere are reported in `findings`, points of the sweep that a variant skips in `notes`.
// `set` holds the values of --set; they win over patches.
std::vector<Variant> expand_variants(const NodePtr& spec, const std::vector<std::string>& set,
                                     Findings& findings, Diagnostics& notes);

// `base` with `patch` merged in, as kustomize does: mappings merge, lists whose items have a name
// merge by name, other lists and scalars replace, null removes. A list entry of a patch whose name
// is not in the base is reported. The result shares what did not change.
NodePtr apply_patch(const NodePtr& base, const Node& patch, Findings& findings);

// Every combination of the values of `sweep` for every variant, named "after/replicas=2". A variant
// that lacks a path is kept once without it, with a note.
std::vector<Variant> expand_sweep(std::vector<Variant> variants, const Entry& sweep,
                                  Findings& findings, Diagnostics& notes);

// What spec says after --set, in the order of the file: "nodePools.gpu.nodes=2" for each value,
// list of values and empty block. A name is in the path of its entry; descriptions change nothing
// and are left out.
std::vector<std::string> inputs_of(NodePtr spec, const std::vector<std::string>& set);

}  // namespace slicewise::scenarios
