#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// EASY backfilling, as `slicewise replay --queue easy` has it: the first pod that fits nowhere has
// a reservation at the time when there are enough tickets of what it asks for by the estimates of
// the pods that hold them; a later pod goes by if it ends before that, takes tickets that the first
// will not need, or asks for something else. A job's estimate is the limit that its user asked for,
// else its length alone; what serves has no end. The reservation counts the tickets of all nodes,
// not their places, and no CPU and memory. Source: Lifka, "The ANL/IBM SP scheduling system",
// JSSPP'95.
class EasyReservation {
 public:
  explicit EasyReservation(const ClusterState& cluster);

  void begin_cycle() { resource_.reset(); }
  bool is_made() const { return resource_.has_value(); }
  // For a pod of the workload.
  void make(const WorkloadModel& workload, TimePoint now);
  bool lets_by(std::uint32_t pod, TimePoint now) const;

  // The pod holds its tickets from now on, or gives them back.
  void bound(std::uint32_t pod, TimePoint now);
  void released(std::uint32_t pod);

 private:
  using End = std::pair<TimePoint, std::uint32_t>;  // by estimate, of which pod

  Duration estimate(const Pod& pod) const;
  std::int64_t free_tickets(ResourceId resource) const;

  const ClusterState& cluster_;
  std::vector<End> ends_;               // of the pods that hold tickets, in order
  std::vector<TimePoint> end_of_;       // by pod
  std::optional<ResourceId> resource_;  // reserved in this cycle
  TimePoint reserved_at_;
  std::int64_t spare_ = 0;
};

}  // namespace slicewise::sim
