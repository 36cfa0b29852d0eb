#include "svg.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "embedded/page_files.hpp"

namespace slicewise::reports::charts {
namespace {

constexpr double kCharacterWidth = 6.9;  // at 12 px: of DejaVu Sans, the widest of the fonts

std::string_view anchor_class(Anchor anchor) {
  switch (anchor) {
    case Anchor::Start:
      return "";
    case Anchor::Middle:
      return "m";
    case Anchor::End:
      return "e";
  }
  return "";
}

std::string closed(std::string_view element, std::string_view tooltip) {
  if (tooltip.empty()) return "/>\n";
  return fmt::format("><title>{}</title></{}>\n", escaped(tooltip), element);
}

// Strokes in the colour of the ground, over the colour of a series; the first one has none.
constexpr std::array<std::string_view, 5> kPatterns = {
    "", "<path d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>",
    "<path d=\"M2 2h.01M6 6h.01\" stroke-linecap=\"round\" stroke-width=\"3\"/>",
    "<path d=\"M0 4h8\"/>", "<path d=\"M-2 6l4 4M0 0l8 8M6-2l4 4\"/>"};

// After five series the colours come again with other patterns, after 25 all is as before.
constexpr int kSeriesSigns = kColors * kColors;

int pattern_of(int series) { return (series + series / kColors) % kColors; }

std::string pattern_of_id(const std::string& id, std::string_view name, std::string_view ground,
                          std::string_view strokes) {
  return fmt::format(
      "<pattern id=\"{}-{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
      "class=\"hatch\"><rect width=\"8\" height=\"8\" class=\"{}\"/>{}</pattern>\n",
      id, name, ground, strokes);
}

std::string drawn(const Drawing& chart, const std::string& behind) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" {5} viewBox=\"0 0 "
             "{0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" aria-labelledby=\"{2}-t "
             "{2}-d\">\n<title id=\"{2}-t\">{3}</title>\n<desc id=\"{2}-d\">{4}</desc>\n",
             chart.width, chart.height, chart.text.id, escaped(chart.text.title),
             escaped(chart.text.description), chart.attributes) +
         behind + chart.body + "</svg>\n";
}

}  // namespace

std::string class_attribute(std::string_view classes) {
  return classes.empty() ? std::string() : fmt::format(" class=\"{}\"", classes);
}

std::string pixel(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string text_at(double x, double y, std::string_view text, std::string_view classes,
                    Anchor anchor) {
  std::string all(classes);
  if (anchor != Anchor::Start) all += (all.empty() ? "" : " ") + std::string(anchor_class(anchor));
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", pixel(x), pixel(y),
                     class_attribute(all), escaped(text));
}

std::string line_between(double x1, double y1, double x2, double y2, std::string_view classes) {
  return fmt::format("<path d=\"M{} {}L{} {}\"{}/>\n", pixel(x1), pixel(y1), pixel(x2), pixel(y2),
                     class_attribute(classes));
}

std::string rect_at(double x, double y, double width, double height, std::string_view classes,
                    std::string_view tooltip) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", pixel(x), pixel(y),
                     pixel(width), pixel(height), class_attribute(classes)) +
         closed("rect", tooltip);
}

std::string mark_at(double x, double y, Shape shape, double radius, std::string_view classes,
                    std::string_view tooltip) {
  const double r = radius;
  std::string path;
  switch (shape) {
    case Shape::Circle:
      path = fmt::format(
          "M{:.1f} {:.1f}a{r:.1f} {r:.1f} 0 1 0 {d:.1f} 0a{r:.1f} {r:.1f} 0 1 0 "
          "-{d:.1f} 0z",
          x - r, y, fmt::arg("r", r), fmt::arg("d", 2 * r));
      break;
    case Shape::Triangle:
      path = fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}h-{:.1f}z", x, y - 1.2 * r, 1.15 * r, 2.1 * r,
                         2.3 * r);
      break;
    case Shape::Square:
      path = fmt::format("M{:.1f} {:.1f}h{d:.1f}v{d:.1f}h-{d:.1f}z", x - 0.9 * r, y - 0.9 * r,
                         fmt::arg("d", 1.8 * r));
      break;
    case Shape::Diamond:
      path = fmt::format("M{:.1f} {:.1f}l{r:.1f} {r:.1f}l-{r:.1f} {r:.1f}l-{r:.1f} -{r:.1f}z", x,
                         y - 1.25 * r, fmt::arg("r", 1.25 * r));
      break;
    case Shape::Plus: {
      const double w = 0.7 * r;
      path = fmt::format(
          "M{:.1f} {:.1f}h{w:.1f}v{w:.1f}h{w:.1f}v{w:.1f}h-{w:.1f}v{w:.1f}h-{w:.1f}v-{w:.1f}h-"
          "{w:.1f}v-{w:.1f}h{w:.1f}z",
          x - w / 2, y - 1.5 * w, fmt::arg("w", w));
      break;
    }
  }
  return fmt::format("<path d=\"{}\"{}", path, class_attribute(classes)) + closed("path", tooltip);
}

std::string series_classes(int series) { return fmt::format("k{0} d{0}", series % kColors); }

std::string patterned_rect(const ChartText& text, double x, double y, double width, double height,
                           int series, std::string_view tooltip) {
  const int sign = series % kSeriesSigns;
  if (pattern_of(sign) == 0) {
    return rect_at(x, y, width, height, fmt::format("area k{}", sign % kColors), tooltip);
  }
  return fmt::format(
             "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"edge\" "
             "fill=\"url(#{}-s{})\"",
             pixel(x), pixel(y), pixel(width), pixel(height), text.id, sign) +
         closed("rect", tooltip);
}

std::string series_patterns(const ChartText& text, std::size_t series) {
  std::string out = "<defs>\n";
  for (int s = 0; s < std::min(static_cast<int>(series), kSeriesSigns); ++s) {
    if (pattern_of(s) == 0) continue;
    out += pattern_of_id(text.id, fmt::format("s{}", s), fmt::format("k{}", s % kColors),
                         kPatterns[static_cast<std::size_t>(pattern_of(s))]);
  }
  return out + "</defs>\n";
}

std::string unknown_pattern(const ChartText& text) {
  return "<defs>\n" + pattern_of_id(text.id, "unknown", "empty", kPatterns[1]) + "</defs>\n";
}

double width_of(std::string_view text) {
  std::size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return kCharacterWidth * static_cast<double>(characters);
}

std::string shortened(std::string_view text, std::size_t most) {
  std::size_t characters = 0;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (characters + 1 == most) cut = i;
    if (++characters > most) return std::string(text.substr(0, cut)) + "…";
  }
  return std::string(text);
}

std::string svg_element(const Drawing& chart) { return drawn(chart, ""); }

std::string svg_file(const Drawing& chart) {
  return drawn(chart, fmt::format("<style>\n{}</style>\n<rect width=\"100%\" height=\"100%\" "
                                  "style=\"fill:var(--paper)\"/>\n",
                                  chart_style()));
}

// Contrast on white: 5.2, 6.0, 15.6, 3.1 and 5.7; on #0F1419: 8.1, 3.1, 3.3, 3.3 and 12.7. Any two
// stay apart for deuteranopes, protanopes and tritanopes.
std::string_view chart_style() { return page_files::chart_css(); }

}  // namespace slicewise::reports::charts
