#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "../nodes/node_rooms.hpp"
#include "../run_state.hpp"
#include "ranked_pods.hpp"
#include "victim_choice.hpp"

namespace slicewise::sim {

class ContainerWork;
class PodLife;
class Scheduler;

// Stops pods that run for others that wait, as spec.scheduler.queue says. `backfill` as
// kube-scheduler does, node by node (VictimChoice), with time to end (Terminations). `priority` as
// a batch system does: takes the place of pods of lower priority on all nodes, as few and as low as
// possible, and only if that makes the other fit, at once; jobs start over. `srtf` and `srsf`:
// whenever a job comes or something is freed, those with the least left run (time, or time x GPUs);
// who is stopped goes on later from where it was. Unlike in a replay nobody moves to another node
// without being stopped, and a job that goes on has its start-up again.
class Preemption {
 public:
  Preemption(RunState& run, const Scheduler& scheduler, PodLife& pods, const ContainerWork& work);

  // priority: for the job that the pod is the first of, which fits nowhere. False: nobody would
  // make room.
  bool make_room_for(std::uint32_t pod);
  // backfill: where the pod goes that fits nowhere when its victims have gone, which are told to.
  // nullopt: nowhere. Gangs wait, as do pods that never preempt and recorded jobs, whose queue for
  // that is `priority`.
  std::optional<std::uint32_t> nominate(std::uint32_t pod);
  // srtf, srsf: before the scheduler looks.
  void stop_those_with_more_left();

 private:
  void open_rooms();
  // Calls `use` with the first pod of each job that holds something of a node.
  template <class Use>
  void for_each_that_runs(Use&& use);
  // In thought: the pods of the job are where they are, or not.
  bool take_again(std::uint32_t pod);
  void give(std::uint32_t pod);
  // Pods of the workload that the node has room for, where nobody is now or wherever nobody is in
  // thought; whether all of a job fit there; all of them go in, or none.
  std::int64_t room(std::uint32_t node, std::size_t workload, bool only_free) const;
  bool fits(std::size_t workload, bool only_free) const;
  bool take(std::size_t workload, bool only_free);
  void all_wait();
  bool all_find_room();
  bool any_would_fit() const;
  // That of the jobs in `waiting_` which has least left, of none: kNobody.
  static constexpr std::size_t kNobody = SIZE_MAX;
  std::size_t next_waiting() const;
  // For all of them that go before `rank`.
  void make_room_in_thought(const RankedPods::Rank& rank);

  RunState& run_;
  const Scheduler& scheduler_;
  PodLife& pods_;
  const ContainerWork& work_;
  VictimChoice choice_;
  std::optional<NodeRooms> rooms_;  // nullopt: another queue, which stops nobody
  std::optional<NodeRooms> free_;   // what is free whoever is stopped
  std::vector<std::uint32_t> victims_;
  std::vector<std::uint32_t> taken_;     // scratch: nodes, a pod of a job each
  std::vector<RankedPods::Rank> order_;  // of those that run and may have to go
  std::vector<std::size_t> waiting_;     // by workload: of its queue, how many may still go in
  TimePoint looked_{-1};
  int lowest_ = std::numeric_limits<int>::max();  // priority of a workload
};

}  // namespace slicewise::sim
