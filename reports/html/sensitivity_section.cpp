#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../charts/charts.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/sensitivity_screen.hpp"
#include "../text/amount_text.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

constexpr std::size_t kMostTornadoes = 2;
constexpr std::size_t kMostBars = 8;
constexpr double kShownSwing = 0.005;  // a change of the figure, as a share of it

std::string duration_of_figure(double value) { return duration_text(from_seconds(value)); }
std::string share_of_figure(double value) { return percent_text(value); }

charts::TickText tick_of(sim::AmountUnit unit) {
  switch (unit) {
    case sim::AmountUnit::Seconds:
      return duration_of_figure;
    case sim::AmountUnit::Dollars:
    case sim::AmountUnit::DollarsPerHour:
      return dollars_tick;
    case sim::AmountUnit::Ratio:
      return share_of_figure;
    case sim::AmountUnit::Bytes:
    case sim::AmountUnit::PerSecond:
    case sim::AmountUnit::Cores:
    case sim::AmountUnit::Count:
      break;
  }
  return tick_text;
}

// "asr.requestGpuTime" of "workloads.asr.measured.requestGpuTime": what differs.
std::string input_label(std::string path) {
  for (const std::string_view part : {"workloads.", "nodePools.", "measured."}) {
    if (const std::size_t at = path.find(part); at != std::string::npos)
      path.erase(at, part.size());
  }
  return path;
}

const sim::OutcomeChange* change_of(const std::optional<sim::InputVariation>& end,
                                    std::size_t figure) {
  if (!end || figure >= end->changes.size() || !end->changes[figure]) return nullptr;
  return &*end->changes[figure];
}

double swing_of(const sim::InputEffect& effect, std::size_t figure) {
  double largest = 0;
  for (const auto* end : {&effect.low, &effect.high}) {
    const sim::OutcomeChange* change = change_of(*end, figure);
    if (change != nullptr) largest = std::max(largest, std::abs(change->ratio));
  }
  return largest;
}

std::vector<const sim::InputEffect*> widest_first(const sim::SensitivityStudy& study,
                                                  std::size_t figure) {
  std::vector<const sim::InputEffect*> effects;
  for (const sim::InputEffect& effect : study.effects) {
    if (swing_of(effect, figure) >= kShownSwing) effects.push_back(&effect);
  }
  std::ranges::stable_sort(effects, std::ranges::greater{}, [&](const sim::InputEffect* effect) {
    return swing_of(*effect, figure);
  });
  return effects;
}

// The end of a bar. One that could not be simulated stays at the base.
void set_end(const sim::OutcomeFigure& figure, const std::optional<sim::InputVariation>& end,
             std::size_t index, double& value, std::optional<double>& half, std::string& text) {
  value = figure.value.value;
  const sim::OutcomeChange* change = change_of(end, index);
  if (change == nullptr) {
    text = end && !end->refused.empty() ? "cannot be simulated" : "no value";
    return;
  }
  value = change->value;
  if (change->ci95) half = std::abs(*change->ci95 * figure.value.value);
  text = fmt::format("{} ({})", amount_text({change->value, figure.value.unit}),
                     change_text(change->ratio, change->ci95, kPageStyle));
}

// The last column is drawn.
Cells without_bars(Cells cells) {
  cells.columns.pop_back();
  for (auto& row : cells.rows) row.pop_back();
  return cells;
}

Markup tornado_figure(const sim::SensitivityStudy& study, std::size_t index, std::size_t place) {
  const sim::OutcomeFigure& figure = study.figures[index];
  const auto effects = widest_first(study, index);
  charts::TornadoChart chart;
  chart.base = figure.value.value;
  chart.low_name = fmt::format("input -{}", percent_text(study.by));
  chart.high_name = fmt::format("input +{}", percent_text(study.by));
  chart.x = {figure_heading(figure, kPageStyle), tick_of(figure.value.unit)};
  double most = 0;
  for (const sim::InputEffect* effect : effects) {
    if (chart.bars.size() == kMostBars) break;
    charts::TornadoBar bar;
    bar.label = input_label(effect->input.path);
    set_end(figure, effect->low, index, bar.low, bar.low_half_width, bar.low_text);
    set_end(figure, effect->high, index, bar.high, bar.high_half_width, bar.high_text);
    most = std::max({most, std::abs(bar.low), std::abs(bar.high)});
    chart.bars.push_back(std::move(bar));
  }
  if (figure.value.unit == sim::AmountUnit::Seconds) chart.x.unit = charts::time_unit(most);
  const charts::TornadoBar& widest = chart.bars.front();
  std::string finding = fmt::format("{} moves {} most: {} at -{}, {} at +{}.", widest.label,
                                    outcome_title(figure), widest.low_text, percent_text(study.by),
                                    widest.high_text, percent_text(study.by));
  if (effects.size() > kMostBars) {
    finding += fmt::format(" Drawn: the {} widest of {}.", kMostBars, effects.size());
  }
  chart.text = {fmt::format("chart-tornado-{}", place + 1), finding,
                "One pair of bars for each input: what becomes of the figure with less and with "
                "more of it. Whiskers are 95 % intervals of the differences."};
  return html::figure(draw(chart), finding,
                      {table_of("what becomes of " + outcome_title(figure),
                                without_bars(tornado(study, index, kPageStyle, false).cells))});
}

// The figures that inputs move most; the bill of a month follows prices and nodes only.
std::vector<std::size_t> figures_that_move(const sim::SensitivityStudy& study) {
  std::vector<std::size_t> figures;
  const auto widest = [&](std::size_t figure) {
    double swing = 0;
    for (const sim::InputEffect& effect : study.effects) {
      swing = std::max(swing, swing_of(effect, figure));
    }
    return swing;
  };
  for (std::size_t f = 0; f < study.figures.size(); ++f) {
    if (study.figures[f].name == "monthlyUsd" || widest(f) < kShownSwing) continue;
    figures.push_back(f);
  }
  // Objectives first: they are what can fail.
  std::ranges::stable_sort(figures, [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t f) {
      return std::pair(!study.figures[f].limit.has_value(), -widest(f));
    };
    return rank(a) < rank(b);
  });
  if (figures.size() > kMostTornadoes) figures.resize(kMostTornadoes);
  return figures;
}

Markup study_markup(const sim::SensitivityStudy& study) {
  const std::vector<std::size_t> figures = figures_that_move(study);
  const std::vector<std::string> flips = flip_lines(study);
  Markup out;
  std::size_t place = 0;
  for (const std::size_t figure : figures) out += tornado_figure(study, figure, place++);
  if (figures.empty()) {
    out = paragraph(fmt::format("No figure moves by more than {} when one input is {} off.",
                                percent_text(kShownSwing), percent_text(study.by)));
  } else if (figures.size() > 1) {
    out = "<div class=\"pair\">\n" + out + "</div>\n";
  }
  const bool objectives = std::ranges::any_of(
      study.figures, [](const sim::OutcomeFigure& f) { return f.limit.has_value(); });
  if (!flips.empty()) {
    out += list_of_lines(flips);
  } else if (objectives) {
    out += paragraph(fmt::format("No objective starts or stops failing when one input is {} off.",
                                 percent_text(study.by)));
  }
  return out +
         paragraph(fmt::format("{}: {} simulations of {} runs each, all with one seed. Inputs "
                               "marked * are assumed.",
                               study.stamp.variant, study.simulations, study.stamp.replications));
}

std::string flips_markup(const sim::Plan& plan) {
  HtmlTable table{
      "Changes that make another option the best",
      {{"Input"}, {"Holds up to", true}, {"Changes at", true}, {"Because"}, {"Then best"}},
      {},
      {},
      true};
  for (const sim::Flip& flip : plan.flips) {
    std::string winner = "none of these options";
    if (flip.winner && !flip.winner->pools.empty()) {
      winner.clear();
      for (const sim::PoolChoice& pool : flip.winner->pools) {
        winner += (winner.empty() ? "" : " + ") + sim::describe(pool);
      }
    }
    const auto times = [](double factor) {
      return HtmlCell{fmt::format("{:.3g}×", factor), factor, ""};
    };
    table.rows.push_back({flip.input, times(flip.holds_at), times(flip.factor),
                          flip.misses ? "an objective is missed" : "it is no longer the cheapest",
                          winner});
  }
  const sim::Flip& nearest = plan.flips.front();
  return paragraph(fmt::format("The answer is most sensitive to {}: it changes at {:.3g} times its "
                               "value.",
                               nearest.input, nearest.factor)) +
         table_markup(table) +
         paragraph(
             "Each input was raised on its own until another option won, or halved to see whether "
             "a "
             "cheaper one does; factors between the two columns were not tried. `slicewise plan` "
             "finds these.");
}

}  // namespace

Markup sensitivity_section(const HtmlReport& report) {
  Markup out;
  if (report.plan && !report.plan->flips.empty()) out += flips_markup(*report.plan);
  if (report.sensitivity) {
    out += study_markup(*report.sensitivity);
  } else if (!report.no_sensitivity.empty()) {
    out += paragraph(report.no_sensitivity);
  }
  return out.empty() ? "" : section("sensitivity", "What would change the answer?", out);
}

}  // namespace slicewise::reports::html
