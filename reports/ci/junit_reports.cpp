#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/diagnostics_text.hpp"

#include "../screens/comparison_words.hpp"
#include "../screens/result_figures.hpp"
#include "../text/text_table.hpp"
#include "../text/xml_text.hpp"

namespace slicewise::reports {
namespace {

// JUnit XML, as GitLab, Jenkins, Azure Pipelines and test reporters of GitHub read it. There is no
// standard; this is what all of them take. Source: https://github.com/testmoapp/junitxml

struct JunitCase {
  enum class Outcome : std::uint8_t { Passed, Failed, Skipped };
  std::string class_name;
  std::string name;
  Outcome outcome = Outcome::Passed;
  std::string message;  // one line: why it failed or was skipped
  std::string detail;   // several lines; with a passed case as well
  std::string file = {};
  int line = 0;
};

struct JunitSuite {
  std::string name;
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<JunitCase> cases;
};

using Outcome = JunitCase::Outcome;

// In an attribute a plain line break would be read as a space.
std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : escaped(text)) {
    out += c == '\n' ? "&#10;" : c == '\r' ? "&#13;" : std::string(1, c);
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

// No times and no dates: a run takes as long as it takes. What XML 1.0 cannot hold becomes
// the escapes of its bytes.
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

JunitCase objective_case(const std::string& class_name, const std::string& workload,
                         const sim::ObjectiveResult& objective) {
  const std::string limit = figure_text(objective.limit, std::nullopt, kPlain);
  const std::string value = found_text(objective, kPlain);
  JunitCase test;
  test.class_name = class_name;
  test.name = fmt::format("{} {} {} {}", workload, objective.name,
                          objective.at_least ? "at least" : "at most", limit);
  if (objective.is_unasked) {
    test.outcome = Outcome::Skipped;
    test.message = "nothing was put to the test: no request came, or there are no Jobs";
    return test;
  }
  const sim::ObjectiveStanding standing = sim::standing_of(objective);
  if (standing == sim::ObjectiveStanding::Holds) {
    test.detail = value;
    return test;
  }
  test.outcome = Outcome::Failed;
  test.message =
      fmt::format("{} {} {}, the limit is {}{}", workload, objective.name,
                  found_nothing(objective) ? "has no value, nothing was finished" : "is " + value,
                  limit, standing == sim::ObjectiveStanding::Undecided ? ": undecided" : "");
  test.detail = test.message;
  return test;
}

JunitCase policy_case(const std::string& class_name, const sim::PolicyResult& policy) {
  using Verdict = sim::PolicyResult::Verdict;
  JunitCase test;
  test.class_name = class_name;
  test.name = fmt::format("policy {}: {}", policy.name, policy.assertion);
  for (const sim::PolicyResult::Figure& figure : policy.figures) {
    test.detail +=
        fmt::format("{} = {}\n", figure.name, figure.value.empty() ? "unknown" : figure.value);
  }
  if (policy.verdict == Verdict::Unknown) {
    test.outcome = Outcome::Skipped;
    test.message = "not judged: a figure that decides it is absent";
    if (policy.denies()) test.outcome = Outcome::Failed;
  }
  if (policy.verdict != Verdict::Fail) return test;
  if (policy.denies()) {
    test.outcome = Outcome::Failed;
    test.message = fmt::format("{} does not hold", policy.assertion);
  } else {
    test.detail = "does not hold; severity Warn\n" + test.detail;
  }
  return test;
}

JunitCase running_case(const std::string& class_name, const sim::VariantResult& variant) {
  JunitCase test;
  test.class_name = class_name;
  test.name = "pods get to run";
  if (!variant.verdict.loses_pods()) return test;
  test.outcome = Outcome::Failed;
  for (const sim::Verdict::Reason& reason : variant.verdict.reasons) {
    if (reason.cause > sim::Verdict::Cause::PodsPending) continue;
    test.message += (test.message.empty() ? "" : "; ") + reason.text;
  }
  for (const std::string& reason : variant.pods.pending_reasons) test.detail += reason + "\n";
  return test;
}

std::vector<JunitCase> cases_of(const std::string& class_name, const sim::VariantResult& variant) {
  std::vector<JunitCase> cases = {running_case(class_name, variant)};
  for (const sim::Verdict::Reason& reason : variant.verdict.reasons) {
    if (reason.cause != sim::Verdict::Cause::Overloaded) continue;
    JunitCase& load = cases.emplace_back();
    load.class_name = class_name;
    load.name = reason.workload + " keeps up with its requests";
    load.outcome = Outcome::Failed;
    load.message = reason.text;
  }
  for (const sim::WorkloadResult& workload : variant.workloads) {
    for (const sim::ObjectiveResult& objective : workload.objectives) {
      cases.push_back(objective_case(class_name, workload.name, objective));
    }
  }
  for (const sim::PolicyResult& policy : variant.policies) {
    cases.push_back(policy_case(class_name, policy));
  }
  return cases;
}

// Which run it was.
std::vector<std::pair<std::string, std::string>> run_properties(const sim::Stamp& stamp,
                                                                bool interrupted) {
  return {{"seed", fmt::format("{}", stamp.seed)},
          {"replications", fmt::format("{}", stamp.replications)},
          {"scenarioSha256", stamp.scenario_sha256},
          {"priceDate", stamp.price_date},
          {"interrupted", interrupted ? "true" : "false"}};
}

std::string plan_option_title(const sim::PlanOption& option) {
  std::string text;
  for (const sim::PoolChoice& pool : option.pools) {
    text += (text.empty() ? "" : " + ") + sim::describe(pool);
  }
  return text;
}

JunitSuite search_suite(const sim::Plan& plan) {
  JunitCase found;
  found.class_name = plan.stamp.scenario;
  found.name = "a configuration meets all objectives";
  if (plan.options.empty()) {
    found.outcome = Outcome::Failed;
    found.message = fmt::format("none of {} configurations does", plan.counts.configurations);
    constexpr std::size_t kMostReasons = 20;
    for (const sim::RejectedChoice& rejected : plan.rejected) {
      if (std::ranges::count(found.detail, '\n') == static_cast<int>(kMostReasons)) break;
      found.detail +=
          fmt::format("{}: {}\n", sim::describe(rejected.choice), rejected.reason.text());
    }
  } else {
    found.detail = plan_option_title(plan.options.front());
  }
  return {"plan", run_properties(plan.stamp, plan.interrupted), {found}};
}

JunitCase finding_case(const Diagnostic& finding, bool strict) {
  const bool fails =
      finding.severity == Severity::Error || (strict && finding.severity == Severity::Warning);
  const std::string text =
      finding.help.empty() ? finding.message : finding.message + "\n" + finding.help;
  JunitCase test;
  test.class_name = finding.where.file;
  test.name =
      fmt::format("{}:{} {}", finding.where.line, finding.where.column, info(finding.code).name);
  test.file = finding.where.file;
  test.line = finding.where.line;
  test.detail = text;
  if (fails) {
    test.outcome = Outcome::Failed;
    test.message = finding.message;
  } else {
    test.detail = fmt::format("{}: {}", severity_name(finding.severity), text);
  }
  return test;
}

}  // namespace

std::string result_junit(const sim::Result& result) {
  std::vector<JunitSuite> suites;
  for (const sim::VariantResult& variant : result.variants) {
    const std::string class_name = result.stamp.scenario + "." + variant.name;
    sim::Stamp stamp = result.stamp;
    stamp.seed = variant.seed;
    stamp.replications = variant.replications_asked;
    suites.push_back(
        {variant.name, run_properties(stamp, result.interrupted), cases_of(class_name, variant)});
  }
  return junit_text("slicewise run " + result.stamp.scenario, suites);
}

std::string plan_junit(const sim::Plan& plan) {
  std::vector<JunitSuite> suites = {search_suite(plan)};
  for (std::size_t n = 0; n < plan.options.size(); ++n) {
    const sim::PlanOption& option = plan.options[n];
    const std::string name = fmt::format("{}. {}", n + 1, plan_option_title(option));
    JunitSuite suite{name, {}, {}};
    for (const sim::PlannedObjective& objective : option.figures.objectives) {
      suite.cases.push_back(
          objective_case(plan.stamp.scenario + "." + name, objective.workload, objective.result));
    }
    for (const std::string& policy : option.figures.warned_by) {
      JunitCase warned;
      warned.class_name = plan.stamp.scenario + "." + name;
      warned.name = "policy " + policy;
      warned.detail = "does not hold; severity Warn";
      suite.cases.push_back(std::move(warned));
    }
    if (!suite.cases.empty()) suites.push_back(std::move(suite));
  }
  return junit_text("slicewise plan " + plan.stamp.scenario, suites);
}

std::string comparison_junit(const sim::StrategyComparison& comparison) {
  const bool one_stands = std::ranges::any_of(comparison.options, [](const auto& option) {
    return option.result.verdict.stands() && !option.too_dear;
  });
  JunitCase found;
  found.class_name = comparison.stamp.scenario;
  found.name = "an option does what it should";
  if (!one_stands) {
    found.outcome = Outcome::Failed;
    found.message = fmt::format("none of {} does", comparison.options.size());
  }
  std::vector<JunitSuite> suites = {
      {"compare", run_properties(comparison.stamp, comparison.interrupted), {found}}};
  for (const sim::ComparedOption& option : comparison.options) {
    const std::string name =
        fmt::format("{}, {}", nodes_text(option.configuration), option_title(option));
    JunitSuite& suite = suites.emplace_back(
        JunitSuite{name, {}, cases_of(comparison.stamp.scenario + "." + name, option.result)});
    // Others were tried to find one that stands, as the exit code says.
    for (JunitCase& test : suite.cases) {
      if (one_stands && test.outcome == Outcome::Failed) test.outcome = Outcome::Skipped;
    }
  }
  JunitSuite refused{"refused", {}, {}};
  for (const sim::RefusedOption& option : comparison.refused) {
    JunitCase test;
    test.class_name = comparison.stamp.scenario + ".refused";
    test.name = fmt::format("{}, {}", option.configuration.instance_type,
                            configuration_title(option.configuration));
    test.outcome = Outcome::Skipped;
    test.message = option.message;
    refused.cases.push_back(std::move(test));
  }
  if (!refused.cases.empty()) suites.push_back(std::move(refused));
  return junit_text("slicewise compare " + comparison.stamp.scenario, suites);
}

std::string check_junit(const CheckReport& report, bool strict) {
  std::vector<JunitSuite> suites;
  for (const std::string& file : report.files) {
    JunitSuite suite{file, {}, {}};
    for (const Diagnostic& finding : report.findings) {
      if (finding.where.file == file) suite.cases.push_back(finding_case(finding, strict));
    }
    if (suite.cases.empty()) {
      JunitCase clean;
      clean.class_name = file;
      clean.name = "no findings";
      suite.cases.push_back(std::move(clean));
    }
    suites.push_back(std::move(suite));
  }
  JunitSuite elsewhere{"several files", {}, {}};
  for (const Diagnostic& finding : report.findings) {
    if (finding.where.file.empty()) elsewhere.cases.push_back(finding_case(finding, strict));
  }
  if (!elsewhere.cases.empty()) suites.push_back(std::move(elsewhere));
  return junit_text("slicewise check", suites);
}

}  // namespace slicewise::reports
