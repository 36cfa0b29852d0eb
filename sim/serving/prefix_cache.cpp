#include "slicewise/sim/serving/prefix_cache.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace slicewise::sim {

PrefixCache::PrefixCache(std::shared_ptr<const scenarios::PromptBlocks> blocks)
    : blocks_(std::move(blocks)) {
  assert(blocks_ != nullptr);
  clear();
}

void PrefixCache::clear() {
  entry_of_.assign(blocks_->before.size(), kNone);
  entries_.assign(1, {.before = 0, .after = 0});
  free_.clear();
  left_behind_ = 0;
}

std::int64_t PrefixCache::tokens(Block last) const {
  std::int64_t count = 0;
  for (Block block = last; block != 0; block = before(block)) count += blocks_->tokens;
  return count;
}

std::int64_t PrefixCache::found(Block last) const {
  for (Block block = last; block != 0; block = before(block)) {
    if (entry_of_[block] == kNone) continue;
    const Entry& entry = entries_[entry_of_[block]];
    return entry.ends - blocks_->tokens + entry.tokens;
  }
  return 0;
}

std::int64_t PrefixCache::in_use(Block last) const {
  for (Block block = last; block != 0; block = before(block)) {
    if (entry_of_[block] == kNone) continue;
    const Entry& entry = entries_[entry_of_[block]];
    if (entry.users > 0) return entry.ends;
  }
  return 0;
}

std::int64_t PrefixCache::use(Block last) {
  std::int64_t taken = 0;
  std::int64_t ends = tokens(last);
  for (Block block = last; block != 0; block = before(block), ends -= blocks_->tokens) {
    const std::uint32_t at = entry_of_[block] == kNone ? add(block) : entry_of_[block];
    Entry& entry = entries_[at];
    if (entry.users++ > 0) continue;
    if (entry.tokens > 0) unlink(at);
    entry.tokens = blocks_->tokens;
    entry.ends = ends;
    taken += entry.tokens;
  }
  return taken;
}

std::int64_t PrefixCache::leave(Block last, std::int64_t computed) {
  std::int64_t ends = tokens(last);
  if (computed > ends) {
    const std::uint32_t own = add(0);
    entries_[own].tokens = computed - ends;
    append(own);
  }
  std::int64_t freed = 0;
  for (Block block = last; block != 0; block = before(block), ends -= blocks_->tokens) {
    const std::uint32_t at = entry_of_[block];
    Entry& entry = entries_[at];
    if (--entry.users > 0) continue;
    freed += entry.tokens;
    entry.tokens = std::min(entry.tokens, computed - (ends - blocks_->tokens));
    if (entry.tokens > 0) {
      append(at);
    } else {
      remove(at);
    }
  }
  return freed;
}

void PrefixCache::shrink(std::int64_t places) {
  while (left_behind_ > places) {
    const std::uint32_t oldest = entries_[0].after;
    Entry& entry = entries_[oldest];
    const std::int64_t given_up = std::min(entry.tokens, left_behind_ - places);
    if (given_up == entry.tokens) {
      unlink(oldest);
      remove(oldest);
    } else {
      entry.tokens -= given_up;
      left_behind_ -= given_up;
    }
  }
}

std::uint32_t PrefixCache::add(Block block) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint32_t at = free_.back();
  free_.pop_back();
  entries_[at] = {.block = block};
  if (block != 0) entry_of_[block] = at;
  return at;
}

void PrefixCache::remove(std::uint32_t at) {
  const Block block = entries_[at].block;
  if (block != 0) entry_of_[block] = kNone;
  free_.push_back(at);
}

// As the last to be given up.
void PrefixCache::append(std::uint32_t at) {
  Entry& end = entries_[0];
  entries_[at].before = end.before;
  entries_[at].after = 0;
  entries_[end.before].after = at;
  end.before = at;
  left_behind_ += entries_[at].tokens;
}

void PrefixCache::unlink(std::uint32_t at) {
  const Entry& entry = entries_[at];
  entries_[entry.before].after = entry.after;
  entries_[entry.after].before = entry.before;
  left_behind_ -= entry.tokens;
}

}  // namespace slicewise::sim
