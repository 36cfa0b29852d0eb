#include <fmt/format.h>

#include "slicewise/reports/result_report.hpp"
#include "slicewise/version.hpp"

#include "../screens/result_notes.hpp"
#include "../text/text_table.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {

Markup apply_section(const HtmlReport& report) {
  if (!report.apply) return "";
  const ApplySection& apply = *report.apply;
  if (apply.files.empty()) {
    std::string out = paragraph(fmt::format("No files can be written for {}:", apply.option));
    std::vector<std::string> reasons;
    for (const Diagnostic& d : apply.refused) reasons.push_back(finding_text(d));
    return section("apply", "How do I apply it?", out + list_of_lines(reasons));
  }
  std::string out = paragraph(fmt::format(
      "These files put {} in place. slicewise talks to no cluster: read them, save them "
      "in one folder, run apply.sh; rollback.sh takes it back, VERIFY.md says how to "
      "see that it works. `slicewise export --to bundle --out DIR` writes the same.",
      apply.option));
  constexpr std::size_t kMostPods = 4;  // files of pods, which are alike
  std::size_t pods = 0;
  for (std::size_t f = 0; f < apply.files.size(); ++f) {
    const ExportFile& file = apply.files[f];
    const bool of_pod =
        file.path.starts_with("pods/") && !file.path.ends_with("kustomization.yaml");
    if (of_pod && ++pods > kMostPods) continue;
    out += folded(file.path, code_block(fmt::format("apply-{}", f), file.path, file.text),
                  file.path == "apply.sh" || file.path == "rollback.sh");
  }
  if (pods > kMostPods) {
    out += paragraph(fmt::format(
        "{} more files in pods/ are not in this page: take all of them from `slicewise export`.",
        pods - kMostPods));
  }
  return section("apply", "How do I apply it?", out);
}

std::string definition(std::string_view term, std::string_view text) {
  if (text.empty()) return "";
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(term), escaped(text));
}

// Text inside a script element ends at "</", and "<!--" changes how it is read: JSON may write both
// with an escape. Without the white space between its parts it is half as long.
std::string embedded_json(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  bool in_text = false;
  bool is_escaped = false;
  for (const char c : document) {
    if (in_text) {
      in_text = c != '"' || is_escaped;
      is_escaped = c == '\\' && !is_escaped;
    } else {
      if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
      in_text = c == '"';
    }
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

namespace {

constexpr std::string_view kElement =
    "in this page, in the element <code>&lt;script type=\"application/json\" "
    "id=\"document\"&gt;</code>";

// What the command of the page makes is the whole of it.
std::string whole_document(const HtmlReport& report) {
  return report.plan
             ? std::string("The plan that this page was made from has all of them")
             : fmt::format("<code>{} -o json</code> writes all of them", escaped(report.command));
}

}  // namespace

Markup appendix_section(const HtmlReport& report, const EmbeddedDocument& document) {
  const sim::Result& result = report.result;
  const std::string settings = joined(result.stamp.settings);
  std::string prices = result.stamp.price_date;
  if (!result.stamp.price_file.empty()) {
    prices +=
        fmt::format(", {} (SHA-256 {})", result.stamp.price_file, result.stamp.price_file_sha256);
  }
  std::string out =
      "<dl>\n" + definition("Scenario", result.stamp.scenario) +
      definition("File", result.stamp.scenario_file) + definition("Settings", settings) +
      definition("SHA-256", result.stamp.scenario_sha256) + definition("Seed", seeds_text(result)) +
      definition("Replications", replications_text(result)) + definition("Prices of", prices) +
      definition("slicewise", std::string(kVersion)) + "</dl>\n";
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

EmbeddedDocument embedded_document(const HtmlReport& report, std::size_t room) {
  EmbeddedDocument document{embedded_json(report.document),
                            fmt::format("<p>All figures as JSON are {}.</p>\n", kElement)};
  if (document.json.size() <= room) return document;
  const sim::VariantResult* best = best_variant(report.result);
  if (!report.plan && report.result.variants.size() > 1) {
    if (best == nullptr) best = &report.result.variants.front();
    sim::Result lead = report.result;
    lead.variants = {*best};
    document.json = embedded_json(Report(lead).json());
    document.markup = fmt::format(
        "<p>The figures of {} as JSON are {}; with those of the other variants the page would be "
        "larger than {} KB. {}.</p>\n",
        escaped(best->name), kElement, kLargestPage / 1024, whole_document(report));
    if (document.json.size() <= room) return document;
  }
  document.json = "{}";
  document.markup =
      fmt::format("<p>The figures are too many to be in a page of {} KB as JSON. {}.</p>\n",
                  kLargestPage / 1024, whole_document(report));
  return document;
}

}  // namespace slicewise::reports::html
