#include "node_search.hpp"

#include <algorithm>

namespace slicewise::sim {

std::optional<int> NodeSearch::next() const {
  if (passed_) {
    if (*passed_ - failed_ <= 1) return std::nullopt;
    return failed_ + (*passed_ - failed_) / 2;
  }
  if (failed_ >= most_) return std::nullopt;
  const int done = failed_ - first_ + 1;
  const int step = done < kOneByOne ? 1 : done;
  return std::min(most_, failed_ + step);
}

void NodeSearch::record(int nodes, bool passes) {
  if (passes) {
    passed_ = std::min(nodes, passed_.value_or(nodes));
  } else {
    failed_ = std::max(nodes, failed_);
  }
}

}  // namespace slicewise::sim
