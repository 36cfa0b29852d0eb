#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/reports/html_report.hpp"
#include "slicewise/sim/plan.hpp"

#include "../charts/svg.hpp"

namespace slicewise::reports::html {

// One row of the table of options and one point of the chart beside it, whether it comes from a
// variant of a scenario or from a plan.
struct ShownOption {
  std::string rank;   // "1"; "" for what is not ranked
  std::string name;   // "3 x g4dn.xlarge, MPS x4"
  std::string label;  // shorter, beside a point
  charts::Shape shape = charts::Shape::Circle;
  int series = 0;                             // of its strategy
  std::optional<sim::OptionFigures> figures;  // absent: it cannot run
  int nodes = 0;
  std::string reason;  // why it is refused or does not stand; "" for what does
  bool stands = false;
  bool misses = false;  // the reason is an objective
  bool best = false;
  bool today = false;

  // The objective that uses up most of its limit; nullptr without any.
  const sim::PlannedObjective* tightest() const;
};

// What there is to choose from, the ranked ones first.
std::vector<ShownOption> shown_options(const HtmlReport& report);

// What is drawn upwards in the chart of options.
struct OptionFigure {
  std::optional<double> value;
  std::optional<double> half_width;
};
// Share of its limit that the tightest objective uses up.
OptionFigure limit_share_of(const ShownOption& option);
// Beyond it nothing was done that could be measured.
inline constexpr double kNothingDone = 999;
// "37%", "12×" from ten times the limit.
std::string limit_share_text(double share);

// The row of option `index` in the table of the first screen.
std::string option_id(std::size_t index);

}  // namespace slicewise::reports::html
