#include "slicewise/sim/placement/shape_table.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

namespace slicewise::sim {
namespace {

// What makes jobs one kind for fragmentation: not their memory.
auto kind(const JobShape& shape) {
  return std::tie(shape.cpu, shape.gpu_milli, shape.gpus, shape.gpu_models);
}

}  // namespace

bool ShapeTable::Before::operator()(const JobShape& a, const JobShape& b) const {
  const auto all = [](const JobShape& shape) {
    return std::tie(shape.gpus, shape.gpu_milli, shape.cpu, shape.memory, shape.gpu_models);
  };
  return all(a) < all(b);
}

ShapeId ShapeTable::add(const JobShape& shape) {
  const auto [place, is_new] = numbers_.try_emplace(shape, static_cast<ShapeId>(shapes_.size()));
  if (is_new) {
    shapes_.push_back(shape);
    counts_.push_back(0);
  }
  ++counts_[place->second];
  return place->second;
}

std::vector<TypicalJob> typical_jobs(std::span<const JobShape> shapes,
                                     std::span<const std::int64_t> counts) {
  struct Kind {
    ShapeId shape = 0;
    std::int64_t jobs = 0;
  };
  std::vector<ShapeId> by_kind(shapes.size());
  std::iota(by_kind.begin(), by_kind.end(), ShapeId{0});
  std::ranges::sort(by_kind, [&](ShapeId a, ShapeId b) {
    const auto kind_a = kind(shapes[a]);
    const auto kind_b = kind(shapes[b]);
    return kind_a != kind_b ? kind_a > kind_b : a < b;
  });
  std::vector<Kind> kinds;
  std::int64_t all = 0;
  for (const ShapeId shape : by_kind) {
    if (kinds.empty() || kind(shapes[kinds.back().shape]) != kind(shapes[shape])) {
      kinds.push_back({shape, 0});
    }
    kinds.back().jobs += counts[shape];
    all += counts[shape];
  }
  // The order of kinds breaks ties, as in the authors' code.
  std::ranges::stable_sort(kinds, std::greater(), &Kind::jobs);
  std::int64_t covered = 0;
  std::size_t taken = 0;
  while (taken < std::min(kinds.size(), kMostTypicalJobs) && covered * 100 < all * 95) {
    covered += kinds[taken++].jobs;
  }
  std::vector<TypicalJob> typical;
  for (std::size_t n = 0; n < taken; ++n) {
    typical.push_back(
        {kinds[n].shape, static_cast<double>(kinds[n].jobs) / static_cast<double>(covered)});
  }
  return typical;
}

}  // namespace slicewise::sim
