#pragma once

#include <string>
#include <string_view>

namespace slicewise::reports {

// Text and attribute values of XML and HTML. What XML 1.0 forbids, and what changes how other text
// is shown, becomes the escapes of its bytes, "\x1b".
std::string escaped(std::string_view text);

}  // namespace slicewise::reports
