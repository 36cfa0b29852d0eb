#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace slicewise::scenarios {

// The brackets { and [ of a YAML or JSON text that nothing closes.
struct FlowBrackets {
  std::vector<std::size_t> open;  // byte offsets, outermost first
};

// Stops at the first bracket that is deeper than `deepest` levels, or that the wrong one closes.
// Brackets in quotes, comments, block scalars and plain text do not count. A text with an open
// quote has no open brackets.
FlowBrackets find_flow_brackets(std::string_view text, std::size_t deepest);

}  // namespace slicewise::scenarios
