#include "result_gpu_rows.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace slicewise::reports {
namespace {

using sim::GpuResult;

constexpr std::size_t kMostRows = 8;

GpuRow summed_up(std::string label, const std::vector<const GpuResult*>& gpus) {
  GpuRow row{std::move(label), 0, 0.0, 0, {}, {}};
  const auto count = static_cast<double>(gpus.size());
  for (const GpuResult* gpu : gpus) {
    row.time_busy += gpu->time_busy_ratio / count;
    row.switching += gpu->context_switch_ratio / count;
    row.sm_active = row.sm_active && gpu->sm_active_ratio
                        ? std::optional(*row.sm_active + *gpu->sm_active_ratio / count)
                        : std::nullopt;
    if (gpu->memory_peak >= row.memory_peak) {
      row.memory_peak = gpu->memory_peak;
      row.memory_total = gpu->memory_total;
    }
  }
  return row;
}

}  // namespace

std::vector<GpuRow> gpu_rows(const std::vector<GpuResult>& gpus, bool every) {
  std::vector<GpuRow> rows;
  if (every || gpus.size() <= kMostRows) {
    for (const GpuResult& gpu : gpus) {
      rows.push_back(summed_up(fmt::format("{} #{}", gpu.node, gpu.index), {&gpu}));
    }
    return rows;
  }
  std::vector<std::string> nodes;  // in order of appearance
  std::map<std::string, std::vector<const GpuResult*>> by_node;
  std::vector<const GpuResult*> all;
  for (const GpuResult& gpu : gpus) {
    std::vector<const GpuResult*>& on_node = by_node[gpu.node];
    if (on_node.empty()) nodes.push_back(gpu.node);
    on_node.push_back(&gpu);
    all.push_back(&gpu);
  }
  if (nodes.size() > kMostRows) {
    return {summed_up(fmt::format("{} GPUs on {} nodes", gpus.size(), nodes.size()), all)};
  }
  for (const std::string& node : nodes) {
    const auto& on_node = by_node[node];
    rows.push_back(summed_up(fmt::format("{} ({} GPUs)", node, on_node.size()), on_node));
  }
  return rows;
}

}  // namespace slicewise::reports
