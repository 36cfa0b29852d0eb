#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

// Sums over the pods that are there, by the domains that a label of nodes makes of the cluster:
// kubernetes.io/hostname of each node one, others as pools have them.
class DomainTallies {
 public:
  DomainTallies() = default;
  // `pool_of`: each node's pool.
  DomainTallies(const World& world, std::vector<std::size_t> pool_of);

  // A tally of the label's domains, by its number. `counted`: by pool, whether pods there count.
  std::size_t add(std::string_view label, const std::vector<char>& counted);
  // Each pod of the workload adds so much to the tally.
  void take(std::size_t tally, std::size_t workload, std::int64_t weight);

  // So many pods of the workload are on the node more, or fewer.
  void count(std::size_t node, std::size_t workload, std::int64_t pods);

  bool is_of_nodes(std::size_t tally) const { return tallies_[tally].of_pool.empty(); }
  // Nodes without the label are one domain, too.
  std::size_t domain(std::size_t tally, std::size_t node) const {
    return is_of_nodes(tally) ? node : tallies_[tally].of_pool[pool_of_[node]];
  }
  // REQUIRES: !is_of_nodes(tally).
  std::size_t domain_of_pool(std::size_t tally, std::size_t pool) const {
    return tallies_[tally].of_pool[pool];
  }
  std::size_t domains(std::size_t tally) const { return tallies_[tally].sums.size(); }
  bool has_label(std::size_t tally, std::size_t node) const {
    return is_of_nodes(tally) || domain(tally, node) + 1 < domains(tally);
  }
  bool pool_has_label(std::size_t tally, std::size_t pool) const {
    return is_of_nodes(tally) || domain_of_pool(tally, pool) + 1 < domains(tally);
  }
  bool counts(std::size_t tally, std::size_t pool) const {
    return tallies_[tally].counted[pool] != 0;
  }
  std::int64_t sum(std::size_t tally, std::size_t node) const {
    return tallies_[tally].sums[domain(tally, node)];
  }
  std::int64_t sum_of_domain(std::size_t tally, std::size_t domain) const {
    return tallies_[tally].sums[domain];
  }
  // On nodes with the label.
  std::int64_t total(std::size_t tally) const { return tallies_[tally].total; }
  std::size_t pool_of(std::size_t node) const { return pool_of_[node]; }

 private:
  struct Tally {
    std::vector<std::size_t> of_pool;  // domain by pool, the last: no label; empty: of each node
    std::vector<char> counted;
    std::vector<std::int64_t> sums;  // by domain
    std::int64_t total = 0;
  };
  struct Share {
    std::size_t tally = 0;
    std::int64_t weight = 1;
  };

  const World* world_ = nullptr;
  std::vector<std::size_t> pool_of_;  // by node
  std::vector<Tally> tallies_;
  std::vector<std::vector<Share>> shares_;  // by workload
};

}  // namespace slicewise::sim
