#include "result_placement.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "result_figures.hpp"
#include "result_gpu_rows.hpp"

namespace slicewise::reports {
namespace {

// "2 x llm, 1 x recsys": pods come workload by workload.
std::string counted_pods(const std::vector<std::string>& pods) {
  std::string out;
  for (auto first = pods.begin(); first != pods.end();) {
    const std::string_view workload = workload_of(*first);
    const auto end = std::find_if(
        first, pods.end(), [&](const std::string& pod) { return workload_of(pod) != workload; });
    out += fmt::format("{}{} x {}", out.empty() ? "" : ", ", end - first, workload);
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

}  // namespace slicewise::reports
