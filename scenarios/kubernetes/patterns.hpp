#pragma once

#include <string>

// Regular expressions of schemas, which are Go's; those in use mean the same in ECMAScript.
namespace slicewise::scenarios::manifests {

// Whether the pattern is found in the text. Of a text that no API takes, and of a pattern that is
// none, it says yes.
bool matches_pattern(const std::string& text, const std::string& pattern);

// The first place where it is; "" when it is nowhere.
std::string found_pattern(const std::string& text, const std::string& pattern);

}  // namespace slicewise::scenarios::manifests
