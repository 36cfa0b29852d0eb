#include "result_placement.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

// "2 x llm, 1 x recsys": pods come workload by workload.
std::string counted_pods(const std::vector<std::string>& pods) {
  std::string out;
  for (auto first = pods.begin(); first != pods.end();) {
    const std::string_view workload = workload_of(*first);
    const auto end = std::find_if(
        first, pods.end(), [&](const std::string& pod) { return workload_of(pod) != workload; });
    add_name(out, fmt::format("{} x {}", end - first, workload));
    first = end;
  }
  return out.empty() ? "no pods" : out;
}

// GPUs or instances of one kind with the same pods.
struct AlikeGpus {
  std::string partition;
  std::string pods;
  std::string first;  // its label
  int count = 0;
};

std::string label_of(const AlikeGpus& gpus) {
  if (gpus.count == 1) return gpus.first;
  return gpus.partition.empty() ? fmt::format("{} GPUs alike", gpus.count)
                                : fmt::format("{} x {} alike", gpus.count, gpus.partition);
}

std::vector<std::string> named(std::string_view workload, std::vector<std::string> neighbours) {
  for (std::string& neighbour : neighbours) {
    if (neighbour == workload) neighbour = "more of its own pods";
  }
  return neighbours;
}

}  // namespace

std::string_view workload_of(std::string_view pod) { return pod.substr(0, pod.rfind('-')); }

std::vector<Seating> seatings(const sim::VariantResult& variant, bool every) {
  std::vector<Seating> lines;
  const bool any = std::ranges::any_of(variant.gpus,
                                       [](const sim::GpuResult& gpu) { return !gpu.pods.empty(); });
  if (!any) return lines;
  const std::vector<GpuRow> rows = gpu_rows(variant.gpus, true);
  std::vector<AlikeGpus> groups;  // in order of appearance
  for (std::size_t g = 0; g < variant.gpus.size(); ++g) {
    const sim::GpuResult& gpu = variant.gpus[g];
    if (every) {
      lines.push_back({rows[g].label, gpu.pods.empty()
                                          ? "no pods"
                                          : fmt::format("{}", fmt::join(gpu.pods, ", "))});
      continue;
    }
    std::string pods = counted_pods(gpu.pods);
    auto group = std::ranges::find_if(groups, [&](const AlikeGpus& known) {
      return known.partition == gpu.partition && known.pods == pods;
    });
    if (group == groups.end()) {
      group = groups.insert(group, {gpu.partition, std::move(pods), rows[g].label, 0});
    }
    ++group->count;
  }
  for (AlikeGpus& group : groups) lines.push_back({label_of(group), std::move(group.pods)});
  return lines;
}

std::string seatings_heading(const sim::VariantResult& variant) {
  return variant.replications == 1
             ? "pods on GPUs, each at its fullest"
             : fmt::format("pods on GPUs, each at its fullest, in the first of {} runs",
                           variant.replications);
}

std::string placement_sentence(std::string_view workload, const sim::PlacementSpread& placement,
                               int replications) {
  const bool answers = placement.figure == "latencyP95";
  return fmt::format(
      "{} {} is {} in {} of {} runs and {} in {}, where it shares a GPU with {}", workload,
      answers ? "p95" : "completion p95", duration_text(placement.usual),
      placement.usual_replications, replications,
      placement.worst ? duration_text(*placement.worst)
      : answers       ? "it answers nothing"
                      : "no job is finished",
      placement.replications == 1 ? "one" : fmt::format("{}", placement.replications),
      fmt::join(named(workload, placement.beside), " and "));
}

std::vector<std::string> placement_sentences(const sim::VariantResult& variant) {
  constexpr double kHidden = 0.05;
  std::vector<std::string> out;
  for (const sim::WorkloadResult& workload : variant.workloads) {
    if (!workload.placement) continue;
    out.push_back(
        placement_sentence(workload.name, *workload.placement, variant.replications) +
        fmt::format("; slicewise explain RESULT#{} says why, and what to apply", workload.name));
  }
  if (variant.gpus.empty()) return out;
  const auto busiest = std::ranges::max_element(variant.gpus, {}, &sim::GpuResult::time_busy_most);
  double mean = 0;
  for (const sim::GpuResult& gpu : variant.gpus) mean = std::max(mean, gpu.time_busy_ratio);
  if (busiest->time_busy_most <= mean + kHidden) return out;
  const auto nth = static_cast<std::size_t>(busiest - variant.gpus.begin());
  out.push_back(fmt::format("busiest in any run: {} with {}; no mean over the runs is above {}",
                            gpu_rows(variant.gpus, true)[nth].label,
                            percent_text(busiest->time_busy_most), percent_text(mean)));
  return out;
}

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
  const std::string what = group.partition.empty() ? counted(count, "GPU")
                                                   : fmt::format("{} x {}", count, group.partition);
  const std::string label = group.node.empty()
                                ? fmt::format("{} on {}", what, counted(nodes.size(), "node"))
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
