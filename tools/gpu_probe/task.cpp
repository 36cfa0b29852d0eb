#include "task.hpp"

#include <algorithm>
#include <cassert>

namespace slicewise::gpu_probe {
namespace {

// `q` in [0, 1], linear between neighbours. REQUIRES: `sorted` is, and not empty.
double quantile(const std::vector<double>& sorted, double q) {
  assert(!sorted.empty() && q >= 0 && q <= 1);
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {quantile(values, 0.5), quantile(values, 0.05), quantile(values, 0.95), values.size()};
}

}  // namespace slicewise::gpu_probe
