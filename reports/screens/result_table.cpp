#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/result_report.hpp"

#include "../text/name_list.hpp"
#include "../text/wrapped_text.hpp"
#include "result_comparison.hpp"
#include "result_details.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"

namespace slicewise::reports {
namespace {

// A sweep is read as a table; the details of dozens of variants would bury it.
constexpr std::size_t kMostDetailed = 6;

std::string comparison_block(const sim::Result& result, const TextStyle& style, bool wide) {
  const Comparison table = comparison(result, style);
  std::vector<std::string> dropped;
  std::string out = text_table(table.columns, table.rows, wide ? 0 : style.width, &dropped);
  const std::size_t header_end = out.find('\n');
  out = emphasised(out.substr(0, header_end), Emphasis::Heading, style) + out.substr(header_end);
  if (!dropped.empty()) {
    out +=
        wrapped_text(fmt::format("not shown: {} (-o wide)", joined(dropped)), style.width, "", 2);
  }
  return out;
}

bool has_warnings(const sim::Result& result) {
  for (const sim::VariantResult& variant : result.variants) {
    for (const Diagnostic& d : variant.findings) {
      if (d.severity != Severity::Note) return true;
    }
  }
  return false;
}

std::string result_notes_block(const sim::Result& result, const TextStyle& style, bool wide) {
  std::string out = emphasised("NOTES", Emphasis::Heading, style) + "\n";
  for (const std::string& line : note_lines(result.variants, wide)) {
    out += wrapped_text(line, style.width, "  ", 4);
  }
  if (has_warnings(result)) {
    out += wrapped_text("slicewise explain CODE tells what a warning means and what to do",
                        style.width, "  ", 4);
  }
  return out;
}

}  // namespace

std::string result_table(const sim::Result& result, const TextStyle& style, bool wide) {
  const std::string origin = wrapped_text(origin_line(result, style), style.width, "", 2);
  std::string out;
  if (result.interrupted) {
    out = emphasised(wrapped_text(interrupted_line(result), style.width, "", 2), Emphasis::Bad,
                     style);
  }
  if (result.variants.empty()) {
    return (result.interrupted ? out : result.stamp.scenario + ": no variants\n") + origin;
  }
  out += comparison_block(result, style, wide);
  if (wide || result.variants.size() <= kMostDetailed) {
    for (const std::string& details : variant_details(result, style, wide)) out += "\n" + details;
  } else {
    out += fmt::format("{} variants; -o wide shows each\n", result.variants.size());
  }
  return out + "\n" + result_notes_block(result, style, wide) + origin;
}

}  // namespace slicewise::reports
