#pragma once

#include <string>
#include <string_view>
#include <vector>

// The names of the figures that assertions know.
namespace slicewise::scenarios {

// "workloads.NAME.latencyP99" -> {"NAME", "latencyP99"}; both empty for figures of the whole
// result.
struct WorkloadFigure {
  std::string_view workload;
  std::string_view figure;
};
WorkloadFigure workload_figure(std::string_view figure);

std::vector<std::string_view> figures_of_results();
std::vector<std::string_view> figures_of_workloads();  // after workloads.NAME.

// The words that a figure can be compared with; empty when they are not known here.
std::vector<std::string_view> words_of_figure(std::string_view figure);

}  // namespace slicewise::scenarios
