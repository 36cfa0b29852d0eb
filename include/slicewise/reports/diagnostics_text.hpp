#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/codes.hpp"
#include "slicewise/diagnostics.hpp"

namespace slicewise::reports {

struct TextStyle {
  bool color = false;   // ANSI escapes
  bool unicode = true;  // else ASCII only
  int width = 100;      // columns; 0 = unlimited
};

// Diagnostics as compilers print them, in the order given:
//   file:line:col: error[CODE]: what
//      41 |     gpuMemory: {resident: 8GB}
//         |                           ^^^ label
//         help: what to do
// and a last line "3 errors, 1 warning in voice-t4.yaml" when there is an error. Severities below
// `least` are left out.
std::string diagnostics_text(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
                             const TextStyle& style, Severity least = Severity::Note);

// As documents spell it: "error", "warning", "note".
std::string_view severity_name(Severity severity);

}  // namespace slicewise::reports
