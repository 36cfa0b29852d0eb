#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/calibration_report.hpp"

#include "screen.hpp"

// What `slicewise calibrate` shows: of each profile its points, its figures and what to measure
// next; of each language model its benchmarks and the step that they give.
namespace slicewise::reports {
namespace {

std::string residual_cell(double predicted, double measured) {
  const double tenths = std::round(1'000 * (predicted / measured - 1));
  return fmt::format("{:+.1f}", tenths == 0 ? 0 : tenths / 10);
}

Cells point_cells(const sim::FittedProfile& fit) {
  Cells table{{{"SETTING", false, 0},
               {"MEASURED MS", true, 0},
               {"FITTED MS", true, 0},
               {"OFF %", true, 0},
               {"UNSEEN %", true, 0}},
              {}};
  for (const sim::FittedPoint& point : fit.points) {
    table.rows.push_back(
        {models::setting_of(point.measured), fmt::format("{:.4g}", point.measured_ms),
         fmt::format("{:.4g}", point.predicted_ms),
         residual_cell(point.predicted_ms, point.measured_ms),
         point.left_out_ms ? residual_cell(*point.left_out_ms, point.measured_ms) : "-"});
  }
  return table;
}

std::string interval_cell(const sim::FittedFigure& figure) {
  if (figure.between) {
    return fmt::format("{:.2g} to {:.2g}", figure.between->least, figure.between->most);
  }
  return figure.half_width_95 ? fmt::format("\u00b1{:.2g}", *figure.half_width_95) : "-";
}

Cells figure_cells(const std::vector<sim::FittedFigure>& fitted) {
  Cells table{{{"FIGURE", false, 0}, {"VALUE", true, 0}, {"95 %", true, 0}, {"BASIS", false, 0}},
              {}};
  for (const sim::FittedFigure& figure : fitted) {
    table.rows.push_back(
        {figure.name, fmt::format("{:.4g}", figure.value), interval_cell(figure), figure.basis});
  }
  return table;
}

std::string command_of(const models::Measurement& setting) {
  if (setting.sharing == models::MeasuredSharing::Alone) {
    return fmt::format("one process alone on {}", setting.slice);
  }
  return models::setting_of(setting);
}

// The figures of a profile or a step, and how far to trust them.
template <class Fitted>
ScreenPart figures_part(const Fitted& fit) {
  ScreenPart figures{.table = figure_cells(fit.figures)};
  std::string errors = fmt::format("Mean error {:.1f} %", fit.mean_error_percent);
  if (fit.left_out_error_percent) {
    errors += fmt::format("; of settings that the fit has not seen {:.1f} %",
                          *fit.left_out_error_percent);
  }
  figures.sentences.push_back({errors + "."});
  if (!fit.undetermined.empty()) {
    figures.sentences.push_back({fmt::format("Not determined by these measurements: {}.",
                                             fmt::join(fit.undetermined, ", "))});
  }
  return figures;
}

// Where the law is far off, however near it is on the mean; nullptr: nowhere.
const sim::FittedPoint* far_off_point(const sim::FittedProfile& fit) {
  constexpr double kFarOff = 0.1;
  const auto off = [](const sim::FittedPoint& point) {
    return std::abs(point.predicted_ms / point.measured_ms - 1);
  };
  const auto worst = std::ranges::max_element(fit.points, {}, off);
  return worst == fit.points.end() || off(*worst) <= kFarOff ? nullptr : &*worst;
}

void add_worst_point(const sim::FittedProfile& fit, ScreenPart& figures) {
  const sim::FittedPoint* worst = far_off_point(fit);
  if (worst == nullptr) return;
  figures.sentences.push_back(
      {fmt::format("The law does not follow these measurements: {} is {} % off. What it says of "
                   "such settings is no better than that.",
                   models::setting_of(worst->measured),
                   residual_cell(worst->predicted_ms, worst->measured_ms))});
}

std::string next_sentence(const sim::FittedProfile& fit) {
  if (!fit.next && far_off_point(fit) != nullptr) {
    return "Measure next: the same settings once more, one at a time; which other would narrow the "
           "answer is not known of a law that they do not follow.";
  }
  if (!fit.next) {
    return "Nothing to measure next: all that would be asked for was measured, or is known within "
           "5 "
           "%.";
  }
  return fmt::format(
      "Measure next: {}. It would take {:.4g} to {:.4g} ms, and of nothing else is less known.",
      command_of(fit.next->setting), fit.next->least_ms, fit.next->most_ms);
}

ScreenPart profile_part(const sim::FittedProfile& fit) {
  ScreenPart part{.heading = fit.profile.name};
  ScreenPart points{.table = point_cells(fit)};
  ScreenPart figures = figures_part(fit);
  if (fit.launch_bound) {
    figures.sentences.push_back(
        {"Bound by launches: a small part of the GPU is as fast as all of it, so capacityShare is "
         "the widest that fits. Processes side by side on a small slice say more."});
  }
  add_worst_point(fit, figures);
  figures.sentences.push_back({next_sentence(fit)});
  part.parts = {std::move(points), std::move(figures)};
  return part;
}

std::string share_cell(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f}", 100 * *share) : "-";
}

// The levels of sharing of a window of Prometheus.
ScreenPart window_part(const std::vector<sim::WindowPoint>& points) {
  Cells table{{{"WORKLOAD", false, 0},
               {"SETTING", false, 0},
               {"GPU HOURS", true, 0},
               {"REQ/S EACH", true, 0},
               {"BUSY %", true, 0},
               {"SM %", true, 0},
               {"DRAM %", true, 0},
               {"BUSY MS/REQ", true, 0},
               {"STEP MS", true, 0},
               {"95 %", true, 0}},
              {}};
  bool all_count = true;
  for (const sim::WindowPoint& point : points) {
    all_count = all_count && point.counts();
    table.rows.push_back(
        {point.setting.workload, models::setting_of(point.setting),
         fmt::format("{:.3g}", point.hours), fmt::format("{:.4g}", point.rate_each),
         fmt::format("{:.1f}", point.busy_percent), share_cell(point.setting.activity.sm_active),
         share_cell(point.setting.activity.dram_active), fmt::format("{:.4g}", point.busy_ms),
         point.counts() ? fmt::format("{:.4g}", static_cast<double>(point.setting.time.ns) * 1e-6)
                        : "-",
         fmt::format("\u00b1{:.2g} %", point.half_width_percent)});
  }
  ScreenPart part{.heading = "what was recorded"};
  ScreenPart levels{.table = std::move(table)};
  levels.sentences.push_back(
      {"STEP MS: of a request alone the time that the GPU held work for it; of several processes "
       "what it would be with all of them at work all the time. SM % and DRAM %: of the time in "
       "which the GPU held work."});
  if (!all_count) {
    levels.sentences.push_back(
        {"Without STEP MS: too short or too idle to tell a slow-down from none, which more load or "
         "a "
         "longer window would, or in turns on a slice."});
  }
  part.parts = {std::move(levels)};
  return part;
}

Cells served_cells(const sim::FittedStep& fit) {
  Cells table{{{"AT ONCE", true, 0},
               {"PROMPT", true, 0},
               {"ANSWER", true, 0},
               {"TTFT MS", true, 0},
               {"FITTED", true, 0},
               {"OFF %", true, 0},
               {"TPOT MS", true, 0},
               {"FITTED", true, 0},
               {"OFF %", true, 0}},
              {}};
  for (const sim::ServedPoint& point : fit.points) {
    std::vector<Cell> row{std::to_string(point.at_once), fmt::format("{:.0f}", point.input_tokens),
                          fmt::format("{:.0f}", point.output_tokens)};
    for (const sim::ServedPoint::Time& time : {point.first_token, point.per_token}) {
      row.push_back(fmt::format("{:.4g}", time.measured_ms));
      row.push_back(fmt::format("{:.4g}", time.predicted_ms));
      row.push_back(residual_cell(time.predicted_ms, time.measured_ms));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// As a scenario has it.
std::string step_text(const sim::FittedStep& fit) {
  const models::LlmStep& step = fit.step;
  return fmt::format(
      "llm: {{step: {{weightsTime: {:.4g}ms, tokenTime: {:.4g}us, cacheReadTime: {:.4g}us, "
      "overhead: {:.4g}ms}}, maxBatchedTokens: {}}}",
      step.weights_s * 1e3, step.token_s * 1e6, step.kv_read_s * 1e6, step.overhead_s * 1e3,
      fit.most_tokens);
}

std::string budget_sentence(const sim::FittedStep& fit) {
  const std::string tried = fmt::format("{}", fmt::join(sim::kUsualMostTokens, ", "));
  return fit.tokens_told
             ? fmt::format(
                   "Of {} tokens in a step (vLLM's max_num_batched_tokens) the runs fit {}.", tried,
                   fit.most_tokens)
             : fmt::format(
                   "The most tokens in a step (vLLM's max_num_batched_tokens) are taken as "
                   "{}: the runs do not tell which of {} they are. More and longer prompts at once "
                   "would, with --save-detailed.",
                   fit.most_tokens, tried);
}

ScreenPart step_part(const sim::FittedStep& fit) {
  ScreenPart part{.heading = fmt::format("{} on {}: a step", fit.workload, fit.gpu)};
  ScreenPart figures = figures_part(fit);
  constexpr double kFarOff = 10;
  if (fit.mean_error_percent > kFarOff) {
    figures.sentences.push_back(
        {"The law does not follow these measurements: figures of it are no better than that."});
  }
  if (std::ranges::any_of(fit.points,
                          [](const auto& point) { return !point.first_token_counts; })) {
    figures.sentences.push_back(
        {"The files list no lengths of requests (--save-detailed), so how long several at once "
         "wait "
         "for each other's prompts is not known: their TTFT hardly counts, nor is it in the "
         "error."});
  }
  if (!fit.size_known &&
      std::ranges::find(fit.undetermined, "weightsTime") != fit.undetermined.end()) {
    figures.sentences.push_back(
        {"How much of a step the weights take follows of their size: give the model's config.json "
         "as "
         "well."});
  }
  figures.sentences.push_back({budget_sentence(fit)});
  if (fit.step.experts_s <= 0) {  // experts are of a model alone
    figures.sentences.push_back({"A scenario has it as " + step_text(fit) +
                                 " beside the model's weights and kvBytesPerToken."});
  }
  part.parts = {{.table = served_cells(fit)}, std::move(figures)};
  return part;
}

ScreenPart model_part(const models::LlmModel& model) {
  Cells table{{{"FIGURE", false, 0}, {"VALUE", true, 0}, {"BASIS", false, 0}}, {}};
  const auto row = [&](const char* name, const std::string& value, const char* figure) {
    const auto basis = model.provenance.find(figure);
    table.rows.push_back({name, value, basis == model.provenance.end() ? "" : basis->second});
  };
  row("weightsTime", fmt::format("{:.4g} ms", model.step.weights_s * 1e3), "weightsMs");
  if (model.step.experts_s > 0) {
    row("expertsTime", fmt::format("{:.4g} ms", model.step.experts_s * 1e3), "expertsMs");
  }
  row("tokenTime", fmt::format("{:.4g} us", model.step.token_s * 1e6), "tokenMs");
  row("cacheReadTime", fmt::format("{:.4g} us", model.step.kv_read_s * 1e6), "kvReadMs");
  row("overhead", fmt::format("{:.4g} ms", model.step.overhead_s * 1e3), "overheadMs");
  row("weights", fmt::format("{:.4g} GiB", in_gibibytes(model.weights)), "weightsMib");
  row("kvBytesPerToken", fmt::format("{}", model.kv_bytes_per_token.count), "kvBytesPerToken");
  ScreenPart part{.heading = fmt::format("{}, {}", model.name, model.precision)};
  ScreenPart figures{.table = std::move(table)};
  figures.sentences.push_back(
      {fmt::format("A scenario names it, with --catalogue and what --out wrote: llm: {{model: {}}}",
                   model.name)});
  part.parts = {std::move(figures)};
  return part;
}

}  // namespace

std::string calibration_table(const sim::FittedProfiles& fitted, const TextStyle& style) {
  Screen screen{"calibration", "", ""};
  if (!fitted.window.empty()) screen.parts.push_back(window_part(fitted.window));
  for (const sim::FittedProfile& fit : fitted.profiles) screen.parts.push_back(profile_part(fit));
  for (const sim::FittedStep& fit : fitted.steps) screen.parts.push_back(step_part(fit));
  for (const models::LlmModel& model : fitted.models) screen.parts.push_back(model_part(model));
  return screen_text(screen, style, true);
}

}  // namespace slicewise::reports
