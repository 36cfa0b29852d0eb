#pragma once

#include <string_view>

#include "slicewise/codes.hpp"

namespace slicewise::reports {

constexpr std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      return "note";
  }
  return "";
}

}  // namespace slicewise::reports
