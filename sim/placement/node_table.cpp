#include "node_table.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {

NodeTable::NodeTable(std::span<const NodeShape> nodes) {
  free_.reserve(nodes.size());
  gpus_.reserve(nodes.size());
  for (const NodeShape& node : nodes) {
    assert(node.gpus >= 0 && node.gpus <= kMostGpusOfNode);
    assert(node.cpu.count >= 0 && node.cpu.count <= kMostCpuOfNode.count);
    const auto known = std::ranges::find(models_, node.gpu_model);
    NodeFree free;
    free.cpu = node.cpu.count;
    free.memory = node.memory.count;
    free.gpu_milli = node.gpus * kWholeGpu;
    free.largest = node.gpus > 0 ? kWholeGpu : 0;
    free.whole_gpus = static_cast<std::int8_t>(node.gpus);
    free.gpus = free.whole_gpus;
    free.model = static_cast<std::uint32_t>(known - models_.begin());
    if (known == models_.end()) models_.push_back(node.gpu_model);
    free_.push_back(free);
    GpuMilli gpus{};
    std::fill_n(gpus.begin(), node.gpus, static_cast<std::int16_t>(kWholeGpu));
    gpus_.push_back(gpus);
    all_free_.gpu_milli += free.gpu_milli;
    all_free_.cpu_milli += free.cpu;
    all_free_.whole_gpus += node.gpus;
    most_cpu_ = std::max(most_cpu_, free.cpu);
    most_gpus_ = std::max(most_gpus_, node.gpus);
  }
  capacity_ = free_;
  all_capacity_ = all_free_;
}

NodeTable NodeTable::emptied() const {
  NodeTable table = *this;
  table.free_ = capacity_;
  for (std::size_t node = 0; node < size(); ++node) {
    std::fill_n(table.gpus_[node].begin(), capacity_[node].gpus,
                static_cast<std::int16_t>(kWholeGpu));
  }
  table.all_free_ = all_capacity_;
  return table;
}

NodeDemand NodeTable::demand(const JobShape& shape) {
  assert(shape.gpu_milli == kWholeGpu || (shape.gpus <= 1 && shape.gpu_milli < kWholeGpu));
  auto row = std::ranges::find(model_lists_, shape.gpu_models);
  if (row == model_lists_.end()) {
    model_lists_.push_back(shape.gpu_models);
    row = model_lists_.end() - 1;
    for (const std::string& model : models_) {
      const bool any = shape.gpu_models.empty() || model.empty();
      allowed_.push_back(any || contains(shape.gpu_models, model) ? 1 : 0);
    }
  }
  NodeDemand demand;
  demand.cpu = shape.cpu.count;
  demand.memory = shape.memory.count;
  const bool uses_gpus = shape.gpus > 0 && shape.gpu_milli > 0;
  demand.gpus = uses_gpus ? shape.gpus : 0;
  demand.gpu_milli = uses_gpus ? shape.gpu_milli : 0;
  demand.models = static_cast<std::uint32_t>(row - model_lists_.begin());
  demand.guest = shape.guest;
  return demand;
}

NodeDemand NodeTable::part(const NodeDemand& whole, std::int32_t gpus) {
  const auto of = [&](std::int64_t amount) {
    return static_cast<std::int64_t>(static_cast<Int128>(amount) * gpus / whole.gpus);
  };
  NodeDemand part = whole;
  part.cpu = of(whole.cpu);
  part.memory = of(whole.memory);
  part.gpus = gpus;
  return part;
}

void NodeTable::take(std::uint32_t node, const NodeDemand& demand, std::uint32_t gpus) {
  assert(fits(node, demand) && std::popcount(gpus) == demand.gpus);
  change(node, demand, gpus, -1);
}

void NodeTable::give(std::uint32_t node, const NodeDemand& demand, std::uint32_t gpus) {
  change(node, demand, gpus, 1);
}

void NodeTable::change(std::uint32_t node, const NodeDemand& demand, std::uint32_t gpus, int sign) {
  NodeFree& free = free_[node];
  free.cpu += sign * demand.cpu;
  free.memory += sign * demand.memory;
  all_free_.cpu_milli += sign * demand.cpu;
  if (gpus == 0) return;
  GpuMilli& milli = gpus_[node];
  for (std::uint32_t left = gpus; left != 0; left &= left - 1) {
    std::int16_t& gpu = milli[static_cast<std::size_t>(std::countr_zero(left))];
    gpu = static_cast<std::int16_t>(gpu + sign * demand.gpu_milli);
    assert(gpu >= 0 && gpu <= kWholeGpu);
  }
  const std::int32_t more = sign * demand.total_milli();
  free.gpu_milli += more;
  all_free_.gpu_milli += more;
  all_free_.whole_gpus -= free.whole_gpus;
  free.largest = *std::ranges::max_element(milli);
  free.whole_gpus =
      static_cast<std::int8_t>(std::ranges::count(milli, static_cast<std::int16_t>(kWholeGpu)));
  all_free_.whole_gpus += free.whole_gpus;
}

std::uint32_t first_whole_gpus(const GpuMilli& gpus, std::int32_t count) {
  std::uint32_t chosen = 0;
  for (std::size_t gpu = 0; count > 0; ++gpu) {
    assert(gpu < gpus.size());
    if (gpus[gpu] != kWholeGpu) continue;
    chosen |= 1U << gpu;
    --count;
  }
  return chosen;
}

std::uint32_t fullest_gpu(const GpuMilli& gpus, std::int32_t milli) {
  std::size_t best = gpus.size();
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if (gpus[gpu] >= milli && (best == gpus.size() || gpus[gpu] < gpus[best])) best = gpu;
  }
  assert(best < gpus.size());
  return 1U << best;
}

std::uint32_t emptiest_gpu(const GpuMilli& gpus) {
  return 1U << (std::ranges::max_element(gpus) - gpus.begin());
}

}  // namespace slicewise::sim
