#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/reports/studies.hpp"

#include "chart_axis.hpp"
#include "svg.hpp"

namespace slicewise::reports {
namespace {

// Pixels of one panel: a square plot with its title above and the axis texts around it.
constexpr double kPanelWidth = 400;
constexpr double kPanelHeight = 452;
constexpr double kPlotLeft = 64;
constexpr double kPlotTop = 78;
constexpr double kPlotSize = 316;
constexpr double kPlotRight = kPlotLeft + kPlotSize;
constexpr double kPlotBottom = kPlotTop + kPlotSize;
constexpr double kPageMargin = 16;
constexpr double kPageTop = 72;
constexpr std::size_t kPanelsPerRow = 3;

constexpr double kBand = 0.1;  // +-10 %

// Told apart by people who do not see red and green apart, and in grey.
constexpr std::string_view kCheckColor = "#0072B2";
constexpr std::string_view kWeakestColor = "#C12119";
constexpr std::string_view kFitColor = "#CE7B8B";
constexpr std::string_view kInk = "#3C1727";
constexpr std::string_view kFaint = "#DCD5D8";

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string text_at(double x, double y, std::string_view text, std::string_view attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                     charts::escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, attributes);
}

// One panel's axes: the same values from left to right and from bottom to top.
struct Axes {
  LogAxis x;
  LogAxis y;
};

// What the axes count in: long steps in seconds.
struct Scale {
  double per_unit = 1;  // of StudyResult::quantity
  std::string_view name;
};

struct Extent {
  double least;
  double most;
};

Extent extent_of(const sim::StudyResult& study) {
  Extent extent{study.points.front().measured, study.points.front().measured};
  for (const sim::PredictedPoint& point : study.points) {
    extent.least = std::min({extent.least, point.measured, point.predicted});
    extent.most = std::max({extent.most, point.measured, point.predicted});
  }
  return extent;
}

Scale scale_of(const sim::StudyResult& study) {
  constexpr double kMillisecondsPerSecond = 1'000;
  if (study.quantity == sim::Quantity::Speed) return {1, "speed, alone = 1"};
  if (extent_of(study).least < kMillisecondsPerSecond) return {1, "time per step, ms"};
  return {kMillisecondsPerSecond, "time per step, s"};
}

Axes axes_of(const sim::StudyResult& study) {
  const double unit = scale_of(study).per_unit;
  const Extent extent = extent_of(study);
  return {LogAxis(extent.least / unit, extent.most / unit, kPlotLeft, kPlotRight),
          LogAxis(extent.least / unit, extent.most / unit, kPlotBottom, kPlotTop)};
}

std::string grid(const Axes& axes) {
  std::string out;
  const std::string stroke = fmt::format("stroke=\"{}\"", kFaint);
  for (const double value : axes.x.ticks()) {
    const double x = axes.x.pixel_of(value);
    const double y = axes.y.pixel_of(value);
    out += line(x, kPlotTop, x, kPlotBottom, stroke);
    out += line(kPlotLeft, y, kPlotRight, y, stroke);
    out += text_at(x, kPlotBottom + 15, tick_text(value), "class=\"tick\" text-anchor=\"middle\"");
    out += text_at(kPlotLeft - 6, y + 4, tick_text(value), "class=\"tick\" text-anchor=\"end\"");
  }
  return out;
}

// predicted = measured, and what is within 10 % of it, cut at the frame of the plot.
std::string equality(const Axes& axes) {
  const double first = axes.x.first_value();
  const double last = axes.x.last_value();
  const auto corner = [&axes](double measured, double predicted) {
    return fmt::format("{:.1f},{:.1f} ", axes.x.pixel_of(measured), axes.y.pixel_of(predicted));
  };
  const double above = 1 + kBand;
  const double below = 1 - kBand;
  std::string band = corner(first, first) + corner(first, std::min(last, first * above)) +
                     corner(last / above, last) + corner(last, last) + corner(last, last * below) +
                     corner(std::min(last, first / below), first);
  band.pop_back();
  return fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.55\"/>\n", band, kFaint) +
         line(kPlotLeft, kPlotBottom, kPlotRight, kPlotTop,
              fmt::format("stroke=\"{}\" stroke-width=\"1\"", kInk)) +
         fmt::format(
             "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" "
             "stroke=\"{}\"/>\n",
             kPlotLeft, kPlotTop, kPlotSize, kPlotSize, kInk);
}

// All dots of one colour as one path of very short strokes with round ends: small files.
template <class Belongs>
std::string dots(const sim::StudyResult& study, const Axes& axes, std::string_view color,
                 double opacity, Belongs belongs) {
  const double unit = scale_of(study).per_unit;
  std::string path;
  for (const sim::PredictedPoint& point : study.points) {
    if (!belongs(point)) continue;
    path += fmt::format("M{:.1f} {:.1f}h.01", axes.x.pixel_of(point.measured / unit),
                        axes.y.pixel_of(point.predicted / unit));
  }
  if (path.empty()) return "";
  const double width = study.points.size() > 300 ? 3.4 : 5;
  return fmt::format(
      "<path d=\"{}\" stroke=\"{}\" stroke-opacity=\"{}\" stroke-width=\"{}\" "
      "stroke-linecap=\"round\" fill=\"none\"/>\n",
      path, color, opacity, width);
}

// A study of one workload has no weakest one.
std::string weakest_of(const sim::StudyResult& study) {
  return study.by_workload.size() < 2 ? "" : study.by_workload.front().workload;
}

std::string all_dots(const sim::StudyResult& study, const Axes& axes) {
  const std::string weakest = weakest_of(study);
  const auto is_weakest = [&](const sim::PredictedPoint& point) {
    return !weakest.empty() && point.role == sim::PointRole::Check && point.workload == weakest;
  };
  return dots(study, axes, kFitColor, 0.8,
              [](const auto& point) { return point.role == sim::PointRole::Fit; }) +
         dots(study, axes, kCheckColor, 0.7,
              [&](const auto& point) {
                return point.role == sim::PointRole::Check && !is_weakest(point);
              }) +
         dots(study, axes, kWeakestColor, 0.85, is_weakest);
}

class Legend {
 public:
  void add(std::string_view color, const std::string& text) {
    entries_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n",
                            kPlotLeft + 12, y_ - 4, color) +
                text_at(kPlotLeft + 21, y_, text, "class=\"legend\"");
    y_ += 15;
  }
  // Above the dots, on a ground that lets them shine through.
  std::string text() const {
    return fmt::format(
               "<rect x=\"{}\" y=\"{}\" width=\"232\" height=\"{}\" fill=\"#FFFFFF\" "
               "fill-opacity=\"0.8\"/>\n",
               kPlotLeft + 4, kPlotTop + 4, y_ - kPlotTop - 12) +
           entries_;
  }

 private:
  double y_ = kPlotTop + 18;
  std::string entries_;
};

std::string legend(const sim::StudyResult& study) {
  constexpr std::size_t kLongestLegend = 30;
  Legend legend;
  legend.add(kCheckColor, fmt::format("check {}, {:.1f} %", counted(study.check.rows, "row"),
                                      study.check.mean_percent));
  if (const std::string weakest = weakest_of(study); !weakest.empty()) {
    legend.add(kWeakestColor, fmt::format("{} {:.1f} %", shortened(weakest, kLongestLegend),
                                          study.by_workload.front().mean_percent));
  }
  if (study.fit.rows > 0) {
    legend.add(kFitColor, fmt::format("fitted or given {}, {:.1f} %",
                                      counted(study.fit.rows, "row"), study.fit.mean_percent));
  }
  return legend.text();
}

std::string panel(const sim::StudyResult& study) {
  const Axes axes = axes_of(study);
  const std::string_view quantity = scale_of(study).name;
  const models::MeasurementSource& source = study.source;
  std::string out =
      text_at(kPlotLeft, 24, study.study.id + ", " + study.study.mode, "class=\"title\"") +
      text_at(kPlotLeft, 42, study.study.title, "class=\"subtitle\"") +
      text_at(kPlotLeft, 58, source.title + (source.gpu.empty() ? "" : ", " + source.gpu),
              "class=\"subtitle\"");
  out += grid(axes) + equality(axes) + all_dots(study, axes) + legend(study);
  out += text_at(kPlotLeft + kPlotSize / 2, kPlotBottom + 36, fmt::format("measured {}", quantity),
                 "class=\"axis\" text-anchor=\"middle\"");
  out += text_at(0, 0, fmt::format("predicted {}", quantity),
                 fmt::format("class=\"axis\" text-anchor=\"middle\" transform=\"translate(14 "
                             "{:.1f}) rotate(-90)\"",
                             kPlotTop + kPlotSize / 2));
  return out;
}

std::string svg_document(double width, double height, std::string_view title,
                         const std::string& body) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" font-family=\"Helvetica, Arial, "
             "sans-serif\">\n<title>{2}</title>\n",
             width, height, charts::escaped(title)) +
         fmt::format(
             "<style>.title{{font-size:14px;font-weight:bold}}.subtitle,.axis,.legend{{"
             "font-size:12px}}.tick{{font-size:11px}}text{{fill:{}}}</style>\n",
             kInk) +
         fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#FFFFFF\"/>\n", width,
                     height) +
         body + "</svg>\n";
}

std::string moved(double x, double y, const std::string& body) {
  return fmt::format("<g transform=\"translate({:.0f} {:.0f})\">\n", x, y) + body + "</g>\n";
}

}  // namespace

std::string study_chart(const sim::StudyResult& study) {
  return svg_document(kPanelWidth, kPanelHeight, study.study.id + ": predicted against measured",
                      panel(study));
}

std::string validation_chart(const sim::ValidationResult& result) {
  const std::size_t rows = (result.studies.size() + kPanelsPerRow - 1) / kPanelsPerRow;
  std::string body =
      text_at(kPageMargin, 32, "Predicted against measured",
              "font-size=\"20\" font-weight=\"bold\"") +
      text_at(
          kPageMargin, 54,
          "Blue: rows on which nothing was fitted. Red: of these the workload with the largest "
          "error. Pink: rows fitted on or given. Line: predicted = measured; grey: within 10 %.",
          "class=\"subtitle\"");
  for (std::size_t i = 0; i < result.studies.size(); ++i) {
    const std::size_t column = i % kPanelsPerRow;
    const std::size_t row = i / kPanelsPerRow;
    body += moved(kPageMargin + static_cast<double>(column) * kPanelWidth,
                  kPageTop + static_cast<double>(row) * kPanelHeight, panel(result.studies[i]));
  }
  return svg_document(2 * kPageMargin + kPanelsPerRow * kPanelWidth,
                      kPageTop + static_cast<double>(rows) * kPanelHeight + kPageMargin,
                      "slicewise validate: predicted against measured", body);
}

}  // namespace slicewise::reports
