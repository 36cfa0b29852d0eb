#include <algorithm>
#include <cassert>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/placement/placement.hpp"
#include "slicewise/sim/replay/replay.hpp"

namespace slicewise::sim {
namespace {

std::int64_t gpu_milli_of(const JobShape& shape) {
  return std::int64_t{shape.gpus} * shape.gpu_milli;
}

// The shapes of the jobs in order of name.
std::vector<ShapeId> rows_by_name(const std::vector<InflationJob>& jobs) {
  std::vector<const InflationJob*> sorted;
  sorted.reserve(jobs.size());
  for (const InflationJob& job : jobs) sorted.push_back(&job);
  std::ranges::stable_sort(sorted, {}, &InflationJob::name);
  std::vector<ShapeId> rows;
  rows.reserve(jobs.size());
  for (const InflationJob* job : sorted) rows.push_back(job->shape);
  return rows;
}

// What arrives: all rows, and more or fewer at random.
std::vector<ShapeId> arrivals(const InflationInput& input, std::int64_t target_milli,
                              std::uint64_t seed) {
  const std::vector<ShapeId> rows = rows_by_name(input.jobs);
  const auto milli = [&](ShapeId shape) { return gpu_milli_of(input.shapes[shape]); };
  std::int64_t sum = 0;
  for (const ShapeId shape : rows) sum += milli(shape);

  RandomStream random(seed, 0, 0, Purpose::Arrival);
  const auto any_of = [&](const std::vector<ShapeId>& all) {
    return random.below(static_cast<std::uint32_t>(all.size()));
  };
  std::vector<ShapeId> jobs = rows;
  for (std::size_t left = jobs.size(); left > 1; --left) {
    std::swap(jobs[left - 1], jobs[random.below(static_cast<std::uint32_t>(left))]);
  }
  if (sum > target_milli) {
    while (sum > target_milli) {
      const auto job = jobs.begin() + any_of(jobs);
      sum -= milli(*job);
      jobs.erase(job);
    }
    return jobs;
  }
  for (;;) {
    const ShapeId next = rows[any_of(rows)];
    sum += milli(next);
    if (sum > target_milli) return jobs;
    jobs.push_back(next);
  }
}

// Collects the curve: points of the same percent become their mean.
class Curve {
 public:
  explicit Curve(std::int64_t total_milli) : total_milli_(total_milli) {}

  void add(std::int64_t arrived_milli, std::int64_t allocated_milli) {
    const auto percent =
        static_cast<int>((200 * arrived_milli + total_milli_) / (2 * total_milli_));
    if (points_.empty() || points_.back().arrived_percent != percent) {
      points_.push_back({percent, 0});
      jobs_ = 0;
      sum_milli_ = 0;
    }
    ++jobs_;
    sum_milli_ += allocated_milli;
    points_.back().allocated_percent = 100 * static_cast<double>(sum_milli_) /
                                       static_cast<double>(jobs_) /
                                       static_cast<double>(total_milli_);
  }

  std::vector<InflationPoint> points() && { return std::move(points_); }

 private:
  std::int64_t total_milli_;
  std::vector<InflationPoint> points_;
  std::int64_t jobs_ = 0;  // of the last point
  std::int64_t sum_milli_ = 0;
};

std::vector<TypicalJob> typical_rows(const InflationInput& input) {
  std::vector<std::int64_t> counts(input.shapes.size());
  for (const InflationJob& job : input.jobs) ++counts[job.shape];
  return typical_jobs(input.shapes, counts);
}

}  // namespace

InflationResult inflate(const InflationInput& input, NodePolicy policy, std::uint64_t seed,
                        int target_percent) {
  std::vector<NodeShape> nodes = input.nodes;
  std::ranges::stable_sort(nodes, {}, &NodeShape::name);
  std::vector<TypicalJob> typical;
  if (policy == NodePolicy::Fgd) typical = typical_rows(input);
  Placement placement(nodes, input.shapes, policy, seed, typical);
  const std::int64_t total = placement.total_gpu_milli();
  assert(total > 0);

  InflationResult result;
  Curve curve(total);
  std::int64_t arrived_milli = 0;
  for (const ShapeId shape : arrivals(input, total * target_percent / 100, seed)) {
    arrived_milli += gpu_milli_of(input.shapes[shape]);
    ++result.arrived;
    if (!placement.place(shape)) ++result.failed;
    curve.add(arrived_milli, total - placement.free().gpu_milli);
  }
  result.curve = std::move(curve).points();
  if (!result.curve.empty()) result.allocated_percent = result.curve.back().allocated_percent;
  return result;
}

}  // namespace slicewise::sim
