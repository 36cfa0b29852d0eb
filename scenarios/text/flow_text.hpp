#pragma once

#include <string>
#include <string_view>

// YAML as it is written: the values of generated files and of hints.
namespace slicewise::scenarios {

struct Node;

// In double quotes, as YAML reads it.
std::string in_quotes(std::string_view text);

// In quotes where it would be read as something else than this text, as `true`, `1e3` or "" are.
std::string scalar_text(const std::string& text);

// A part of a YAML document in flow style, on one line.
std::string flow_text(const Node& node);

// A whole document: what is short in flow style, the rest in blocks. Without its comments.
std::string block_text(const Node& document);

}  // namespace slicewise::scenarios
