#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "charts.hpp"

namespace slicewise::reports::charts {
namespace {

struct Rgb {
  double red, green, blue;
};

// Five points of cividis (Nuñez, Anderton, Renslow 2018, doi:10.1371/journal.pone.0199239).
constexpr std::array<Rgb, 5> kCividis = {
    {{0, 34, 78}, {65, 77, 107}, {124, 123, 120}, {188, 175, 111}, {254, 232, 56}}};
// Where white text on the colour has less contrast than black.
constexpr double kDarkTextFrom = 0.46;
constexpr std::size_t kLongestHeatLabel = 22;
constexpr int kHeatSteps = 24;  // of the scale

std::string cividis(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(kCividis.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), kCividis.size() - 2);
  const double rest = at - static_cast<double>(low);
  const auto mixed = [&](double Rgb::*part) {
    return static_cast<int>(
        std::lround(kCividis[low].*part + (kCividis[low + 1].*part - kCividis[low].*part) * rest));
  };
  return fmt::format("#{:02X}{:02X}{:02X}", mixed(&Rgb::red), mixed(&Rgb::green),
                     mixed(&Rgb::blue));
}

double share_of(const HeatMatrix& chart, double value) {
  return chart.most > chart.least ? (value - chart.least) / (chart.most - chart.least) : 0;
}

std::string cell_path(double x, double y, double width, double height) {
  return fmt::format("M{} {}h{}v{}H{}z", pixel(x), pixel(y), pixel(width), pixel(height), pixel(x));
}

// Cells of one colour are one shape, so that a large matrix stays a small file; only those with a
// tooltip need one each.
class HeatCells {
 public:
  explicit HeatCells(const HeatMatrix& chart) : chart_(chart) {}

  void add(const HeatCell& cell, double x, double y, double width) {
    const double height = chart_.cell_height;
    const std::string shape = cell_path(x, y, width, height);
    const int step = cell.value ? step_of(*cell.value) : kUnknown;
    if (cell.tooltip.empty()) {
      (step == kUnknown ? unknown_ : colored_[static_cast<std::size_t>(step)]) += shape;
    } else {
      alone_ += fmt::format("<path d=\"{}\" fill=\"{}\"><title>{}</title></path>\n", shape,
                            fill_of(step), escaped(cell.tooltip));
    }
    if (step == kUnknown || cell.text.empty() || width_of(cell.text) > width - 2) return;
    const bool dark = (step + 0.5) / kHeatSteps < kDarkTextFrom;
    (dark ? on_dark_ : on_light_) += text_at(x + width / 2, y + height / 2 + 4, cell.text);
  }

  std::string drawn() const {
    std::string out = alone_;
    for (int step = 0; step < kHeatSteps; ++step) {
      out += shapes(colored_[static_cast<std::size_t>(step)], fill_of(step));
    }
    out += shapes(unknown_, fill_of(kUnknown));
    if (!on_dark_.empty()) out += "<g class=\"light m\">\n" + on_dark_ + "</g>\n";
    if (!on_light_.empty()) out += "<g class=\"dark m\">\n" + on_light_ + "</g>\n";
    return out;
  }

 private:
  static constexpr int kUnknown = -1;

  int step_of(double value) const {
    const double share = std::clamp(share_of(chart_, value), 0.0, 1.0);
    return std::min(kHeatSteps - 1, static_cast<int>(share * kHeatSteps));
  }
  std::string fill_of(int step) const {
    return step == kUnknown ? fmt::format("url(#{}-unknown)", chart_.text.id)
                            : cividis((step + 0.5) / kHeatSteps);
  }
  static std::string shapes(const std::string& path, const std::string& fill) {
    return path.empty() ? "" : fmt::format("<path d=\"{}\" fill=\"{}\"/>\n", path, fill);
  }

  const HeatMatrix& chart_;
  std::array<std::string, kHeatSteps> colored_;
  std::string unknown_;
  std::string alone_;
  std::string on_dark_;
  std::string on_light_;
};

// The scale itself, with its ends named.
std::string heat_legend(const HeatMatrix& chart, double left, double y) {
  constexpr double kStep = 6;
  std::string out = text_at(left - 8, y + 10, chart.scale_least, "tick", Anchor::End);
  for (int i = 0; i < kHeatSteps; ++i) {
    out += fmt::format("<path d=\"{}\" fill=\"{}\"/>\n",
                       cell_path(left + i * kStep, y, kStep + 0.5, 12),
                       cividis((i + 0.5) / kHeatSteps));
  }
  return out + text_at(left + kHeatSteps * kStep + 8, y + 10, chart.scale_most, "tick");
}

}  // namespace

Drawing draw(const HeatMatrix& chart) {
  double labels = width_of(chart.scale_least);
  for (const std::string& row : chart.rows) {
    labels = std::max(labels, width_of(shortened(row, kLongestHeatLabel)));
  }
  const double left = labels + 16;
  const double width = (chart.width - left - 8) /
                       static_cast<double>(std::max<std::size_t>(1, chart.columns.size()));
  constexpr double kTop = 28;
  std::string body;
  for (std::size_t c = 0; c < chart.columns.size(); ++c) {
    if (chart.columns[c].empty()) continue;
    const auto most = static_cast<std::size_t>(std::max(3.0, width / width_of("x")));
    body += text_at(left + (static_cast<double>(c) + 0.5) * width, kTop - 8,
                    shortened(chart.columns[c], std::max(most, std::size_t{5})), "tick",
                    Anchor::Middle);
  }
  HeatCells cells(chart);
  double y = kTop;
  for (std::size_t r = 0; r < chart.rows.size(); ++r) {
    body += text_at(left - 8, y + chart.cell_height / 2 + 4,
                    shortened(chart.rows[r], kLongestHeatLabel), "", Anchor::End);
    for (std::size_t c = 0; c < chart.columns.size(); ++c) {
      cells.add(chart.cells[r][c], left + static_cast<double>(c) * width, y, width - 1);
    }
    y += chart.cell_height + 1;
  }
  body += cells.drawn() + heat_legend(chart, left, y + 12);
  return {chart.text, chart.width, y + 34, unknown_pattern(chart.text) + body};
}

}  // namespace slicewise::reports::charts
