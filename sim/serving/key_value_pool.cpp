#include "slicewise/sim/serving/key_value_pool.hpp"

#include <utility>

namespace slicewise::sim {

KeyValuePool::KeyValuePool(std::int64_t size, double reuse, int block_size,
                           std::shared_ptr<const scenarios::PromptBlocks> blocks)
    : size_(size), reuse_(reuse), block_size_(block_size) {
  if (blocks != nullptr) prefixes_.emplace(std::move(blocks));
}

KeyValuePool::Taken KeyValuePool::take(std::int32_t tokens, std::int32_t input,
                                       PrefixCache::Block prompt, std::int32_t kept) {
  held_ += tokens;
  if (!prefixes_) {
    const auto reused = static_cast<std::int32_t>(reuse_ * static_cast<double>(input));
    return {std::min(std::max(reused, kept), tokens - 1), 0};
  }
  // The last token is computed in any case: the answer follows from it.
  const std::int64_t found = std::min<std::int64_t>(prefixes_->found(prompt), tokens - 1);
  const Taken taken{static_cast<std::int32_t>(found - found % block_size_),
                    static_cast<std::int32_t>(prefixes_->tokens(prompt))};
  held_ += prefixes_->use(prompt) - taken.shared;
  make_room();
  return taken;
}

void KeyValuePool::leave(std::int32_t tokens, std::int32_t cached, std::int32_t shared,
                         PrefixCache::Block prompt) {
  held_ -= std::max(tokens, cached);
  left_ += std::max(tokens, cached);
  if (prefixes_) held_ += shared - prefixes_->leave(prompt, cached);
}

void KeyValuePool::clear() {
  held_ = 0;
  if (prefixes_) prefixes_->clear();
}

}  // namespace slicewise::sim
