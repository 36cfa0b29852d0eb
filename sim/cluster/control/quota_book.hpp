#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

// What the jobs of each queue of Kueue have of each cell, and what a queue may still have: its own
// quota, and what the others of its cohort have left and lend, as far as its borrowing limit goes.
// What lies above a queue's lending limit nobody else ever sees.
// Source: sigs.k8s.io/kueue pkg/cache/scheduler/resource_node.go, available() and
// potentialAvailable(), of cohorts of one level.
class QuotaBook {
 public:
  explicit QuotaBook(const World& world);

  void take(std::size_t queue, const QuotaAmounts& amounts) { change(queue, amounts, 1); }
  void give(std::size_t queue, const QuotaAmounts& amounts) { change(queue, amounts, -1); }

  std::int64_t used(std::size_t queue, std::size_t cell) const {
    return used_[queue * cells_ + cell];
  }
  const QuotaLimits& limits(std::size_t queue, std::size_t cell) const {
    return world_->queues[queue].limits[cell];
  }
  // How much more the queue may have now.
  std::int64_t available(std::size_t queue, std::size_t cell) const;
  // The most that it could ever have.
  std::int64_t potential(std::size_t queue, std::size_t cell) const;
  bool has_cohort(std::size_t queue) const { return !world_->queues[queue].spec.cohort.empty(); }
  // Whether both are in it. REQUIRES: the first has one.
  bool is_same_cohort(std::size_t a, std::size_t b) const {
    return world_->queues[a].spec.cohort == world_->queues[b].spec.cohort;
  }
  // With so much more it would have more than its own quota.
  bool borrows_with(std::size_t queue, std::size_t cell, std::int64_t more) const {
    return used(queue, cell) + more > limits(queue, cell).nominal;
  }

 private:
  void change(std::size_t queue, const QuotaAmounts& amounts, std::int64_t sign);
  // Of its quota, what it does not lend.
  std::int64_t kept(std::size_t queue, std::size_t cell) const;

  const World* world_;
  std::size_t cells_;
  std::vector<std::int64_t> used_;  // by queue and cell
};

}  // namespace slicewise::sim
