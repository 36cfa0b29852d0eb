#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "slicewise/scenarios/serving.hpp"

namespace slicewise::sim {

// What PrefixCache must equal: each token of each block by itself, in the order in which they go.
class TokenCache {
 public:
  using Block = scenarios::PromptBlocks::Block;

  explicit TokenCache(const scenarios::PromptBlocks& blocks) : blocks_(blocks) {}

  // The prompt's blocks, the first one first.
  std::vector<Block> path(Block last) const {
    std::vector<Block> path;
    for (Block block = last; block != 0; block = blocks_.before[block]) path.push_back(block);
    std::ranges::reverse(path);
    return path;
  }

  std::int64_t found(Block last) const {
    std::int64_t count = 0;
    for (const Block block : path(last)) {
      for (std::int32_t place = 0; place < blocks_.tokens; ++place, ++count) {
        if (!users_.contains(block) && !is_unused({block, place})) return count;
      }
    }
    return count;
  }

  // Places of all blocks that are used, each once.
  std::int64_t used() const { return static_cast<std::int64_t>(users_.size()) * blocks_.tokens; }
  std::int64_t used(Block last) const {
    return blocks_.tokens *
           std::ranges::count_if(path(last), [&](Block b) { return users_.contains(b); });
  }
  std::int64_t tokens(Block last) const {
    return blocks_.tokens * static_cast<std::int64_t>(path(last).size());
  }

  void use(Block last) {
    for (const Block block : path(last)) {
      ++users_[block];
      std::erase_if(unused_, [&](const Token& token) { return token.first == block; });
    }
  }

  void leave(Block last, std::int64_t computed) {
    const std::vector<Block> blocks = path(last);
    for (std::int64_t token = tokens(last); token < computed; ++token) unused_.push_back({0, 0});
    for (std::size_t n = blocks.size(); n-- > 0;) {
      const Block block = blocks[n];
      if (--users_[block] > 0) continue;
      users_.erase(block);
      const std::int64_t before = blocks_.tokens * static_cast<std::int64_t>(n);
      for (std::int32_t place = blocks_.tokens; place-- > 0;) {
        if (before + place < computed) unused_.push_back({block, place});
      }
    }
  }

  void shrink(std::int64_t places) {
    while (static_cast<std::int64_t>(unused_.size()) > places) unused_.pop_front();
  }

 private:
  using Token = std::pair<Block, std::int32_t>;

  bool is_unused(const Token& token) const {
    return std::ranges::find(unused_, token) != unused_.end();
  }

  const scenarios::PromptBlocks& blocks_;
  std::map<Block, int> users_;
  std::deque<Token> unused_;  // the first to go first
};

}  // namespace slicewise::sim
