#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "slicewise/scenarios/serving.hpp"

namespace slicewise::scenarios {

// Numbers the blocks of prompts as they are read, in order of their first appearance: a hash that
// comes after another block is another block.
class PromptNumbers {
 public:
  using Block = PromptBlocks::Block;

  explicit PromptNumbers(std::int32_t tokens) { blocks_.tokens = tokens; }

  // The block with this hash after `before`, 0 for the first of a prompt.
  Block number(Block before, std::int64_t hash) {
    const auto next = static_cast<Block>(blocks_.before.size());
    const auto [place, is_new] = numbers_.try_emplace({before, hash}, next);
    if (is_new) blocks_.before.push_back(before);
    return place->second;
  }

  // Different ones.
  std::int64_t count() const { return static_cast<std::int64_t>(blocks_.before.size()) - 1; }
  std::int32_t tokens() const { return blocks_.tokens; }

  // All of them; none is numbered afterwards.
  std::shared_ptr<const PromptBlocks> take() {
    numbers_.clear();
    return std::make_shared<const PromptBlocks>(std::move(blocks_));
  }

 private:
  using Key = std::pair<Block, std::int64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
      const std::uint64_t mixed =
          (static_cast<std::uint64_t>(key.second) * kGolden + key.first) * kGolden;
      return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
    }
  };

  PromptBlocks blocks_;
  std::unordered_map<Key, Block, Hash> numbers_;
};

}  // namespace slicewise::scenarios
