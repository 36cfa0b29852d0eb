#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slicewise/sim/placement/placement.hpp"

namespace slicewise::sim {

inline constexpr std::int32_t kWholeGpu = 1000;

// What a job, or the part of it that one node holds, asks of that node.
struct NodeDemand {
  std::int64_t cpu = 0;     // milli-cores
  std::int64_t memory = 0;  // bytes
  std::int32_t gpus = 0;
  std::int32_t gpu_milli = 0;  // of each GPU
  std::uint32_t models = 0;    // which GPU models will do: a row of the node table
  std::uint32_t guest = 0;     // JobShape::guest
  bool whole_node = false;     // all GPUs of a node that has no more, all of them free

  bool shares_gpu() const { return gpus == 1 && gpu_milli < kWholeGpu; }
  std::int32_t total_milli() const { return gpus * gpu_milli; }
};

// What is free on a node. Small: a search reads it for many nodes.
struct NodeFree {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int32_t gpu_milli = 0;  // of all GPUs together
  std::int16_t largest = 0;    // milli of the GPU with the most left
  std::int8_t whole_gpus = 0;  // GPUs that nobody uses
  std::int8_t gpus = 0;        // GPUs of the node, free or not
  std::uint32_t model = 0;
};

using GpuMilli = std::array<std::int16_t, kMostGpusOfNode>;

// The nodes: what they have and what is free. Knows no policy.
class NodeTable {
 public:
  explicit NodeTable(std::span<const NodeShape> nodes);

  // The demand of jobs of this shape that one node holds.
  NodeDemand demand(const JobShape& shape);
  // The part of a job that has `gpus` of its GPUs: CPU and memory in proportion.
  static NodeDemand part(const NodeDemand& whole, std::int32_t gpus);

  bool fits(std::uint32_t node, const NodeDemand& demand) const;
  // Whether jobs with this demand may use the GPU model.
  bool allows(const NodeDemand& demand, std::uint32_t model) const {
    return allowed_[demand.models * models_.size() + model] != 0;
  }

  // REQUIRES: fits(node, demand); `gpus` has demand.gpus bits, each of a GPU that has enough left.
  void take(std::uint32_t node, const NodeDemand& demand, std::uint32_t gpus);
  void give(std::uint32_t node, const NodeDemand& demand, std::uint32_t gpus);

  std::size_t size() const { return free_.size(); }
  std::size_t models() const { return models_.size(); }
  const NodeFree& free(std::uint32_t node) const { return free_[node]; }
  const NodeFree& capacity(std::uint32_t node) const { return capacity_[node]; }
  const GpuMilli& gpus(std::uint32_t node) const { return gpus_[node]; }
  const FreeResources& all_free() const { return all_free_; }
  const FreeResources& all_capacity() const { return all_capacity_; }
  // The same nodes with nothing on them.
  NodeTable emptied() const;

  // The most that any node has.
  std::int64_t most_cpu() const { return most_cpu_; }
  std::int32_t most_gpus() const { return most_gpus_; }

 private:
  void change(std::uint32_t node, const NodeDemand& demand, std::uint32_t gpus, int sign);

  std::vector<NodeFree> free_;
  std::vector<GpuMilli> gpus_;
  std::vector<NodeFree> capacity_;
  std::vector<std::string> models_;
  std::vector<std::vector<std::string>> model_lists_;  // of demands, by row
  std::vector<std::uint8_t> allowed_;                  // [row][model]
  FreeResources all_free_;
  FreeResources all_capacity_;
  std::int64_t most_cpu_ = 0;
  std::int32_t most_gpus_ = 0;
};

inline bool NodeTable::fits(std::uint32_t node, const NodeDemand& demand) const {
  const NodeFree& free = free_[node];
  if (free.cpu < demand.cpu || free.memory < demand.memory) return false;
  if (demand.gpus == 0) return true;
  const bool gpus_fit =
      demand.shares_gpu() ? free.largest >= demand.gpu_milli : free.whole_gpus >= demand.gpus;
  if (!gpus_fit || !allows(demand, free.model)) return false;
  return !demand.whole_node || (free.gpus == demand.gpus && free.whole_gpus == free.gpus);
}

// The GPUs that nobody uses, from the first, as many as asked for.
// REQUIRES: there are as many.
std::uint32_t first_whole_gpus(const GpuMilli& gpus, std::int32_t count);

// The GPU with the least left that still fits; the first of equals. REQUIRES: there is one.
std::uint32_t fullest_gpu(const GpuMilli& gpus, std::int32_t milli);

// The GPU with the most left; the first of equals.
std::uint32_t emptiest_gpu(const GpuMilli& gpus);

}  // namespace slicewise::sim
