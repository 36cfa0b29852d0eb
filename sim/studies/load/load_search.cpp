#include "load_search.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::sim {

std::optional<double> LoadSearch::next() const {
  if (!lowest_) return 1;
  const double least = 1 / most_;
  if (!passed_ && *lowest_ > least) return std::max(least, *lowest_ / 2);
  if (!passed_) return std::nullopt;
  if (failed_) return between();
  if (*highest_ < most_) return std::min(most_, *highest_ * 2);
  return std::nullopt;
}

std::optional<double> LoadSearch::between() const {
  if (*failed_ <= *passed_ * (1 + precision_)) return std::nullopt;
  if (!first_undecided_) return std::sqrt(*passed_ * *failed_);
  const double low_gap = below() / *passed_;
  const double high_gap = *failed_ / above();
  if (std::max(low_gap, high_gap) <= 1 + precision_ / 2) return std::nullopt;
  return low_gap > high_gap ? std::sqrt(*passed_ * below()) : std::sqrt(above() * *failed_);
}

void LoadSearch::record(double factor, LoadVerdict verdict) {
  lowest_ = std::min(lowest_.value_or(factor), factor);
  highest_ = std::max(highest_.value_or(factor), factor);
  switch (verdict) {
    case LoadVerdict::Passes:
      passed_ = std::max(passed_.value_or(factor), factor);
      break;
    case LoadVerdict::Fails:
      failed_ = std::min(failed_.value_or(factor), factor);
      break;
    case LoadVerdict::Undecided:
      first_undecided_ = std::min(first_undecided_.value_or(factor), factor);
      last_undecided_ = std::max(last_undecided_.value_or(factor), factor);
      break;
  }
  if (!first_undecided_) return;
  // A clear verdict beyond what was undecided speaks for it.
  if (passed_) first_undecided_ = std::max(*first_undecided_, *passed_);
  if (failed_) last_undecided_ = std::min(*last_undecided_, *failed_);
  const bool none_left =
      (passed_ && *last_undecided_ <= *passed_) || (failed_ && *first_undecided_ >= *failed_);
  if (none_left) first_undecided_ = last_undecided_ = std::nullopt;
}

}  // namespace slicewise::sim
