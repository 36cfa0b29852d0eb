#include "sensitivity_screen.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"
#include "result_figures.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"
#include "screens.hpp"

namespace slicewise::reports {
namespace {

using sim::InputEffect;
using sim::InputVariation;
using sim::OutcomeChange;
using sim::SensitivityStudy;

constexpr int kHalfBar = 12;             // characters on either side of the middle
constexpr std::size_t kShownInputs = 8;  // of each figure
constexpr double kWorthShowing = 0.005;  // a change of the figure, as a share of it

std::optional<OutcomeChange> change_at(const std::optional<InputVariation>& end,
                                       std::size_t figure) {
  if (!end || figure >= end->changes.size()) return std::nullopt;
  return end->changes[figure];
}

double swing(const InputEffect& effect, std::size_t figure) {
  double largest = 0;
  for (const auto* end : {&effect.low, &effect.high}) {
    if (const auto change = change_at(*end, figure)) {
      largest = std::max(largest, std::abs(change->ratio));
    }
  }
  return largest;
}

bool is_assumed(const sim::VariedInput& input) {
  return input.basis == scenarios::Provenance::Assumed;
}

// "-20%" of the input, and what stands above its column.
std::string by_text(double share) { return fmt::format("{:.3g}%", share * 100); }

// ".....######|####": the lower end in light, the higher in full characters; where both lie on one
// side the longer one is drawn first.
std::string tornado_bar(const std::optional<double>& low, const std::optional<double>& high,
                        double scale, const TextStyle& style) {
  std::vector<std::string_view> cells(2 * static_cast<std::size_t>(kHalfBar), " ");
  const auto draw = [&](double ratio, std::string_view sign) {
    const double share = scale > 0 ? std::min(1.0, std::abs(ratio) / scale) : 0;
    const int length = static_cast<int>(std::lround(share * kHalfBar));
    for (int n = 0; n < length; ++n) {
      cells[static_cast<std::size_t>(ratio < 0 ? kHalfBar - 1 - n : kHalfBar + n)] = sign;
    }
  };
  const bool high_first = std::abs(high.value_or(0)) >= std::abs(low.value_or(0));
  if (high_first) draw(high.value_or(0), signs(style).full);
  draw(low.value_or(0), signs(style).empty);
  if (!high_first) draw(high.value_or(0), signs(style).full);
  std::string out;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    if (n == kHalfBar) out += '|';
    out += cells[n];
  }
  return out;
}

std::optional<double> ratio_of(const std::optional<OutcomeChange>& change) {
  return change ? std::optional(change->ratio) : std::nullopt;
}

// nullptr where the figure holds or fails as before.
const sim::ObjectiveFlip* flip_of(const std::optional<InputVariation>& end,
                                  const sim::OutcomeFigure& figure) {
  if (!end) return nullptr;
  const auto flip = std::ranges::find_if(end->flips, [&](const sim::ObjectiveFlip& f) {
    return f.workload == figure.workload && f.name == figure.name;
  });
  return flip == end->flips.end() ? nullptr : &*flip;
}

std::string end_cell(const std::optional<InputVariation>& end, const sim::OutcomeFigure& figure,
                     std::size_t index, const TextStyle& style) {
  if (!end) return std::string(signs(style).none);
  if (!end->refused.empty()) return "refused";
  const auto change = change_at(end, index);
  std::string text =
      change ? change_text(change->ratio, change->ci95, style) : std::string(signs(style).none);
  if (const sim::ObjectiveFlip* flip = flip_of(end, figure)) {
    text += " " + std::string(standing_sign(flip->standing, style));
  }
  return text;
}

// "workloads.asr.traffic at +20%: ".
std::string end_name(const InputEffect& effect, const InputVariation& end) {
  return fmt::format("{} {}{}", effect.input.path, end.factor < 1 ? "-" : "+",
                     by_text(std::abs(end.factor - 1)));
}

// Of objectives, and of pods that die, the figures are said.
bool is_said_elsewhere(sim::Verdict::Cause cause) {
  using Cause = sim::Verdict::Cause;
  return cause == Cause::ObjectiveMissed || cause == Cause::ObjectiveUndecided ||
         cause == Cause::OutOfMemory || cause == Cause::PodsFailed;
}

bool has_reason(const sim::Verdict& verdict, const sim::Verdict::Reason& reason) {
  return std::ranges::any_of(verdict.reasons, [&](const sim::Verdict::Reason& r) {
    return r.cause == reason.cause && r.workload == reason.workload;
  });
}

void add_end_lines(const SensitivityStudy& study, const InputEffect& effect,
                   const InputVariation& end, std::vector<std::string>& lines) {
  const std::string name = end_name(effect, end);
  if (!end.refused.empty()) {
    lines.push_back(fmt::format("{}: cannot be simulated: {}", name, end.refused));
    return;
  }
  for (const sim::ObjectiveFlip& flip : end.flips) {
    const bool holds = flip.standing == sim::ObjectiveStanding::Holds;
    const bool undecided = flip.standing == sim::ObjectiveStanding::Undecided;
    lines.push_back(fmt::format("{}: {} {} {} {} {} {}", name, flip.workload, flip.name,
                                holds       ? "passes"
                                : undecided ? "is undecided,"
                                            : "fails",
                                amount_text(flip.value), holds ? "within" : "against",
                                amount_text(flip.limit)));
  }
  for (const sim::Verdict::Reason& reason : end.verdict.reasons) {
    if (!is_said_elsewhere(reason.cause) && !has_reason(study.verdict, reason)) {
      lines.push_back(fmt::format("{}: {}", name, reason.text));
    }
  }
  const auto pods = [&](double before, double after, std::string_view what) {
    if (after > before + 0.5) {
      lines.push_back(fmt::format("{}: {} pods {} ({} as the scenario is)", name, count_text(after),
                                  what, count_text(before)));
    }
  };
  pods(study.pods.oom_kills, end.pods.oom_kills, "die for lack of GPU memory");
  pods(study.pods.failed, end.pods.failed, "fail");
}

std::string sensitivity_heading(const SensitivityStudy& study) {
  return studied(study.stamp) +
         fmt::format(": what {} less or more of one input changes", by_text(study.by));
}

Cells break_even_cells(const SensitivityStudy& study, const TextStyle& style) {
  Cells table{{{"BREAK-EVEN"},
               {"SCENARIO", true, 1},
               {"PASSES AT", true},
               {"FAILS AT", true},
               {"FACTOR", true},
               {"OBJECTIVE"}},
              {}};
  const std::string none(signs(style).none);
  for (const sim::BreakEven& even : study.break_evens) {
    const sim::VariedInput& input = study.effects[even.effect].input;
    const auto at = [&](const std::optional<double>& factor) {
      return factor ? amount_text({input.value.value * *factor, input.value.unit}) : none;
    };
    const auto factor = [&](const std::optional<double>& f) {
      return f ? fmt::format("{:.3g}", *f) : none;
    };
    table.rows.push_back({input.path + (is_assumed(input) ? " *" : ""), at(1), at(even.passes),
                          at(even.fails), factor(even.passes) + ".." + factor(even.fails),
                          even.objective.empty()  ? none
                          : even.workload.empty() ? even.objective
                                                  : even.workload + " " + even.objective});
  }
  return table;
}

std::vector<std::string> sensitivity_notes(const SensitivityStudy& study) {
  std::vector<std::string> lines{fmt::format(
      "{} simulations of {} runs each, all with one seed: an interval is that of the differences "
      "run by run",
      study.simulations, study.stamp.replications)};
  const auto assumed = std::ranges::count_if(
      study.effects, [](const InputEffect& effect) { return is_assumed(effect.input); });
  if (assumed > 0) {
    lines.push_back("* assumed: nobody measured it. Measure first what stands at the top");
  }
  for (std::string& line : note_lines({}, false)) {
    lines.push_back(std::move(line));
  }
  return lines;
}

ScreenPart tornado_part(const SensitivityStudy& study, std::size_t figure, const TextStyle& style,
                        Detail detail) {
  Tornado shown = tornado(study, figure, style, detail == Detail::Wide);
  ScreenPart part{.heading = figure_heading(study.figures[figure], style)};
  if (shown.cells.rows.empty()) {
    part.sentences.push_back({"no input changes it by 0.5% or more"});
    return part;
  }
  if (detail == Detail::Comment) {
    // Bars need a fixed width, which table cells have not.
    shown.cells.columns.pop_back();
    for (auto& row : shown.cells.rows) row.pop_back();
  } else if (shown.left_out > 0) {
    part.sentences.push_back(
        {fmt::format("and {} inputs that change it less (-o wide)", shown.left_out)});
  }
  part.table = std::move(shown.cells);
  return part;
}

}  // namespace

Screen screen_of(const SensitivityStudy& study, const TextStyle& style, Detail detail) {
  Screen screen{study.stamp.scenario,
                study.interrupted ? "INTERRUPTED: not every input was varied" : "",
                sensitivity_heading(study)};
  if (study.nothing_runs()) {
    screen.parts.push_back({.sentences = {{"No pod ever ran: nothing was varied."}}});
  } else if (!study.verdict.stands()) {
    screen.parts.push_back(as_it_is_part(study.verdict, style));
  }
  for (std::size_t figure = 0; figure < study.figures.size(); ++figure) {
    screen.parts.push_back(tornado_part(study, figure, style, detail));
  }
  screen.parts.push_back(
      {.heading = "WHAT FLIPS", .sentences = sentences_of(flip_lines(study)), .is_answer = true});
  screen.parts.push_back({.table = break_even_cells(study, style)});
  screen.parts.push_back(notes_part(sensitivity_notes(study)));
  screen.origin = origin_line(study.stamp, {}, study.stamp.replications > 1, style);
  return screen;
}

std::string outcome_title(const std::string& workload, const std::string& name) {
  const sim::Field* const price = sim::cost_record().find(name);
  return price != nullptr && !price->diffs.empty() ? std::string(price->diffs.front().title)
                                                   : workload + " " + name;
}

std::string outcome_title(const sim::OutcomeFigure& figure) {
  return outcome_title(figure.workload, figure.name);
}

std::string figure_heading(const sim::OutcomeFigure& figure, const TextStyle& style) {
  std::string out =
      fmt::format("{}: {}", outcome_title(figure), amount_text(figure.value, figure.ci95, style));
  if (!figure.limit) return out;
  return out + fmt::format(", limit {} {}", amount_text({*figure.limit, figure.value.unit}),
                           standing_sign(figure.standing, style));
}

Tornado tornado(const SensitivityStudy& study, std::size_t figure, const TextStyle& style,
                bool all) {
  const std::string by = by_text(study.by);
  Tornado out{
      {{{"INPUT"},
        {"VALUE", true, 1},
        {"BASIS", false, 2},
        {"-" + by, true},
        {"+" + by, true},
        {fmt::format("{} less {} {} more", signs(style).empty, signs(style).full, by), false, 3}},
       {}},
      0};
  std::vector<const InputEffect*> shown;
  for (const InputEffect& effect : study.effects) shown.push_back(&effect);
  std::ranges::stable_sort(shown, [&](const InputEffect* a, const InputEffect* b) {
    return swing(*a, figure) > swing(*b, figure);
  });
  const double scale = shown.empty() ? 0 : swing(*shown.front(), figure);
  const sim::OutcomeFigure& outcome = study.figures[figure];
  for (const InputEffect* effect : shown) {
    const bool flips =
        flip_of(effect->low, outcome) != nullptr || flip_of(effect->high, outcome) != nullptr;
    const bool worth =
        flips || (swing(*effect, figure) >= kWorthShowing && out.cells.rows.size() < kShownInputs);
    if (!all && !worth) {
      ++out.left_out;
      continue;
    }
    out.cells.rows.push_back(
        {effect->input.path + (is_assumed(effect->input) ? " *" : ""),
         amount_text(effect->input.value), std::string(basis_word(effect->input.basis)),
         end_cell(effect->low, outcome, figure, style),
         end_cell(effect->high, outcome, figure, style),
         tornado_bar(ratio_of(change_at(effect->low, figure)),
                     ratio_of(change_at(effect->high, figure)), scale, style)});
  }
  return out;
}

std::vector<std::string> flip_lines(const SensitivityStudy& study) {
  std::vector<std::string> lines;
  for (const InputEffect& effect : study.effects) {
    for (const auto* end : {&effect.low, &effect.high}) {
      if (*end) add_end_lines(study, effect, **end, lines);
    }
  }
  return lines;
}

}  // namespace slicewise::reports
