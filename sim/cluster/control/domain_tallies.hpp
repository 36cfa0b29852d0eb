#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// Sums over the pods that are there, by the domains that a label of nodes makes of the cluster:
// kubernetes.io/hostname of each node one, others as pools have them.
class DomainTallies {
 public:
  explicit DomainTallies(const ClusterState& cluster);

  // A tally of the label's domains, by its number. `counted`: by pool, whether pods there count.
  std::size_t add(std::string_view label, const std::vector<char>& counted);
  // Each pod of the workload adds so much to the tally.
  void take(std::size_t tally, std::size_t workload, std::int64_t weight);

  // So many pods like this one are on its node more, or fewer.
  void count(std::uint32_t pod, int change);

  bool is_of_nodes(std::size_t tally) const { return tallies_[tally].of_pool.empty(); }
  // Nodes without the label are one domain, too.
  std::size_t domain(std::size_t tally, std::uint32_t node) const {
    return is_of_nodes(tally) ? node : tallies_[tally].of_pool[pool_of(node)];
  }
  std::size_t domains(std::size_t tally) const { return tallies_[tally].sums.size(); }
  bool has_label(std::size_t tally, std::uint32_t node) const {
    return is_of_nodes(tally) || domain(tally, node) + 1 < domains(tally);
  }
  std::int64_t sum(std::size_t tally, std::uint32_t node) const {
    return tallies_[tally].sums[domain(tally, node)];
  }

 private:
  struct Tally {
    std::vector<std::size_t> of_pool;  // domain by pool, the last: no label; empty: of each node
    std::vector<char> counted;
    std::vector<std::int64_t> sums;  // by domain
  };
  struct Share {
    std::size_t tally = 0;
    std::int64_t weight = 1;
  };

  std::size_t pool_of(std::uint32_t node) const { return index(cluster_.nodes[node].pool); }

  const ClusterState& cluster_;
  std::vector<Tally> tallies_;
  std::vector<std::vector<Share>> shares_;  // by workload
};

}  // namespace slicewise::sim
