#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/printable.hpp"
#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

namespace slicewise::reports {
namespace {

// `in_property` is before the message, where colons and commas have a meaning as well.
std::string escaped_for_github(std::string_view text, bool in_property) {
  std::string out;
  for (const char c : printable(text, "\n")) {
    const bool special =
        c == '%' || c == '\r' || c == '\n' || (in_property && (c == ':' || c == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)))
                   : std::string(1, c);
  }
  return out;
}

std::string_view command_of(Severity severity) {
  return severity == Severity::Note ? "notice" : severity_name(severity);
}

}  // namespace

std::string check_github(const CheckReport& report) {
  std::string out;
  for (const Diagnostic& d : report.findings) {
    std::string place;
    if (!d.where.file.empty() && d.where.file != "-") {
      place = fmt::format("file={},", escaped_for_github(d.where.file, true));
    }
    if (d.where.line > 0) {
      place += fmt::format("line={},col={},endColumn={},", d.where.line, d.where.column,
                           d.where.column + std::max(d.where.length, 1));
    }
    const std::string text = d.help.empty() ? d.message : d.message + "\n" + d.help;
    out += fmt::format("::{} {}title={}::{}\n", command_of(d.severity), place, info(d.code).name,
                       escaped_for_github(text, false));
  }
  return out;
}

}  // namespace slicewise::reports
