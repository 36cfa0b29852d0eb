#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "pool_choices.hpp"

namespace slicewise::sim {
namespace {

// Of more ways all language models of a pool are shared by equally many.
constexpr std::size_t kMostWays = 64;

// No more than a node has; the smallest where that is too many.
std::vector<int> sizes_on(const models::InstanceType& type, std::vector<int> sizes) {
  const auto fits = [&](int size) { return size <= type.gpu_count; };
  const auto end = std::ranges::find_if_not(sizes, fits);
  if (end != sizes.begin()) sizes.erase(end, sizes.end());
  return sizes;
}

std::vector<std::vector<int>> every_way(const std::vector<int>& sizes, std::size_t models) {
  std::vector<std::vector<int>> ways{{}};
  for (std::size_t m = 0; m < models; ++m) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& way : ways) {
      for (const int size : sizes) {
        longer.push_back(way);
        longer.back().push_back(size);
      }
    }
    ways = std::move(longer);
    if (ways.size() > kMostWays) break;
  }
  if (ways.size() <= kMostWays) return ways;
  ways.clear();
  for (const int size : sizes) ways.emplace_back(models, size);
  return ways;
}

}  // namespace

std::vector<std::vector<int>> gpu_splits(const scenarios::Scenario& base,
                                         const std::vector<std::string>& workloads,
                                         const models::InstanceType& type, const PlanSpace& space) {
  std::vector<std::size_t> models;  // by their places in `workloads`
  for (const scenarios::Workload& workload : base.workloads) {
    const auto place = std::ranges::find(workloads, workload.name.value);
    if (workload.llm && place != workloads.end()) {
      models.push_back(static_cast<std::size_t>(place - workloads.begin()));
    }
  }
  if (space.tensor_parallel.empty() || models.empty()) return {{}};
  auto ways = every_way(sizes_on(type, space.tensor_parallel), models.size());
  std::ranges::stable_sort(
      ways, {}, [](const auto& way) { return std::accumulate(way.begin(), way.end(), 0); });
  std::vector<std::vector<int>> splits;
  for (const std::vector<int>& way : ways) {
    std::vector<int>& gpus = splits.emplace_back(workloads.size());
    for (std::size_t m = 0; m < models.size(); ++m) gpus[models[m]] = way[m];
  }
  return splits;
}

}  // namespace slicewise::sim
