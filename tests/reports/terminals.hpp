#pragma once

#include "slicewise/reports/diagnostics_text.hpp"

namespace slicewise::reports {

inline constexpr TextStyle kTerminal{false, true, 100};
inline constexpr TextStyle kAscii{false, false, 100};

}  // namespace slicewise::reports
