#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/printable.hpp"
#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/version.hpp"

#include "../document/document_text.hpp"
#include "../explain/explanations.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

// A path as a URI reference.
std::string uri_of(std::string_view path) {
  constexpr std::string_view kUnescaped = "-._~/";
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kUnescaped.find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c)
                 : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri;
}

// The first address of an explanation's sources; "" when it names none.
std::string first_address(std::string_view source) {
  const std::size_t start = source.find("https://");
  if (start == std::string_view::npos) return {};
  return std::string(source.substr(start, source.find(' ', start) - start));
}

json sarif_rule(Code code) {
  const CodeExplanation& explanation = explanation_of(code);
  json rule{{"id", info(code).name},
            {"shortDescription", {{"text", info(code).meaning}}},
            {"fullDescription", {{"text", explanation.happens}}},
            {"help", {{"text", explanation.fix}}},
            {"defaultConfiguration", {{"level", severity_name(info(code).severity)}}}};
  if (const std::string address = first_address(explanation.source); !address.empty()) {
    rule["helpUri"] = address;
  }
  return rule;
}

json sarif_place(const SourceLocation& where) {
  json physical{{"artifactLocation", {{"uri", uri_of(where.file == "-" ? "stdin" : where.file)}}}};
  if (where.line > 0) {
    physical["region"] = {{"startLine", where.line},
                          {"startColumn", where.column},
                          {"endColumn", where.column + std::max(where.length, 1)}};
  }
  return {{"physicalLocation", std::move(physical)}};
}

}  // namespace

std::string check_sarif(const CheckReport& report) {
  std::vector<Code> codes;
  for (const Diagnostic& d : report.findings) codes.push_back(d.code);
  std::ranges::sort(codes);
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  json rules = json::array();
  for (const Code code : codes) rules.push_back(sarif_rule(code));
  json results = json::array();
  for (const Diagnostic& d : report.findings) {
    json result{{"ruleId", info(d.code).name},
                {"ruleIndex", std::ranges::lower_bound(codes, d.code) - codes.begin()},
                {"level", severity_name(d.severity)},
                {"message", {{"text", d.help.empty() ? d.message : d.message + ". " + d.help}}}};
    if (!d.where.file.empty()) result["locations"] = json::array({sarif_place(d.where)});
    results.push_back(std::move(result));
  }
  const json driver{{"name", "slicewise"},
                    {"version", kVersion},
                    {"semanticVersion", kVersion},
                    {"rules", std::move(rules)}};
  return json_text({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", json::array({{{"tool", {{"driver", driver}}},
                                           {"columnKind", "unicodeCodePoints"},
                                           {"results", std::move(results)}}})}});
}

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
