#pragma once

#include "../text/document.hpp"
#include "../text/findings.hpp"

namespace slicewise::scenarios {

// `base` with `patch` merged in, as kustomize does: mappings merge, lists whose items have a name
// merge by name, other lists and scalars replace, null removes. A list entry of a patch whose name
// is not in the base is reported. The result shares what did not change.
NodePtr apply_patch(const NodePtr& base, const Node& patch, Findings& findings);

}  // namespace slicewise::scenarios
