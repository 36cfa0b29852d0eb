#pragma once

#include <string_view>

namespace slicewise {

// The VERSION of the CMake project; a test keeps the two equal.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace slicewise
