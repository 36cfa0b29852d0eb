#include <fmt/format.h>

#include "slicewise/version.hpp"

#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

std::string definition(std::string_view term, std::string_view text) {
  if (text.empty()) return "";
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(term), escaped(text));
}

}  // namespace

Markup appendix_section(const HtmlReport& report, const EmbeddedDocument& document) {
  const sim::Result& result = report.result;
  std::string settings;
  for (const std::string& setting : result.stamp.settings) {
    settings += (settings.empty() ? "" : ", ") + setting;
  }
  std::string prices = result.stamp.price_date;
  if (!result.stamp.price_file.empty()) {
    prices +=
        fmt::format(", {} (SHA-256 {})", result.stamp.price_file, result.stamp.price_file_sha256);
  }
  std::string out =
      "<dl>\n" + definition("Scenario", result.stamp.scenario) +
      definition("File", result.stamp.scenario_file) + definition("Settings", settings) +
      definition("SHA-256", result.stamp.scenario_sha256) +
      definition("Seed", std::to_string(result.stamp.seed)) +
      definition("Replications", std::to_string(result.stamp.replications)) +
      definition("Prices of", prices) + definition("slicewise", std::string(kVersion)) + "</dl>\n";
  out += code_block("command", "The command that makes these figures again", report.command);
  if (!report.scenario_text.empty()) {
    out += folded(
        "The scenario as it was read",
        code_block("scenario",
                   result.stamp.scenario_file.empty() ? "scenario" : result.stamp.scenario_file,
                   report.scenario_text));
  }
  return section("appendix", "How do I reproduce it?", out + document.markup);
}

}  // namespace slicewise::reports::html
