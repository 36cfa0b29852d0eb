#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {

// The scores that the nodes have for one demand, one byte each: 0 = does not fit, else 1 + score.
// Finds the best node without a look at every one: the best of each block is known.
class ScoreBoard {
 public:
  explicit ScoreBoard(std::size_t nodes)
      : scores_((nodes + kBlock - 1) / kBlock * kBlock), best_of_block_(scores_.size() / kBlock) {}

  void set(std::uint32_t node, std::uint8_t score) {
    std::uint8_t& old = scores_[node];
    if (old == score) return;
    std::uint8_t& best = best_of_block_[node / kBlock];
    const bool was_best = old == best;
    old = score;
    if (score > best) {
      best = score;
    } else if (was_best) {
      best = best_of(node / kBlock);
    }
  }

  // All anew; `score(node)` is the byte of a node.
  template <class Score>
  void fill(std::uint32_t nodes, const Score& score) {
    for (std::uint32_t node = 0; node < nodes; ++node) scores_[node] = score(node);
    for (std::size_t block = 0; block < best_of_block_.size(); ++block) {
      best_of_block_[block] = best_of(block);
    }
  }

  // The node with the highest score, the first of equals.
  std::optional<std::uint32_t> best() const;
  // Any node that fits, with the same probability.
  std::optional<std::uint32_t> any(RandomStream& random) const;

 private:
  static constexpr std::size_t kBlock = 64;

  std::uint8_t best_of(std::size_t block) const;
  std::uint32_t fitting(std::size_t block) const;

  std::vector<std::uint8_t> scores_;
  std::vector<std::uint8_t> best_of_block_;
};

// Score boards of the demands that were placed lately. Nodes change one at a time, so a board that
// is asked again catches up with the nodes that changed since, whatever the size of the cluster.
// Boards are kept for as many demands as fit into kMostBytes, at least kFewestBoards; then the
// oldest is rebuilt for another demand.
class ScoreCache {
 public:
  ScoreCache(std::size_t nodes, std::size_t demands);

  void node_changed(std::uint32_t node) { changes_[changed_++ & (changes_.size() - 1)] = node; }

  // The board of the demand, up to date. `score(node)` is the byte of a node.
  template <class Score>
  const ScoreBoard& board(std::size_t demand, const Score& score) {
    Slot& slot = slots_[slot_of(demand)];
    if (changed_ - slot.seen >= changes_.size()) {
      slot.board.fill(nodes_, score);
    } else {
      for (std::uint64_t n = slot.seen; n < changed_; ++n) {
        const std::uint32_t node = changes_[n & (changes_.size() - 1)];
        slot.board.set(node, score(node));
      }
    }
    slot.seen = changed_;
    return slot.board;
  }

 private:
  static constexpr std::size_t kMostBytes = 32 << 20;
  static constexpr std::size_t kFewestBoards = 8;

  struct Slot {
    ScoreBoard board;
    std::size_t demand = 0;
    std::uint64_t seen = 0;  // changes
  };

  std::size_t slot_of(std::size_t demand);

  std::uint32_t nodes_ = 0;
  std::size_t most_slots_ = 0;
  std::vector<std::uint32_t> changes_;  // nodes: a ring, a power of two
  std::uint64_t changed_ = 0;           // nodes so far; the ring has the last of them
  std::vector<Slot> slots_;
  std::size_t oldest_ = 0;  // slot to be taken next
  std::vector<std::uint32_t> slot_by_demand_;
};

}  // namespace slicewise::sim
