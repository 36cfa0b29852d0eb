#pragma once

#include <string>
#include <string_view>

namespace slicewise::reports {

// One paragraph broken at spaces into lines of at most `width` terminal columns (0: unlimited),
// each ended by a newline. The first line starts with `first_indent`, the others with as many
// spaces as `indent`. A word longer than the line is kept whole: it may be a command or an address.
std::string wrapped_text(std::string_view paragraph, int width, std::string_view first_indent,
                         int indent);

}  // namespace slicewise::reports
