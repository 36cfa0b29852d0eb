#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// Pods that others end for, and on which node: what they will take there is kept from pods of lower
// priority (status.nominatedNodeName). There are few of them at a time, but for those that are on a
// node when the run begins.
class Nominations {
 public:
  struct Nominee {
    std::uint32_t pod = 0;
    std::uint32_t node = 0;
  };

  explicit Nominations(const ClusterState& cluster) : cluster_(cluster) {}

  bool empty() const { return all_.empty(); }
  std::optional<std::uint32_t> node_of(std::uint32_t pod) const {
    const auto found = std::ranges::find(all_, pod, &Nominee::pod);
    return found == all_.end() ? std::nullopt : std::optional(found->node);
  }
  // Whether room is kept no longer.
  bool clear(std::uint32_t pod) {
    return !all_.empty() && std::erase_if(all_, [&](const Nominee& one) { return one.pod == pod; });
  }
  // Those of lower priority have to look for another node. Whether room is kept no longer.
  bool set(const Nominee& nominee) {
    const auto beaten = std::erase_if(all_, [&](const Nominee& one) {
      const bool lower = one.node == nominee.node && priority(one.pod) < priority(nominee.pod);
      return one.pod == nominee.pod || lower;
    });
    all_.push_back(nominee);
    return beaten > 0;
  }
  // Room for a pod that is there before all others come. REQUIRES: it has none yet.
  void keep(const Nominee& nominee) {
    all_.push_back(nominee);
    any_there_ = true;
  }
  // Whether it is there: nobody asks again what was required when it came.
  bool is_there(std::uint32_t pod, std::uint32_t node) const {
    return any_there_ && node_of(pod) == node;
  }
  void clear() {
    all_.clear();
    any_there_ = false;
  }
  std::int64_t pods_of(std::size_t workload) const {
    return std::ranges::count_if(all_, [&](const Nominee& one) {
      return index(cluster_.pods[one.pod].workload) == workload;
    });
  }
  // Calls `use` with each pod that something of the node is kept for from `pod`.
  template <class Use>
  void for_each_kept(std::uint32_t node, std::uint32_t pod, Use&& use) const {
    for (const Nominee& other : all_) {
      if (other.node != node) continue;
      const bool is_other = cluster_.first_of_job(other.pod) != cluster_.first_of_job(pod);
      const bool goes_first = is_other && priority(other.pod) >= priority(pod);
      if (goes_first) use(other.pod);
    }
  }
  // What of the node is kept from a pod for others: of tickets, those of the kind that it asks for.
  PodRoom kept(std::uint32_t node, std::uint32_t pod) const;
  // What a pod takes on the node of what another asks for.
  PodRoom taken(std::uint32_t node, std::uint32_t pod, const WorkloadModel& asking) const;

 private:
  int priority(std::uint32_t pod) const { return cluster_.model(cluster_.pods[pod]).spec.priority; }

  const ClusterState& cluster_;
  std::vector<Nominee> all_;
  bool any_there_ = false;  // some are pods that are there when the run begins
};

}  // namespace slicewise::sim
