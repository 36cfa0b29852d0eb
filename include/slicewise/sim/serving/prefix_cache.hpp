#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "slicewise/scenarios/serving.hpp"

namespace slicewise::sim {

// Which prompts' keys and values a server of a language model still has, as vLLM's automatic prefix
// caching keeps them (https://docs.vllm.ai/en/latest/design/prefix_caching/).
//
// Semantics. A block is held once, however many requests use it. What a request leaves behind stays
// until its place is needed, the least recently left first: of one request, first what is its own
// (the answer, and what follows the last whole block of its prompt), then its blocks from the last
// to the first. So whenever a block is there, so are all before it. Places are tokens, and a block
// is given up token by token from its end.
//
// Not thread-safe. Cost: O(blocks of the prompt) per call. Memory: 4 bytes for each block of the
// trace, and what requests leave behind at most at once, never given back.
class PrefixCache {
 public:
  using Block = scenarios::PromptBlocks::Block;

  // REQUIRES: blocks is not null.
  explicit PrefixCache(std::shared_ptr<const scenarios::PromptBlocks> blocks);

  // Of the prompt with that last block, in tokens: its blocks, those from the first on that are
  // there, and of these those that requests are using.
  std::int64_t tokens(Block last) const;
  std::int64_t found(Block last) const;
  std::int64_t in_use(Block last) const;

  // One more request uses the prompt's blocks. Returns the places that none had used.
  std::int64_t use(Block last);

  // A request that used them has gone, after it had keys and values of the first `computed` tokens
  // of its prompt and answer. Returns the places of blocks that none uses any more.
  // REQUIRES: when they are fewer than the prompt, no other request came after it.
  std::int64_t leave(Block last, std::int64_t computed);

  // Gives up what none uses until no more than `places` are left of it.
  void shrink(std::int64_t places);

  void clear();

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // A block, or what was a request's own. Those that none uses are in a list, the first to be given
  // up first; its ends meet in entry 0.
  struct Entry {
    Block block = 0;
    std::uint32_t users = 0;
    std::int64_t tokens = 0;  // that are there
    std::int64_t ends = 0;    // of the prompt: tokens up to the end of the block
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
  };

  Block before(Block block) const { return blocks_->before[block]; }
  std::uint32_t add(Block block);
  void remove(std::uint32_t entry);
  void append(std::uint32_t entry);
  void unlink(std::uint32_t entry);

  std::shared_ptr<const scenarios::PromptBlocks> blocks_;
  std::vector<std::uint32_t> entry_of_;  // by block; kNone: not there
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::int64_t left_behind_ = 0;  // tokens that none uses
};

}  // namespace slicewise::sim
