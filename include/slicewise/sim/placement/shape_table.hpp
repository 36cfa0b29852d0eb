#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "slicewise/sim/placement/placement.hpp"

namespace slicewise::sim {

// The different shapes among the jobs of a trace, numbered in order of first appearance.
class ShapeTable {
 public:
  // The number of this shape, with one more job that asks for it.
  ShapeId add(const JobShape& shape);

  std::span<const JobShape> shapes() const { return shapes_; }
  // Jobs of each shape.
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  struct Before {
    bool operator()(const JobShape& a, const JobShape& b) const;
  };
  std::map<JobShape, ShapeId, Before> numbers_;
  std::vector<JobShape> shapes_;
  std::vector<std::int64_t> counts_;
};

// The most frequent kinds of job that together make up 95 % of all, for Fgd: kMostTypicalJobs at
// most. Shapes that differ in memory only are one kind, as in the authors' experiments. `counts`:
// jobs of each shape.
inline constexpr std::size_t kMostTypicalJobs = 1'000;
std::vector<TypicalJob> typical_jobs(std::span<const JobShape> shapes,
                                     std::span<const std::int64_t> counts);

}  // namespace slicewise::sim
