#pragma once

#include <cstddef>
#include <vector>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// What the autoscaler sees of a service at one look.
struct ScalingSample {
  double total = 0;     // of the metric, averaged over its window: what the ready pods report, plus
                        // what is held at the front because none is ready
  int ready = 0;        // pods that report
  int unready = 0;      // wanted, but not ready yet: they count as 0 when the rest asks for more
  bool active = false;  // a window is open, a request is in the system, or came since the last look
  int scheduled = 0;    // what the open windows of a schedule ask for; 0: none is open
};

// How many replicas the Horizontal Pod Autoscaler wants, and KEDA above it where `min_replicas` is
// 0. The algorithm of Kubernetes (documentation, "Horizontal Pod Autoscaling"; kube-controller-
// manager, podautoscaler), with the default scaling policies:
//   - recommended = ceil(total / target); none while total / (target * pods) is within the
//   tolerance
//     of 1, or while counting the pods that are not ready as 0 would turn a scale-up around
//   - stabilization: up only to the smallest recommendation of scale_up_window, down only to the
//     largest of scale_down_window; the count at the start is the first recommendation
//   - up by 4 pods or by 100 % in 15 s, whichever is more; down without limit
//   - of a metric and a schedule the larger recommendation; a schedule is a metric whose total is
//     the replicas that it asks for, 1 while no window is open, at 1 per pod (KEDA's cron scaler),
//     so that the tolerance holds for it, too
// KEDA (documentation, "Scaling Deployments"): at zero, the first request wants one pod, at once
// and without the autoscaler, whose policies do not count it; after `cooldown` without requests all
// pods go, however many there are. Allocates in the constructor only.
class ReplicaController {
 public:
  // Starts with `wanted` replicas, cut to min..max.
  ReplicaController(const scenarios::Autoscaling& scaling, int wanted);

  int wanted() const { return wanted_; }
  // The most that the metric asked for in any look, with neither schedule nor limit.
  int most_by_metric() const { return most_by_metric_; }

  // One look, every `sync_period`; returns wanted(). Time never goes back.
  int look(TimePoint now, const ScalingSample& sample);

  // A request came; returns wanted(), which this changes from 0 to 1 only.
  int request(TimePoint now);

 private:
  struct Recommendation {
    TimePoint at;
    int replicas = 0;
  };
  struct Change {
    TimePoint at;
    int replicas = 0;  // more than before, or fewer if negative
  };

  int recommended(const ScalingSample& sample) const;
  bool within_tolerance(double ratio) const;
  int by_windows(int scheduled) const;
  int by_metric(const ScalingSample& sample) const;
  int stabilized(TimePoint now, int recommendation);
  int most_allowed(TimePoint now) const;
  void want(TimePoint now, int replicas);

  const scenarios::Autoscaling* scaling_;
  int wanted_;
  int most_by_metric_ = 0;
  TimePoint last_active_;
  std::vector<Recommendation> recommendations_;  // ring
  std::size_t next_recommendation_ = 0;
  std::vector<Change> changes_;  // ring
  std::size_t next_change_ = 0;
};

}  // namespace slicewise::sim
