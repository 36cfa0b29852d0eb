#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slicewise::reports {

// GitHub refuses comments above 65,536 characters; the rest is room for what a bot adds. Counted in
// bytes, which are never fewer.
inline constexpr std::size_t kLongestComment = 60'000;

// The text of a comment on a pull request. When it is too long, the largest of `sections` is left
// out first, and so on, and a line says so. `top`, `bottom` and the marker stay: by the marker a
// bot finds the comment that it is to replace. `name`: of the scenario; "": a marker without a
// name.
std::string markdown_comment(const std::string& top, std::vector<std::string> sections,
                             const std::string& bottom, std::string_view name);

// At most `most` bytes and no half of a character, then `end` where something was cut off.
std::string cut_text(const std::string& text, std::size_t most, std::string_view end = "...");

}  // namespace slicewise::reports
