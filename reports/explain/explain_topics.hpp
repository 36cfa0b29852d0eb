#pragma once

#include <span>
#include <string>
#include <string_view>

#include "slicewise/codes.hpp"

// What `slicewise explain` knows, without its layout.
namespace slicewise::reports {

// The long story of one code. `message` is what the cluster really says, "" when it says nothing.
struct CodeExplanation {
  Code code;
  std::string_view happens;
  std::string_view message;
  std::string_view fix;
  std::string_view source;
};

const CodeExplanation& explanation_of(Code code);

// A topic that is not a code: paragraphs separated by line breaks. A paragraph that starts with a
// space is a table or a formula and is printed as it is.
struct Topic {
  std::string_view name;
  std::string_view title;
  std::string text;
};

std::span<const Topic> topics();

}  // namespace slicewise::reports
