#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/units.hpp"

#include "charts.hpp"

// Dollars against how well it does: one point for each choice.
namespace slicewise::reports::charts {

struct UpwardsFigure {
  std::optional<double> value;
  std::optional<double> half_width;  // of an interval
};

// One that could be chosen. What it has no figure for is absent.
struct Choice {
  ScatterPoint point;  // all but where it lies, and the tooltip
  std::string name;    // of the tooltip
  std::string reason;  // why it does not stand; "" for what does
  std::optional<Usd> month;
  std::optional<Usd> per_job;
  std::optional<Usd> per_1k_requests;
  bool is_judged = false;     // it has objectives
  UpwardsFigure limit_share;  // of the tightest objective: what it uses of its limit
  UpwardsFigure latency;      // p99 of the slowest workload, seconds
  UpwardsFigure job_time;     // until 95 % of the jobs of the slowest workload are done, seconds
};

// Beyond this share of a limit nothing was done that could be measured.
inline constexpr double kNothingDone = 999;
// "37%", "12×" from ten times the limit.
std::string limit_share_text(double share);

// What the choices are told apart by: the bill of a month, dollars for a job where they have no
// other aim, or for requests where all cost the same and `may_show_requests`; upwards the share of
// a limit, a latency or the time of jobs. Without a point where no choice has both figures.
ScatterChart choice_chart(ChartText text, const std::vector<Choice>& choices,
                          bool may_show_requests);

}  // namespace slicewise::reports::charts
