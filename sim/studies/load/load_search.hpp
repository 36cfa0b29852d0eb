#pragma once

#include <cstddef>
#include <optional>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/result.hpp"

// Whether a load holds, and which one to look at next.
namespace slicewise::sim {

// What the verdict on `result`, of two replications or more, is to a search: open while a limit
// lies within its interval. Policies have no part in it: some hold above a load, some below, as
// only who knows another load can tell.
LoadProbe judge_probe(double factor, const VariantResult& result);

// The objective that fails and is furthest beyond its limit, into probe.objectives.
std::optional<std::size_t> binding_objective(const LoadProbe& probe);

// The largest excess of its objectives; nullopt where another thing makes it fail.
std::optional<double> excess_of(const LoadProbe& probe);

// Which load to try next: doubles and halves from 1 until one load passes and one fails, then
// closes in on where a figure would meet its limit if it grew by a power of the load; bisects where
// no figure tells or where that brought little. Around loads that stay undecided it closes in from
// both sides.
class LoadSearch {
 public:
  // REQUIRES: precision > 0, most > 1.
  LoadSearch(double precision, double most) : precision_(precision), most_(most) {}

  // Times the scenario's load; nullopt: the search is over.
  std::optional<double> next() const;
  // `excess`: of the objective that is furthest beyond its limit or nearest to it.
  void record(double factor, LoadVerdict verdict, std::optional<double> excess = {});

 private:
  // First and last load that is undecided, or the ends of the interval themselves.
  double below() const { return first_undecided_.value_or(*failed_); }
  double above() const { return last_undecided_.value_or(*passed_); }
  std::optional<double> between() const;
  // Where the figure would meet its limit.
  std::optional<double> expected() const;

  double precision_;
  double most_;
  std::optional<double> lowest_;  // of all that were tried
  std::optional<double> highest_;
  std::optional<double> passed_;
  std::optional<double> failed_;
  std::optional<double> passed_excess_;
  std::optional<double> failed_excess_;
  bool bisects_ = false;  // the last step did less than that
  std::optional<double> first_undecided_;
  std::optional<double> last_undecided_;
};

}  // namespace slicewise::sim
