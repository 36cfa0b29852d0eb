#include "fragmentation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "slicewise/portable_math.hpp"

namespace slicewise::sim {
namespace {

constexpr double kUnits = 1 << 30;  // of weight, to all typical jobs
constexpr std::size_t kSeveral = kMostGpusOfNode + 1;

}  // namespace

Fragmentation::Fragmentation(const NodeTable& nodes, std::span<const NodeDemand> demands,
                             std::span<const TypicalJob> typical)
    : usable_(nodes.size()) {
  std::array<bool, kWholeGpu + 1> is_step{};
  for (const TypicalJob& job : typical) {
    const NodeDemand& demand = demands[job.shape];
    if (demand.gpus == 1) is_step[static_cast<std::size_t>(demand.gpu_milli)] = true;
    cpu_steps_.push_back(demand.cpu);
  }
  std::ranges::sort(cpu_steps_);
  cpu_steps_.erase(std::unique(cpu_steps_.begin(), cpu_steps_.end()), cpu_steps_.end());
  for (std::size_t milli = 1; milli < step_of_milli_.size(); ++milli) {
    step_of_milli_[milli] =
        static_cast<std::uint16_t>(step_of_milli_[milli - 1] + (is_step[milli] ? 1 : 0));
  }
  one_size_ = step_of_milli_.back() + std::size_t{1};

  const std::size_t row_size = one_size_ + kSeveral;
  rows_.resize(nodes.models() * (cpu_steps_.size() + 1) * row_size);
  for (const TypicalJob& job : typical) {
    const NodeDemand& demand = demands[job.shape];
    const auto weight = static_cast<Weight>(std::llround(job.share * kUnits));
    total_ += weight;
    if (demand.gpus == 0 || demand.gpus > kMostGpusOfNode) continue;
    const std::size_t first = demand.gpus == 1
                                  ? step_of_milli_[static_cast<std::size_t>(demand.gpu_milli)]
                                  : one_size_ + static_cast<std::size_t>(demand.gpus);
    const std::size_t last = demand.gpus == 1 ? one_size_ : row_size;
    for (std::uint32_t model = 0; model < nodes.models(); ++model) {
      if (!nodes.allows(demand, model)) continue;
      for (std::size_t step = 0; step <= cpu_steps_.size(); ++step) {
        if (step == 0 || cpu_steps_[step - 1] < demand.cpu) continue;
        Weight* row = rows_.data() + (model * (cpu_steps_.size() + 1) + step) * row_size;
        for (std::size_t n = first; n < last; ++n) row[n] += weight;
      }
    }
  }
  for (std::size_t score = 0; score < least_gain_.size(); ++score) {
    const auto p = static_cast<double>(score) / 100;
    least_gain_[score] =
        score == 0 ? std::numeric_limits<Weight>::min()
                   : static_cast<Weight>(std::ceil(kWholeGpu * static_cast<double>(total_) *
                                                   (portable_log(p) - portable_log(1 - p))));
  }
  for (std::uint32_t node = 0; node < nodes.size(); ++node) changed(nodes, node);
}

Fragmentation::Row Fragmentation::row(std::uint32_t model, std::int64_t cpu) const {
  const auto step =
      static_cast<std::size_t>(std::ranges::upper_bound(cpu_steps_, cpu) - cpu_steps_.begin());
  const Weight* first =
      rows_.data() + (model * (cpu_steps_.size() + 1) + step) * (one_size_ + kSeveral);
  return {first, first + one_size_};
}

Fragmentation::Weight Fragmentation::usable(const NodeTable& nodes, std::uint32_t node,
                                            const Row& row) const {
  const NodeFree& free = nodes.free(node);
  const GpuMilli& gpus = nodes.gpus(node);
  Weight sum = of_whole(row, free.whole_gpus);
  for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(free.gpus); ++gpu) {
    sum += of_gpu(row, gpus[gpu]);
  }
  return sum;
}

void Fragmentation::changed(const NodeTable& nodes, std::uint32_t node) {
  const NodeFree& free = nodes.free(node);
  usable_[node] = usable(nodes, node, row(free.model, free.cpu));
}

Fragmentation::Weight Fragmentation::gain_of_share(const Row& row, std::int32_t milli,
                                                   std::int32_t share, std::int32_t whole) const {
  const Weight change = of_gpu(row, milli - share) - of_gpu(row, milli);
  if (milli < kWholeGpu) return change;
  return change + of_whole(row, whole - 1) - of_whole(row, whole);
}

Fragmentation::Weight Fragmentation::gain(const NodeTable& nodes, const NodeDemand& demand,
                                          std::uint32_t node) const {
  const NodeFree& free = nodes.free(node);
  const Row after = row(free.model, free.cpu - demand.cpu);
  // Fragments are what is free less what is usable.
  const Weight rest = demand.total_milli() * total_ + usable(nodes, node, after) - usable_[node];
  if (demand.gpus == 0) return rest;
  if (!demand.shares_gpu()) {
    const std::int32_t left = free.whole_gpus - demand.gpus;
    return rest - demand.gpus * of_gpu(after, kWholeGpu) + of_whole(after, left) -
           of_whole(after, free.whole_gpus);
  }
  const GpuMilli& gpus = nodes.gpus(node);
  Weight best = std::numeric_limits<Weight>::min();
  for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(free.gpus); ++gpu) {
    if (gpus[gpu] < demand.gpu_milli) continue;
    best = std::max(best, gain_of_share(after, gpus[gpu], demand.gpu_milli, free.whole_gpus));
  }
  return rest + best;
}

std::uint8_t Fragmentation::percent(Weight gain) const {
  const auto above = std::ranges::upper_bound(least_gain_, gain);
  return static_cast<std::uint8_t>(above - least_gain_.begin() - 1);
}

std::uint8_t Fragmentation::score(const NodeTable& nodes, const NodeDemand& demand,
                                  std::uint32_t node) const {
  return percent(gain(nodes, demand, node));
}

std::uint32_t Fragmentation::gpus(const NodeTable& nodes, const NodeDemand& demand,
                                  std::uint32_t node) const {
  if (!demand.shares_gpu()) return first_whole_gpus(nodes.gpus(node), demand.gpus);
  const NodeFree& free = nodes.free(node);
  const GpuMilli& gpus = nodes.gpus(node);
  const Row after = row(free.model, free.cpu - demand.cpu);
  const Weight rest = demand.total_milli() * total_ + usable(nodes, node, after) - usable_[node];
  // Equal after the cut to an integer, as the authors have it.
  const Weight least = least_gain_[score(nodes, demand, node)];
  std::size_t gpu = 0;
  while (gpus[gpu] < demand.gpu_milli ||
         rest + gain_of_share(after, gpus[gpu], demand.gpu_milli, free.whole_gpus) < least) {
    ++gpu;
  }
  return 1U << gpu;
}

}  // namespace slicewise::sim
