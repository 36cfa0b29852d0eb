#pragma once

#include <optional>

#include "slicewise/sim/max_load.hpp"

namespace slicewise::sim {

// Which load to try next: doubles and halves from 1 until one load passes and one fails, then
// bisects in between. Around loads that stay undecided it closes in from both sides.
class LoadSearch {
 public:
  // REQUIRES: precision > 0, most > 1.
  LoadSearch(double precision, double most) : precision_(precision), most_(most) {}

  // Times the scenario's load; nullopt: the search is over.
  std::optional<double> next() const;
  void record(double factor, LoadVerdict verdict);

 private:
  // First and last load that is undecided, or the ends of the interval themselves.
  double below() const { return first_undecided_.value_or(*failed_); }
  double above() const { return last_undecided_.value_or(*passed_); }
  std::optional<double> between() const;

  double precision_;
  double most_;
  std::optional<double> lowest_;  // of all that were tried
  std::optional<double> highest_;
  std::optional<double> passed_;
  std::optional<double> failed_;
  std::optional<double> first_undecided_;
  std::optional<double> last_undecided_;
};

}  // namespace slicewise::sim
