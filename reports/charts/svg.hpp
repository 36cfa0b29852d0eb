#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../text/xml_text.hpp"

// What every chart is drawn with: static SVG that needs no script, has a title and a description
// for those who do not see it, and takes its colours from CSS variables, so that one chart serves
// on light and dark ground. Coordinates have one decimal: the same bytes everywhere.
namespace slicewise::reports::charts {

using reports::escaped;

// " class="k0 d0"" of an element; "" without classes.
std::string class_attribute(std::string_view classes);

// What a chart is called. `id` is unique on its page.
struct ChartText {
  std::string id;
  std::string title;        // the finding, in one sentence
  std::string description;  // what is drawn
};

// Told apart without colour: by shape or dash where there are series, by pattern where there are
// areas. Five of each.
enum class Shape : std::uint8_t { Circle, Triangle, Square, Diamond, Plus };
inline constexpr int kColors = 5;

enum class Anchor : std::uint8_t { Start, Middle, End };

// "12", "12.5": a coordinate, with the decimal that it needs.
std::string pixel(double value);
std::string text_at(double x, double y, std::string_view text, std::string_view classes = "",
                    Anchor anchor = Anchor::Start);
std::string line_between(double x1, double y1, double x2, double y2, std::string_view classes);
// With a tooltip, unless it is empty.
std::string rect_at(double x, double y, double width, double height, std::string_view classes,
                    std::string_view tooltip = "");
std::string mark_at(double x, double y, Shape shape, double radius, std::string_view classes,
                    std::string_view tooltip = "");
// "k0 d0": the CSS classes of the colour and the dash of a series.
std::string series_classes(int series);

// An area in the colour and pattern of a series. REQUIRES: the chart has series_patterns for it.
std::string patterned_rect(const ChartText& text, double x, double y, double width, double height,
                           int series, std::string_view tooltip);
// What the areas of the first so many series are filled with.
std::string series_patterns(const ChartText& text, std::size_t series);
// "url(#ID-unknown)": the fill of what is not known.
std::string unknown_pattern(const ChartText& text);

// The width of a text in the charts' font at its usual size, roughly.
double width_of(std::string_view text);
// Cut to `most` characters, with an ellipsis.
std::string shortened(std::string_view text, std::size_t most);

// A chart that was drawn. An image with a name, unless `attributes` say that it is something else.
struct Drawing {
  ChartText text;
  double width = 0;
  double height = 0;
  std::string body;
  std::string attributes = "role=\"img\"";
  bool follows_time = false;          // over the time of the run, read by a cursor
  std::vector<std::string> series{};  // their names, in the order of their signs
};

// As an element of a page that has chart_style().
std::string svg_element(const Drawing& chart);
// As a file that needs nothing else.
std::string svg_file(const Drawing& chart);

// The colours and the text sizes of charts: CSS for the page that holds them.
std::string_view chart_style();

}  // namespace slicewise::reports::charts
