#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/scenarios/cluster_queue.hpp"

// The quotas of Kueue, with names resolved: one resource in one flavor is a cell.
namespace slicewise::sim {

// Node pools, as a set: bit n is the nth. Where Jobs have queues there are no more than it has
// bits; elsewhere there may be, and all sets are kAnyPool.
using PoolMask = std::uint64_t;
inline constexpr PoolMask kAnyPool = ~PoolMask{0};

constexpr bool has_pool(PoolMask pools, std::size_t pool) {
  return pools == kAnyPool || (pools >> pool & 1U) != 0;
}

struct QuotaCell {
  std::string flavor;
  std::string resource;
};

struct QuotaAmount {
  std::size_t cell = 0;  // into World::quota_cells
  std::int64_t count = 0;
};
using QuotaAmounts = std::vector<QuotaAmount>;  // of different cells

// What a queue has of a cell.
struct QuotaLimits {
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing;  // absent: no limit
  std::optional<std::int64_t> lending;    // likewise
};

struct QueueModel {
  scenarios::ClusterQueue spec;
  std::vector<QuotaLimits> limits;  // by cell
};

// What a pod asks for in one resource group of its queue, in each flavor that will do, in the
// order in which they are tried.
struct QuotaGroup {
  struct Flavor {
    PoolMask pools = 0;
    QuotaAmounts each;
  };
  std::vector<Flavor> flavors;
};

// What so many pods ask for.
inline QuotaAmounts quota_of(const QuotaAmounts& each, int pods) {
  QuotaAmounts all = each;
  for (QuotaAmount& amount : all) amount.count = scenarios::quota_of_pods(amount.count, pods);
  return all;
}

// The pods of a workload that wait in a queue: a pod set of what Kueue admits as a whole.
struct QueuedJobs {
  std::size_t queue = 0;  // into World::queues
  std::vector<QuotaGroup> groups;
  // Of World::workloads, the first with which they are admitted together: itself, or the first part
  // of the same object (Workload::part_of).
  std::size_t lead = 0;
  int pods = 1;   // that are admitted together
  int least = 1;  // of them, those without which none is: fewer only of partial admission
  PoolMask pools = kAnyPool;    // of all flavors
  bool is_in_one_place = true;  // wherever they are admitted, the pools are the same
  std::string never;            // why no job is ever admitted; "" some are

  // Whether a job may ever have pods there.
  bool has_pool(std::size_t pool) const { return never.empty() && sim::has_pool(pools, pool); }
};

}  // namespace slicewise::sim
