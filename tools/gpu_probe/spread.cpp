#include "spread.hpp"

#include <algorithm>
#include <cassert>

#include <nlohmann/json.hpp>

namespace slicewise::gpu_probe {

double quantile(const std::vector<double>& sorted, double q) {
  assert(!sorted.empty() && q >= 0 && q <= 1);
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {quantile(values, 0.5), quantile(values, 0.05), quantile(values, 0.95), values.size()};
}

void to_json(nlohmann::json& out, const Spread& spread) {
  out = {{"median", spread.median},
         {"low", spread.low},
         {"high", spread.high},
         {"count", spread.count}};
}

void from_json(const nlohmann::json& in, Spread& spread) {
  in.at("median").get_to(spread.median);
  in.at("low").get_to(spread.low);
  in.at("high").get_to(spread.high);
  in.at("count").get_to(spread.count);
}

}  // namespace slicewise::gpu_probe
