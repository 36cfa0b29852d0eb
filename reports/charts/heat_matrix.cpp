#include "heat_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

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

std::string colored_rect(double x, double y, double width, double height, const std::string& fill,
                         std::string_view tooltip) {
  const std::string rect =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"",
                  x, y, width, height, fill);
  return rect +
         (tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(tooltip)));
}

std::string cell_at(const HeatMatrix& chart, const HeatCell& cell, double x, double y,
                    double width) {
  const double height = chart.cell_height;
  if (!cell.value) {
    return rect_at(x, y, width, height, "empty", cell.tooltip) +
           fmt::format(
               "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
               "fill=\"url(#{}-p1)\"/>\n",
               x, y, width, height, chart.text.id);
  }
  const double share = share_of(chart, *cell.value);
  std::string out = colored_rect(x, y, width, height, cividis(share), cell.tooltip);
  if (!cell.text.empty() && width_of(cell.text) <= width - 4) {
    out += text_at(x + width / 2, y + height / 2 + 4, cell.text,
                   share < kDarkTextFrom ? "light" : "dark", Anchor::Middle);
  }
  return out;
}

// The scale itself, with its ends named.
std::string heat_legend(const HeatMatrix& chart, double left, double y) {
  constexpr int kSteps = 24;
  constexpr double kStep = 6;
  std::string out = text_at(left - 8, y + 10, chart.scale_least, "tick", Anchor::End);
  for (int i = 0; i < kSteps; ++i) {
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"12\" "
        "fill=\"{}\"/>\n",
        left + i * kStep, y, kStep + 0.5, cividis((i + 0.5) / kSteps));
  }
  return out + text_at(left + kSteps * kStep + 8, y + 10, chart.scale_most, "tick");
}

}  // namespace

std::string draw(const HeatMatrix& chart) {
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
  double y = kTop;
  for (std::size_t r = 0; r < chart.rows.size(); ++r) {
    body += text_at(left - 8, y + chart.cell_height / 2 + 4,
                    shortened(chart.rows[r], kLongestHeatLabel), "", Anchor::End);
    for (std::size_t c = 0; c < chart.columns.size(); ++c) {
      body +=
          cell_at(chart, chart.cells[r][c], left + static_cast<double>(c) * width, y, width - 1);
    }
    y += chart.cell_height + 1;
  }
  body += heat_legend(chart, left, y + 12);
  return chart_with_patterns(chart.text, chart.width, y + 34, body);
}

}  // namespace slicewise::reports::charts
