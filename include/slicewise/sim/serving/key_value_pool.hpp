#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/serving/prefix_cache.hpp"

namespace slicewise::sim {

// The places for keys and values on the GPUs of a server of a language model, one a token: those
// that its sequences hold, and what is still found of prompts that have left.
class KeyValuePool {
 public:
  // Of a prompt that was taken in.
  struct Taken {
    std::int32_t found = 0;   // tokens whose keys and values are there already
    std::int32_t shared = 0;  // tokens of its known blocks
  };

  // `reuse`: share of a prompt's tokens that are found without `blocks`. With them prompts are
  // found in whole blocks of `block_size`; without, the pool keeps nothing of what has left.
  KeyValuePool(std::int64_t size, double reuse, int block_size,
               std::shared_ptr<const scenarios::PromptBlocks> blocks);

  std::int64_t size() const { return size_; }
  std::int64_t held() const { return held_; }
  std::int64_t free() const { return size_ - held_; }
  std::int64_t peak() const { return peak_; }  // so far, at the ends of pieces

  // Tokens of a prompt that the pool has now.
  std::int64_t found(PrefixCache::Block prompt) const {
    return prefixes_ ? prefixes_->found(prompt) : 0;
  }
  // That so many tokens need, beside those which others use as well.
  std::int64_t places_of(std::int64_t tokens, PrefixCache::Block prompt) const {
    return prefixes_ ? tokens - prefixes_->in_use(prompt) : tokens;
  }

  // Takes the places of `tokens`, of which the first `input` are the prompt's, and finds what is
  // there of them: `kept` of one that was thrown out.
  Taken take(std::int32_t tokens, std::int32_t input, PrefixCache::Block prompt, std::int32_t kept);
  // Free for others; with blocks, the first `cached` tokens stay until somebody needs their places.
  void leave(std::int32_t tokens, std::int32_t cached, std::int32_t shared,
             PrefixCache::Block prompt);

  // Places that were given back so far.
  std::int64_t left() const { return left_; }
  // Without blocks: of `cached` tokens that left when left() became `then`, those that are still
  // there, in whole blocks. Of all that has left, places are taken in that order, a sequence's last
  // ones first.
  std::int32_t kept(std::int64_t then, std::int32_t cached) const {
    if (prefixes_) return 0;
    const std::int64_t there = std::clamp<std::int64_t>(free() - (left_ - then), 0, cached);
    return static_cast<std::int32_t>(there - there % block_size_);
  }

  // As answers grow; less than zero gives places back.
  void grow(std::int64_t tokens) { held_ += tokens; }
  // Forgets what is not used as far as those who hold places need it.
  void make_room() {
    if (prefixes_) prefixes_->shrink(free());
  }
  void note_peak() { peak_ = std::max(peak_, held_); }
  void clear();

 private:
  std::int64_t size_;
  double reuse_;
  int block_size_;
  std::int64_t held_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t left_ = 0;
  std::optional<PrefixCache> prefixes_;
};

}  // namespace slicewise::sim
