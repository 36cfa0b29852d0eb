#include "junit_text.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace slicewise::reports {
namespace {

using Outcome = JunitCase::Outcome;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the UTF-8 sequence at the front of `text`; 0 when it is none, or one that XML 1.0 has no
// place for.
std::size_t xml_character(std::string_view text) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  unsigned code = first & (0xFFU >> (length + 1));
  for (std::size_t n = 1; n < length; ++n) {
    if ((byte(n) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte(n) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool overlong = code < (length == 3 ? 0x800U : length == 4 ? 0x10000U : 0x80U);
  return surrogate || overlong || code > 0x10FFFF || code == 0xFFFE || code == 0xFFFF ? 0 : length;
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = xml_character(text);
    if (length == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    switch (text.front()) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':  // in an attribute a plain one would be read as a space
        out += "&#10;";
        break;
      default:
        out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string counts_of(const std::vector<JunitCase>& cases) {
  const auto count = [&](Outcome outcome) {
    return std::ranges::count(cases, outcome, &JunitCase::outcome);
  };
  return fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}")", cases.size(),
                     count(Outcome::Failed), count(Outcome::Skipped));
}

std::string case_element(const JunitCase& test) {
  std::string head = fmt::format(R"(    <testcase classname="{}" name="{}")",
                                 xml_escaped(test.class_name), xml_escaped(test.name));
  if (!test.file.empty()) head += fmt::format(R"( file="{}")", xml_escaped(test.file));
  if (test.line > 0) head += fmt::format(R"( line="{}")", test.line);
  const std::string message = xml_escaped(test.message);
  const std::string detail = xml_escaped(test.detail);
  std::string body;
  switch (test.outcome) {
    case Outcome::Failed:
      body = fmt::format("      <failure message=\"{}\" type=\"slicewise\">{}</failure>\n", message,
                         detail);
      break;
    case Outcome::Skipped:
      body = fmt::format("      <skipped message=\"{}\"/>\n", message);
      break;
    case Outcome::Passed:
      if (!detail.empty()) body = fmt::format("      <system-out>{}</system-out>\n", detail);
  }
  return body.empty() ? head + "/>\n" : head + ">\n" + body + "    </testcase>\n";
}

std::string suite_element(const JunitSuite& suite) {
  std::string out = fmt::format("  <testsuite name=\"{}\" {}>\n", xml_escaped(suite.name),
                                counts_of(suite.cases));
  if (!suite.properties.empty()) {
    out += "    <properties>\n";
    for (const auto& [name, value] : suite.properties) {
      out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", xml_escaped(name),
                         xml_escaped(value));
    }
    out += "    </properties>\n";
  }
  for (const JunitCase& test : suite.cases) out += case_element(test);
  return out + "  </testsuite>\n";
}

}  // namespace

std::string junit_text(const std::string& name, const std::vector<JunitSuite>& suites) {
  std::vector<JunitCase> all;
  for (const JunitSuite& suite : suites) {
    all.insert(all.end(), suite.cases.begin(), suite.cases.end());
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"{}\" {}>\n", xml_escaped(name), counts_of(all));
  for (const JunitSuite& suite : suites) out += suite_element(suite);
  return out + "</testsuites>\n";
}

}  // namespace slicewise::reports
