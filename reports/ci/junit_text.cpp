#include "junit_text.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "../text/xml_text.hpp"

namespace slicewise::reports {
namespace {

using Outcome = JunitCase::Outcome;

// In an attribute a plain line break would be read as a space.
std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : escaped(text)) {
    if (c == '\n') {
      out += "&#10;";
    } else if (c == '\r') {
      out += "&#13;";
    } else {
      out += c;
    }
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
