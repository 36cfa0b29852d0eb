#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace slicewise::sim {

// REQUIRES: !sorted.empty(), 0 <= q <= 1.
template <class Value>
Value nearest_rank(const std::vector<Value>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace slicewise::sim
