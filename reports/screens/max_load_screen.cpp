#include <algorithm>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/reports/studies.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"
#include "screen.hpp"
#include "screens.hpp"

namespace slicewise::reports {
namespace {

using sim::LoadProbe;
using sim::LoadUnit;
using sim::LoadVerdict;
using sim::MaxLoad;
using sim::ProbedObjective;
using sim::ScaledLoad;

// Four significant where a rate has that many before the point; never an exponent.
std::string significant(double value, int count) {
  int decimals = count - 1;
  for (double power = 10; value >= power && decimals > 0; power *= 10) --decimals;
  return with_thousands(fmt::format("{:.{}f}", value, decimals));
}

std::string amount_of_load(double load, LoadUnit unit) {
  constexpr int kDigits = 4;
  return is_rate(unit) ? significant(load, kDigits) : count_text(load);
}

// "53.20 requests/s", "60 users".
std::string load_text(double load, LoadUnit unit) {
  return fmt::format("{} {}", amount_of_load(load, unit), sim::unit_name(unit));
}

std::string factor_text(double factor) {
  constexpr int kDigits = 3;
  return factor < 1 ? fmt::format("{:.{}g}", factor, kDigits) : significant(factor, kDigits);
}

// What was probed at `factor`, where one load is scaled; else the factor.
std::string at_text(const MaxLoad& found, double factor) {
  if (found.loads.size() != 1 || !is_rate(found.loads.front().unit)) {
    return factor_text(factor) + "x";
  }
  return load_text(found.loads.front().scenario * factor, found.loads.front().unit);
}

// "53.2 requests/s (2.66 times the scenario's load)".
std::string loads_text(const MaxLoad& found, std::optional<double> ScaledLoad::*end,
                       double factor) {
  if (found.loads.size() == 1) {
    const ScaledLoad& load = found.loads.front();
    const double value = *(load.*end);
    return fmt::format("{} ({} times the scenario's load)", load_text(value, load.unit),
                       factor_text(value / load.scenario));
  }
  return fmt::format("{} times the scenario's load", factor_text(factor));
}

std::string objective_text(const ProbedObjective& objective, const TextStyle& style) {
  const sim::ObjectiveResult& o = objective.result;
  return fmt::format("{} of {}, {} against {}", o.name, objective.workload, found_text(o, style),
                     figure_text(o.limit, std::nullopt, style));
}

std::string binding_sentence(const MaxLoad& found, const TextStyle& style) {
  if (!found.failed) return "";
  const LoadProbe& probe = found.probes[*found.failed];
  if (!probe.left_behind.empty()) {
    return fmt::format("What gives way first: {} at {}.", probe.left_behind.front().text,
                       at_text(found, probe.factor));
  }
  if (!found.binding) return "";
  return fmt::format("What gives way first: {} at {}.",
                     objective_text(probe.objectives[*found.binding], style),
                     at_text(found, probe.factor));
}

// Half a percent beyond what was asked for is not worth a sentence.
bool is_too_wide(const MaxLoad& found) {
  constexpr double kWorthSaying = 1.25;
  return found.width() && *found.width() > kWorthSaying * found.precision &&
         std::ranges::any_of(found.probes, [](const LoadProbe& probe) {
           return probe.verdict == LoadVerdict::Undecided;
         });
}

// Without objectives what a load breaks are policies.
bool has_objectives(const MaxLoad& found) {
  return found.probes.empty() || !found.probes.front().objectives.empty();
}

std::string_view what_fails(const LoadProbe& failed) {
  if (failed.left_behind.empty()) return "one is missed";
  switch (failed.left_behind.front().cause) {
    case sim::Verdict::Cause::Overloaded:
      return "requests are left behind";
    case sim::Verdict::Cause::PolicyDenies:
      return "a policy denies it";
    default:
      return "pods are left behind";
  }
}

}  // namespace

std::string range_sentence(const MaxLoad& found) {
  if (!found.passed && !found.failed) {
    return "No load is clearly within every objective, nor clearly beyond one.";
  }
  if (!found.passed) {
    const double factor = found.probes[*found.failed].factor;
    return fmt::format("Not even {} {}.", loads_text(found, &ScaledLoad::failed, factor),
                       has_objectives(found) ? "meets every objective" : "keeps every policy");
  }
  const double factor = found.probes[*found.passed].factor;
  const std::string passed = fmt::format(
      "{} up to {}", has_objectives(found) ? "Every objective is met" : "No policy denies anything",
      loads_text(found, &ScaledLoad::passed, factor));
  if (!found.failed) {
    return fmt::format("{}, and nothing up to {} times was seen to fail (--most).", passed,
                       factor_text(found.most));
  }
  const LoadProbe& failed = found.probes[*found.failed];
  return fmt::format("{}; at {} {}.", passed, at_text(found, failed.factor), what_fails(failed));
}

namespace {

std::string price_sentence(const MaxLoad& found) {
  if (!found.at_passed || !found.at_passed->cost.per_1k_requests_in_slo) return "";
  return fmt::format("At the highest load that passes: {} per 1,000 requests in SLO.",
                     money_text(*found.at_passed->cost.per_1k_requests_in_slo));
}

std::string figure_at(const MaxLoad& found, std::optional<std::size_t> probe, std::size_t objective,
                      const TextStyle& style) {
  if (!probe) return std::string(signs(style).none);
  const ProbedObjective& o = found.probes[*probe].objectives[objective];
  return found_text(o.result, style) +
         (o.verdict == LoadVerdict::Fails ? " " + std::string(signs(style).fail) : "");
}

int runs_of(const MaxLoad& found) {
  int runs = 0;
  for (const LoadProbe& probe : found.probes) runs += probe.replications;
  return runs;
}

std::string max_load_heading(const MaxLoad& found) {
  return studied(found.stamp) + (has_objectives(found)
                                     ? ": the highest load that meets the objectives"
                                     : ": the highest load that no policy denies");
}

std::vector<std::string> max_load_answer(const MaxLoad& found, const TextStyle& style) {
  if (found.nothing_runs()) return {"No pod ever ran: no load can be served."};
  if (found.probes.empty()) return {};
  std::vector<std::string> lines{range_sentence(found)};
  for (std::string line : {binding_sentence(found, style), price_sentence(found)}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  for (const sim::Verdict::Reason& reason :
       found.verdict ? found.verdict->reasons : std::vector<sim::Verdict::Reason>()) {
    if (reason.cause != sim::Verdict::Cause::PolicyDenies) continue;
    lines.push_back(fmt::format("Already at the scenario's own load {}.", reason.text));
  }
  if (is_too_wide(found)) {
    lines.push_back(fmt::format(
        "The interval is {} wide, not {}: between its ends the figures of {} runs lie on both "
        "sides of a limit. A longer duration or more runs (--most-replications) narrow it.",
        percent_text(*found.width()), percent_text(found.precision), found.most_replications));
  }
  return lines;
}

Cells load_cells(const MaxLoad& found, const TextStyle& style) {
  Cells table{{{"LOAD"},
               {"SCENARIO", true},
               {"PASSES", true},
               {"FAILS", true},
               {"HEADROOM", true},
               {"UNIT", false}},
              {}};
  const std::string none(signs(style).none);
  for (const ScaledLoad& load : found.loads) {
    const auto cell = [&](std::optional<double> value) {
      return value ? amount_of_load(*value, load.unit) : none;
    };
    const auto headroom = headroom_of(load);
    table.rows.push_back({load.name, cell(load.scenario), cell(load.passed), cell(load.failed),
                          headroom ? factor_text(*headroom) + "x" : none,
                          std::string(sim::unit_name(load.unit))});
  }
  return table;
}

Cells objective_cells(const MaxLoad& found, const TextStyle& style) {
  Cells table{
      {{"WORKLOAD"}, {"OBJECTIVE"}, {"LIMIT", true}, {"AT PASSES", true}, {"AT FAILS", true}}, {}};
  if (found.probes.empty()) return table;
  const std::vector<ProbedObjective>& objectives = found.probes.front().objectives;
  for (std::size_t o = 0; o < objectives.size(); ++o) {
    table.rows.push_back({objectives[o].workload, objectives[o].result.name,
                          figure_text(objectives[o].result.limit, std::nullopt, style),
                          figure_at(found, found.passed, o, style),
                          figure_at(found, found.failed, o, style)});
  }
  return table;
}

Cells probe_cells(const MaxLoad& found, const TextStyle& style) {
  Cells table{{{"PROBE", true}, {"LOAD", true}, {"RUNS", true}, {"VERDICT"}, {"BECAUSE OF"}}, {}};
  for (std::size_t n = 0; n < found.probes.size(); ++n) {
    const LoadProbe& probe = found.probes[n];
    const auto cause =
        std::ranges::find(probe.objectives, probe.verdict, &ProbedObjective::verdict);
    const bool named = probe.verdict != LoadVerdict::Passes && cause != probe.objectives.end();
    const std::string because = !probe.left_behind.empty() ? probe.left_behind.front().text
                                : named                    ? objective_text(*cause, style)
                                                           : std::string(signs(style).none);
    table.rows.push_back({std::to_string(n + 1), at_text(found, probe.factor),
                          std::to_string(probe.replications),
                          std::string(verdict_word(probe.verdict)), because});
  }
  return table;
}

bool policy_decides(const MaxLoad& found) {
  return std::ranges::any_of(found.probes, [](const LoadProbe& probe) {
    return std::ranges::any_of(probe.left_behind, [](const sim::Verdict::Reason& reason) {
      return reason.cause == sim::Verdict::Cause::PolicyDenies;
    });
  });
}

std::vector<std::string> max_load_notes(const MaxLoad& found, bool full) {
  std::vector<std::string> lines{fmt::format(
      "{} of {} to {} runs, {} in all, with one seed: a load passes or fails when "
      "the whole 95% interval of its runs does{}",
      counted(found.probes.size(), "probe"), found.stamp.replications, found.most_replications,
      runs_of(found), policy_decides(found) ? "; a policy denies by their mean" : "")};
  for (const Diagnostic& d : found.notes) lines.push_back(finding_text(d));
  if (found.at_passed) {
    for (const Diagnostic& d : found.at_passed->findings) {
      if (d.severity != Severity::Warning) continue;
      lines.push_back(finding_text(d));
    }
  }
  std::vector<sim::VariantResult> passed;
  if (found.at_passed) passed.push_back(*found.at_passed);
  for (std::string& line : note_lines(passed, full)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

Screen screen_of(const MaxLoad& found, const TextStyle& style, Detail detail) {
  Screen screen{found.stamp.scenario,
                found.interrupted ? "INTERRUPTED: the search was not finished" : "",
                max_load_heading(found)};
  screen.parts = {
      {.table = load_cells(found, style)},
      {.sentences = sentences_of(max_load_answer(found, style)), .is_answer = true},
      {.table = objective_cells(found, style)},
  };
  if (detail != Detail::Brief) {
    screen.parts.push_back({.table = probe_cells(found, style), .folded = "Probes"});
  }
  screen.parts.push_back(notes_part(max_load_notes(found, detail != Detail::Brief)));
  screen.origin =
      origin_line(found.stamp, {}, found.at_passed && found.at_passed->replications > 1, style);
  return screen;
}

std::string_view verdict_word(LoadVerdict verdict) {
  switch (verdict) {
    case LoadVerdict::Passes:
      return "passes";
    case LoadVerdict::Fails:
      return "fails";
    case LoadVerdict::Undecided:
      return "undecided";
  }
  return "undecided";
}

std::optional<double> headroom_of(const ScaledLoad& load) {
  if (!load.passed || load.scenario == 0) return std::nullopt;
  return *load.passed / load.scenario;
}

}  // namespace slicewise::reports
