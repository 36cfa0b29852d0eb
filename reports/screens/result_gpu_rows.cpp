#include "result_gpu_rows.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace slicewise::reports {
namespace {

using sim::GpuResult;

constexpr std::size_t kMostRows = 8;

// A GPU and the layout of its node, counted from 1, that it belongs to.
struct Placed {
  const GpuResult* gpu;
  int layout;
};

// What one row sums up.
struct Group {
  std::string node;  // "" = several
  std::string partition;
  int layout = 1;
  std::vector<const GpuResult*> gpus;
};

// Results list the layouts of a node one after the other, each in the order of GPUs and instances:
// where that order starts over, the next layout begins.
std::vector<Placed> placed(const std::vector<GpuResult>& gpus) {
  std::vector<Placed> out;
  const GpuResult* last = nullptr;
  int layout = 1;
  for (const GpuResult& gpu : gpus) {
    const bool same_node = last != nullptr && last->node == gpu.node;
    if (!same_node) {
      layout = 1;
    } else if (std::tie(gpu.index, gpu.instance) <= std::tie(last->index, last->instance)) {
      ++layout;
    }
    out.push_back({&gpu, layout});
    last = &gpu;
  }
  return out;
}

bool changes(const std::vector<Placed>& all) {
  return std::ranges::any_of(all, [](const Placed& p) { return p.layout > 1; });
}

std::vector<Group> grouped(const std::vector<Placed>& all, bool by_node) {
  std::vector<Group> groups;  // in order of appearance
  for (const Placed& p : all) {
    const std::string node = by_node ? p.gpu->node : "";
    auto group = std::ranges::find_if(groups, [&](const Group& g) {
      return g.node == node && g.partition == p.gpu->partition && g.layout == p.layout;
    });
    if (group == groups.end()) {
      groups.push_back({node, p.gpu->partition, p.layout, {}});
      group = std::prev(groups.end());
    }
    group->gpus.push_back(p.gpu);
  }
  return groups;
}

GpuRow summed_up(std::string label, const std::vector<const GpuResult*>& gpus) {
  GpuRow row{std::move(label), 0, std::nullopt, 0.0, 0, {}, {}};
  double all = 0;
  for (const GpuResult* gpu : gpus) all += gpu->up_ratio;
  for (const GpuResult* gpu : gpus) {
    const double part = all > 0 ? gpu->up_ratio / all : 0;
    row.time_busy += gpu->time_busy_ratio * part;
    row.switching += gpu->context_switch_ratio * part;
    if (gpus.size() > 1) row.busiest = std::max(row.busiest.value_or(0), gpu->time_busy_ratio);
    row.sm_active = row.sm_active && gpu->sm_active_ratio
                        ? std::optional(*row.sm_active + *gpu->sm_active_ratio * part)
                        : std::nullopt;
    if (gpu->memory_peak >= row.memory_peak) {
      row.memory_peak = gpu->memory_peak;
      row.memory_total = gpu->memory_total;
    }
  }
  return row;
}

std::string layout_text(int layout, bool several) {
  return several ? fmt::format(", layout {}", layout) : "";
}

std::string label_of(const Placed& p, bool several_layouts) {
  std::string label = fmt::format("{} #{}", p.gpu->node, p.gpu->index);
  if (!p.gpu->partition.empty()) {
    label += fmt::format(" {}.{}", p.gpu->partition, p.gpu->instance);
  }
  return label + layout_text(p.layout, several_layouts);
}

std::string label_of(const Group& group, bool several_layouts) {
  std::set<std::string> nodes;
  for (const GpuResult* gpu : group.gpus) nodes.insert(gpu->node);
  const std::size_t count = group.gpus.size();
  const std::string what = group.partition.empty()
                               ? fmt::format("{} GPU{}", count, count == 1 ? "" : "s")
                               : fmt::format("{} x {}", count, group.partition);
  const std::string label = group.node.empty() ? fmt::format("{} on {} node{}", what, nodes.size(),
                                                             nodes.size() == 1 ? "" : "s")
                                               : fmt::format("{} ({})", group.node, what);
  return label + layout_text(group.layout, several_layouts);
}

}  // namespace

std::vector<GpuRow> gpu_rows(const std::vector<GpuResult>& gpus, bool every) {
  const std::vector<Placed> all = placed(gpus);
  const bool several_layouts = changes(all);
  std::vector<GpuRow> rows;
  if (every || all.size() <= kMostRows) {
    for (const Placed& p : all) rows.push_back(summed_up(label_of(p, several_layouts), {p.gpu}));
    return rows;
  }
  std::vector<Group> groups = grouped(all, true);
  if (groups.size() > kMostRows) groups = grouped(all, false);
  for (const Group& group : groups) {
    rows.push_back(summed_up(label_of(group, several_layouts), group.gpus));
  }
  return rows;
}

bool has_layout_changes(const std::vector<GpuResult>& gpus) { return changes(placed(gpus)); }

}  // namespace slicewise::reports
