#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// Repeated measurements in four figures.
namespace slicewise::gpu_probe {

struct Spread {
  double median = 0;
  double low = 0;   // 5 % are below
  double high = 0;  // 5 % are above
  std::size_t count = 0;
};

// `q` in [0, 1], linear between neighbours. REQUIRES: `sorted` is, and not empty.
double quantile(const std::vector<double>& sorted, double q);

Spread spread_of(std::vector<double> values);  // of none: all zero

void to_json(nlohmann::json& out, const Spread& spread);
void from_json(const nlohmann::json& in, Spread& spread);

}  // namespace slicewise::gpu_probe
