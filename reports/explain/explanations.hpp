#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/codes.hpp"

// What `slicewise explain` knows, without its layout: codes.md and topics/*.md.
namespace slicewise::reports {

// The long story of one code. `message` is what the cluster really says, "" when it says nothing.
struct CodeExplanation {
  std::string_view name;
  std::string happens;
  std::string message;
  std::string fix;
  std::string source;
};

// One for each code, in the order of codes.hpp.
std::span<const CodeExplanation> explanations();

inline const CodeExplanation& explanation_of(Code code) {
  return explanations()[static_cast<std::size_t>(code)];
}

// A topic that is not a code. A paragraph that starts with a space is a line of a table or a
// formula and is printed as it is.
struct Topic {
  std::string name;
  std::string title;
  std::vector<std::string> paragraphs;
};

std::span<const Topic> topics();

}  // namespace slicewise::reports
