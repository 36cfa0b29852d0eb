#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/calibration_report.hpp"

#include "screen.hpp"

// What `slicewise calibrate` shows: of each profile its points, its figures and what to measure
// next.
namespace slicewise::reports {
namespace {

std::string residual_cell(double predicted, double measured) {
  return fmt::format("{:+.1f}", 100 * (predicted / measured - 1));
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

Cells figure_cells(const sim::FittedProfile& fit) {
  Cells table{{{"FIGURE", false, 0}, {"VALUE", true, 0}, {"95 %", true, 0}, {"BASIS", false, 0}},
              {}};
  for (const sim::FittedFigure& figure : fit.figures) {
    table.rows.push_back(
        {figure.name, fmt::format("{:.4g}", figure.value),
         figure.half_width_95 ? fmt::format("\u00b1{:.2g}", *figure.half_width_95) : "-",
         figure.basis});
  }
  return table;
}

std::string command_of(const models::Measurement& setting) {
  if (setting.sharing == models::MeasuredSharing::Alone) {
    return fmt::format("one process alone on {}", setting.slice);
  }
  return models::setting_of(setting);
}

ScreenPart profile_part(const sim::FittedProfile& fit) {
  ScreenPart part{.heading = fit.profile.name};
  ScreenPart points{.table = point_cells(fit)};
  ScreenPart figures{.table = figure_cells(fit)};
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
  if (fit.launch_bound) {
    figures.sentences.push_back(
        {"Bound by launches: a small part of the GPU is as fast as all of it, so capacityShare is "
         "the widest that fits. Processes side by side on a small slice say more."});
  }
  if (fit.next) {
    figures.sentences.push_back({fmt::format(
        "Measure next: {}. It would take {:.4g} ms within {:.0f} %, and of nothing else "
        "is less known.",
        command_of(fit.next->setting), fit.next->predicted_ms, fit.next->half_width_percent)});
  }
  part.parts = {std::move(points), std::move(figures)};
  return part;
}

}  // namespace

std::string calibration_table(const sim::FittedProfiles& fitted, const TextStyle& style) {
  Screen screen{"calibration", "", ""};
  for (const sim::FittedProfile& fit : fitted.profiles) screen.parts.push_back(profile_part(fit));
  return screen_text(screen, style, true);
}

}  // namespace slicewise::reports
