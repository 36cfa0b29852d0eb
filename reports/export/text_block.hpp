#pragma once

#include <string>
#include <string_view>

// Blocks of text inside a YAML file. A block is lines that each end in a newline.
namespace slicewise::reports {

// `block`, each line moved right.
std::string indented(std::string_view block, int spaces);

// `block`, each line behind "# ".
std::string commented(std::string_view block);

// One paragraph as comment lines of at most 100 columns.
std::string comment(std::string_view paragraph, int indent = 0);

}  // namespace slicewise::reports
