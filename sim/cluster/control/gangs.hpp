#pragma once

#include <cstdint>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// Where the pods of a gang wait for each other: their work begins when the last has loaded, and
// their job ends when the last is done. A pod by itself waits for nobody.
class Gangs {
 public:
  explicit Gangs(const ClusterState& cluster) : cluster_(cluster), there_(cluster.pods.size()) {}

  // The pod has come so far. True: all pods of its job have, and the next such place is counted.
  bool all_there(std::uint32_t pod) {
    int& there = there_[cluster_.first_of_job(pod)];
    if (++there < cluster_.model(cluster_.pods[pod]).pods_per_job) return false;
    there = 0;
    return true;
  }
  // Its job begins anew.
  void start_over(std::uint32_t pod) { there_[cluster_.first_of_job(pod)] = 0; }

 private:
  const ClusterState& cluster_;
  std::vector<int> there_;  // by the first pod of a job
};

}  // namespace slicewise::sim
