#pragma once

#include <functional>
#include <string>

#include "../text/document.hpp"
#include "fields.hpp"

namespace slicewise::scenarios {

// Where a key that its block does not know belongs, as other blocks know it, below `root`:
// "it belongs in slo: write `slo: {latencyP95: 500ms}`"; "" when no block has such a field, or so
// many that the key says nothing. `path` is the block with the key as messages call it,
// "workloads[3]"; `suits` says whether a field takes the value that stands there.
std::string whereabouts(const Field& root, const Entry& entry, const std::string& path,
                        std::function<bool(const Field&)> suits);

}  // namespace slicewise::scenarios
