#include "slicewise/sim/serving/replica_controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slicewise::sim {
namespace {

// Default scaleUp policies of autoscaling/v2.
constexpr Duration kPolicyPeriod = seconds(15);
constexpr int kPodsPerPeriod = 4;
constexpr int kTimesPerPeriod = 2;  // 100 %

// Far before the run: entries of the rings that nobody has written yet.
constexpr TimePoint kLongAgo{std::numeric_limits<std::int64_t>::min() / 2};

// Looks within the span, and one more at its very end.
std::size_t looks_in(Duration span, Duration period) {
  return static_cast<std::size_t>(span.ns / std::max<std::int64_t>(1, period.ns)) + 2;
}

// Sums of many small numbers may exceed a whole number by a few bits: no pod for those.
int whole_pods(double pods) {
  constexpr double kRounding = 1e-9;
  constexpr double kMost = 1e9;
  return static_cast<int>(std::ceil(std::clamp(pods - kRounding, 0.0, kMost)));
}

}  // namespace

ReplicaController::ReplicaController(const scenarios::Autoscaling& scaling, int wanted)
    : scaling_(&scaling),
      wanted_(std::clamp(wanted, scaling.min_replicas, scaling.max_replicas)),
      recommendations_(looks_in(std::max(scaling.scale_down_window, scaling.scale_up_window),
                                scaling.sync_period) +
                           1,
                       {kLongAgo, 0}),
      changes_(looks_in(kPolicyPeriod, scaling.sync_period), {kLongAgo, 0}) {
  recommendations_[next_recommendation_++] = {TimePoint{}, wanted_};
}

int ReplicaController::look(TimePoint now, const ScalingSample& sample) {
  if (sample.active) last_active_ = now;
  if (scaling_->has_metric()) {
    most_by_metric_ = std::max(most_by_metric_, whole_pods(sample.total / scaling_->target));
  }
  if (wanted_ == 0) return sample.active ? request(now) : 0;
  if (scaling_->min_replicas == 0 && now - last_active_ >= scaling_->cooldown) return wanted_ = 0;
  const int least = std::max(1, scaling_->min_replicas);
  const int stable = stabilized(now, recommended(sample));
  want(now, std::clamp(std::min(stable, most_allowed(now)), least, scaling_->max_replicas));
  return wanted_;
}

int ReplicaController::request(TimePoint now) {
  last_active_ = now;
  return wanted_ = std::max(1, wanted_);
}

int ReplicaController::recommended(const ScalingSample& sample) const {
  const int by_schedule = scaling_->schedule.empty() ? 0 : by_windows(sample.scheduled);
  return scaling_->has_metric() ? std::max(by_schedule, by_metric(sample)) : by_schedule;
}

bool ReplicaController::within_tolerance(double ratio) const {
  return 1 - scaling_->tolerance <= ratio && ratio <= 1 + scaling_->tolerance;
}

// Of several windows the largest counts, whichever of them are within the tolerance.
int ReplicaController::by_windows(int scheduled) const {
  const int asked = std::max(1, scheduled);
  return within_tolerance(static_cast<double>(asked) / wanted_) ? wanted_ : asked;
}

int ReplicaController::by_metric(const ScalingSample& sample) const {
  const double needed = sample.total / scaling_->target;
  const int pods = sample.ready + sample.unready;
  if (pods == 0) return wanted_;
  // Nobody reports and nothing is held: there is no metric.
  if (sample.ready == 0 && needed <= 0) return wanted_;
  const bool asks_for_more = needed > sample.ready;
  const double ratio = needed / (asks_for_more ? pods : sample.ready);
  if (within_tolerance(ratio)) return wanted_;
  const int recommendation = whole_pods(needed);
  // Counting the pods that are not ready as 0 may damp a scale-up, not turn it around.
  return asks_for_more ? std::max(recommendation, wanted_) : recommendation;
}

int ReplicaController::stabilized(TimePoint now, int recommendation) {
  int up = recommendation;
  int down = recommendation;
  for (const Recommendation& past : recommendations_) {
    if (past.at > now - scaling_->scale_up_window) up = std::min(up, past.replicas);
    if (past.at > now - scaling_->scale_down_window) down = std::max(down, past.replicas);
  }
  recommendations_[next_recommendation_] = {now, recommendation};
  next_recommendation_ = (next_recommendation_ + 1) % recommendations_.size();
  return std::min(std::max(wanted_, up), down);
}

// Counted from the replicas at the start of the policy's period.
int ReplicaController::most_allowed(TimePoint now) const {
  int before = wanted_;
  for (const Change& change : changes_) {
    if (change.at > now - kPolicyPeriod) before -= change.replicas;
  }
  const int most = std::max(before + kPodsPerPeriod, before * kTimesPerPeriod);
  return std::max(most, wanted_);
}

void ReplicaController::want(TimePoint now, int replicas) {
  if (replicas == wanted_) return;
  changes_[next_change_] = {now, replicas - wanted_};
  next_change_ = (next_change_ + 1) % changes_.size();
  wanted_ = replicas;
}

}  // namespace slicewise::sim
