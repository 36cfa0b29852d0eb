#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/lookup.hpp"

#include "../run_state.hpp"
#include "disruption_budgets.hpp"

namespace slicewise::sim {

class Autoscalers;
class PodLife;
class Replicas;
class Services;

// Default terminationGracePeriodSeconds, which all pods have here. Source: Kubernetes
// documentation, "Pod Lifecycle".
inline constexpr Duration kTerminationGracePeriod = seconds(30);

// Pods that were told to end to make room, and have their grace period for it. A replica takes no
// new requests and goes when it has answered those inside; what trains, or computes for a notebook,
// goes on to the end of the period, since most programs do not listen to SIGTERM, and loses it
// (unless it is done before); a container that does not work yet goes at once. What follows is
// PodLife's: the controller's new pod is Pending when the old one has gone (in Kubernetes it is
// created at once, and waits beside it).
class Terminations {
 public:
  Terminations(RunState& run, Services& services, const Replicas& replicas, PodLife& pods,
               const Autoscalers& scalers)
      : run_(run),
        services_(services),
        replicas_(replicas),
        pods_(pods),
        budgets_(run, *this, scalers) {}

  // Which pods may be told to end by who drains a node.
  const DisruptionBudgets& budgets() const { return budgets_; }

  // All pods of the job end, those that do not already.
  void begin(std::uint32_t pod);
  bool is_ending(std::uint32_t pod) const { return contains(endings_, pod, &Ending::pod); }
  // When a pod that goes now was deleted: when it was told to end, if it was.
  TimePoint deleted_at(std::uint32_t pod) const {
    const Ending* ending = find_or_null(endings_, pod, &Ending::pod);
    return ending == nullptr ? run_.now : ending->told;
  }
  // Whether somebody below the priority ends on the node.
  bool makes_room(std::uint32_t node, int below) const;
  // A replica has answered all that was inside.
  void idle(std::uint32_t pod);
  // It has given its place back.
  void gone(std::uint32_t pod) {
    if (!endings_.empty() &&
        std::erase_if(endings_, [&](const Ending& e) { return e.pod == pod; }) > 0) {
      count_spread(pod, 1);
    }
  }
  void on_timer();

 private:
  struct Ending {
    std::uint32_t pod = 0;
    TimePoint told;
    TimePoint killed_at;
  };

  void arm();
  // Who ends is no longer among those that are spread.
  void count_spread(std::uint32_t pod, std::int64_t pods) {
    const Pod& one = run_.cluster.pods[pod];
    run_.cluster.company.count_spread(index(one.node), index(one.workload), pods);
  }

  RunState& run_;
  Services& services_;
  const Replicas& replicas_;
  PodLife& pods_;
  DisruptionBudgets budgets_;
  std::vector<Ending> endings_;
};

}  // namespace slicewise::sim
