#include <algorithm>

#include <fmt/format.h>

#include "charts.hpp"

namespace slicewise::reports::charts {
namespace {

constexpr double kRadius = 6;
constexpr double kRing = kRadius + 5;

struct LabelBox {
  double left, top, right, bottom;

  bool meets(const LabelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

DataRange range_of(const ScatterChart& chart) {
  const ScatterPoint& first = chart.points.front();
  DataRange range{first.x, first.x, first.y, first.y};
  for (const ScatterPoint& point : chart.points) {
    range.least_x = std::min(range.least_x, point.x);
    range.most_x = std::max(range.most_x, point.x);
    // An end at or below nothing is drawn down to the edge.
    const double low = point.y - point.y_half_width.value_or(0);
    range.least_y = std::min(range.least_y, low > 0 ? low : point.y);
    range.most_y = std::max(range.most_y, point.y + point.y_half_width.value_or(0));
  }
  if (chart.limit) {
    range.least_y = std::min(range.least_y, *chart.limit);
    range.most_y = std::max(range.most_y, *chart.limit);
  }
  return range;
}

// Puts each label right of its point, else left, above or below; where it would lie over a point or
// another label it is left out: the table beside the chart has all names.
class LabelPlaces {
 public:
  LabelPlaces(const ScatterChart& chart, const Plot& plot) : area_(plot.area()) {
    for (const ScatterPoint& point : chart.points) {
      const double half = point.emphasised ? kRing : kRadius + 1;
      const double x = plot.x_of(point.x);
      const double y = plot.y_of(point.y);
      taken_.push_back({x - half, y - half, x + half, y + half});
    }
  }

  std::string place(double x, double y, const std::string& label, std::string_view classes,
                    double gap) {
    constexpr double kAscent = 10;
    constexpr double kLine = 13;
    const double width = width_of(label);
    struct Place {
      double x;
      double baseline;
      Anchor anchor;  // the widths of fonts differ: the side of the point is what stays in place
    };
    for (const Place& place :
         {Place{x + gap, y + 4, Anchor::Start}, Place{x - gap, y + 4, Anchor::End},
          Place{x, y - gap, Anchor::Middle}, Place{x, y + gap + kAscent, Anchor::Middle},
          Place{x + gap, y - gap, Anchor::Start}, Place{x + gap, y + gap + 4, Anchor::Start},
          Place{x - gap, y - gap, Anchor::End}}) {
      const double before = place.anchor == Anchor::Start ? 0
                            : place.anchor == Anchor::End ? width
                                                          : width / 2;
      const double left = place.x - before;
      const LabelBox box{left, place.baseline - kAscent, left + width,
                         place.baseline - kAscent + kLine};
      const bool inside = box.left >= area_.left + 2 && box.right <= area_.right + 14 &&
                          box.top >= area_.top - 4 && box.bottom <= area_.bottom - 2;
      if (!inside || std::ranges::any_of(taken_, [&](const LabelBox& b) { return b.meets(box); })) {
        continue;
      }
      taken_.push_back(box);
      return text_at(place.x, place.baseline, label, classes, place.anchor);
    }
    return "";
  }

 private:
  PlotArea area_;
  std::vector<LabelBox> taken_;
};

std::string interval_of(const ScatterPoint& point, const Plot& plot) {
  if (!point.y_half_width || *point.y_half_width <= 0) return "";
  const double x = plot.x_of(point.x);
  const PlotArea area = plot.area();
  const double end = point.y - *point.y_half_width;
  const double low = end > 0 ? std::min(plot.y_of(end), area.bottom) : area.bottom;
  const double high = std::max(plot.y_of(point.y + *point.y_half_width), area.top);
  const std::string classes = "interval " + series_classes(point.series).substr(0, 2);
  return line_between(x, low, x, high, classes) + line_between(x - 4, low, x + 4, low, classes) +
         line_between(x - 4, high, x + 4, high, classes);
}

std::string linked(const ScatterPoint& point, const std::string& mark) {
  return fmt::format("<a href=\"{}\" aria-label=\"{}\">\n{}</a>\n", escaped(point.link),
                     escaped(point.tooltip), mark);
}

}  // namespace

Drawing draw(const ScatterChart& chart) {
  const Plot plot({52, 26, chart.width - 26, chart.height - 42}, chart.x, chart.y, range_of(chart));
  std::string body = plot.drawn();
  if (chart.limit) {
    const double y = plot.y_of(*chart.limit);
    body += line_between(plot.area().left, y, plot.area().right, y, "limit");
    body += text_at(plot.area().right, y - 5, chart.limit_label, "tick", Anchor::End);
  }
  for (const ScatterPoint& point : chart.points) body += interval_of(point, plot);
  // The first ones lie on top.
  for (auto point = chart.points.rbegin(); point != chart.points.rend(); ++point) {
    const double x = plot.x_of(point->x);
    const double y = plot.y_of(point->y);
    std::string mark;
    if (point->emphasised) mark += mark_at(x, y, Shape::Circle, kRing, "ring");
    mark += mark_at(x, y, point->shape, kRadius,
                    (point->hollow ? "hollow " : "mark ") + series_classes(point->series),
                    point->tooltip);
    body += point->link.empty() ? mark : linked(*point, mark);
  }
  LabelPlaces labels(chart, plot);
  for (const bool emphasised : {true, false}) {
    for (const ScatterPoint& point : chart.points) {
      if (point.label.empty() || point.emphasised != emphasised) continue;
      const auto placed = [&](const std::string& label) {
        return labels.place(plot.x_of(point.x), plot.y_of(point.y), label,
                            emphasised ? "strong" : "", kRadius + (emphasised ? 9 : 5));
      };
      const std::string whole = placed(point.label);
      // "#1 3 x g4dn.xlarge": what leads has its number at least.
      body += whole.empty() && emphasised ? placed(point.label.substr(0, point.label.find(' ')))
                                          : whole;
    }
  }
  // What is inside of an image cannot be reached.
  const bool links = std::ranges::any_of(
      chart.points, [](const ScatterPoint& point) { return !point.link.empty(); });
  return {chart.text, chart.width, chart.height, body, links ? "role=\"group\"" : "role=\"img\""};
}

}  // namespace slicewise::reports::charts
