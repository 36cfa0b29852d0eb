#include <fmt/format.h>

#include "embedded/page_files.hpp"
#include "svg.hpp"

namespace slicewise::reports::charts {

// Contrast on white: 5.2, 6.0, 15.6, 3.1 and 5.7; on #0F1419: 8.1, 3.1, 3.3, 3.3 and 12.7. Any two
// stay apart for deuteranopes, protanopes and tritanopes.
std::string_view chart_style() { return page_files::chart_css(); }

std::string svg_file(const std::string& chart) {
  constexpr std::string_view kNamed = "</desc>\n";
  const std::size_t body = chart.find(kNamed) + kNamed.size();
  return chart.substr(0, body) + fmt::format("<style>\n{}</style>\n", chart_style()) +
         "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n" +
         chart.substr(body);
}

}  // namespace slicewise::reports::charts
