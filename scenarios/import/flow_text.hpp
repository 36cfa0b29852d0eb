#pragma once

#include <string>

#include "../text/document.hpp"

namespace slicewise::scenarios {

// A part of a YAML document in flow style, on one line.
std::string flow_text(const Node& node);

// The text of the scalar at `path` of keys below `node`; "" when there is none.
std::string text_below(const Node* node, std::initializer_list<std::string_view> path);

// The node at `path` of keys below `node`; nullptr when there is none.
const Node* node_below(const Node* node, std::initializer_list<std::string_view> path);

}  // namespace slicewise::scenarios
