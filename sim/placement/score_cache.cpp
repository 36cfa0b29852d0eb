#include "score_cache.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace slicewise::sim {
namespace {

constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::uint8_t ScoreBoard::best_of(std::size_t block) const {
  const std::uint8_t* first = scores_.data() + block * kBlock;
  std::uint8_t best = 0;
  for (std::size_t n = 0; n < kBlock; ++n) best = std::max(best, first[n]);
  return best;
}

std::optional<std::uint32_t> ScoreBoard::best() const {
  std::uint8_t best = 0;
  for (const std::uint8_t score : best_of_block_) best = std::max(best, score);
  if (best == 0) return std::nullopt;
  const auto block = std::ranges::find(best_of_block_, best) - best_of_block_.begin();
  const auto from = scores_.begin() + block * static_cast<std::ptrdiff_t>(kBlock);
  return static_cast<std::uint32_t>(std::find(from, scores_.end(), best) - scores_.begin());
}

std::uint32_t ScoreBoard::fitting(std::size_t block) const {
  const std::uint8_t* first = scores_.data() + block * kBlock;
  std::uint8_t nodes = 0;  // of one byte, so that compilers count many at once
  for (std::size_t n = 0; n < kBlock; ++n) {
    nodes = static_cast<std::uint8_t>(nodes + (first[n] != 0 ? 1 : 0));
  }
  return nodes;
}

std::optional<std::uint32_t> ScoreBoard::any(RandomStream& random) const {
  std::uint32_t all = 0;
  for (std::size_t block = 0; block < best_of_block_.size(); ++block) all += fitting(block);
  if (all == 0) return std::nullopt;
  std::uint32_t skip = random.below(all);
  std::size_t block = 0;
  for (std::uint32_t here = 0; skip >= (here = fitting(block)); ++block) skip -= here;
  std::size_t node = block * kBlock;
  for (;; ++node) {
    if (scores_[node] == 0) continue;
    if (skip == 0) return static_cast<std::uint32_t>(node);
    --skip;
  }
}

ScoreCache::ScoreCache(std::size_t nodes, std::size_t demands)
    : nodes_(static_cast<std::uint32_t>(nodes)),
      most_slots_(std::max(kFewestBoards, kMostBytes / std::max<std::size_t>(1, nodes))),
      changes_(std::bit_ceil(std::max<std::size_t>(1, nodes))),
      // A board that is new has seen nothing: more changes than the ring holds.
      changed_(changes_.size()),
      slot_by_demand_(demands, kNoSlot) {
  slots_.reserve(std::min(demands, most_slots_));
}

std::size_t ScoreCache::slot_of(std::size_t demand) {
  if (slot_by_demand_[demand] != kNoSlot) return slot_by_demand_[demand];
  std::size_t slot = slots_.size();
  if (slot < most_slots_) {
    slots_.push_back({ScoreBoard(nodes_), demand, 0});
  } else {
    slot = oldest_;
    oldest_ = (oldest_ + 1) % slots_.size();
    slot_by_demand_[slots_[slot].demand] = kNoSlot;
    slots_[slot].demand = demand;
    slots_[slot].seen = 0;
  }
  slot_by_demand_[demand] = static_cast<std::uint32_t>(slot);
  return slot;
}

}  // namespace slicewise::sim
