#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../probe/pool_homes.hpp"
#include "../probe/probe.hpp"
#include "known_pools.hpp"
#include "plan_sections.hpp"
#include "pool_split.hpp"

namespace slicewise::sim {
namespace {

// kubernetes.io/arch and os say what the image runs on.
bool is_for_the_image(const std::string& label) { return label.starts_with("kubernetes.io/"); }

// Takes the selectors of the labels away, and says whose they were.
std::vector<std::string> take_selectors(Scenario& scenario) {
  std::vector<std::string> workloads;
  for (Workload& workload : scenario.workloads) {
    const auto taken = std::erase_if(workload.pod.node_selector, [&](const auto& selector) {
      const bool is_label = std::ranges::any_of(scenario.node_pools, [&](const auto& pool) {
        return pool.labels.contains(selector.first);
      });
      return is_label && !names_the_node(selector.first) && !is_for_the_image(selector.first);
    });
    if (taken > 0 && workload.count > 0) workloads.push_back(workload.name.value);
  }
  return workloads;
}

}  // namespace

std::optional<UnselectedNodes> without_selectors(const BlockSearch& search,
                                                 const std::optional<PlanOption>& best,
                                                 const RunOptions& run) {
  Scenario free = search.base;
  UnselectedNodes found{take_selectors(free), {}};
  if (found.workloads.empty() || separable_groups(free).size() > kExactGroups ||
      requests_of_a_simulation(search) > kWorthAGlance) {
    return std::nullopt;
  }
  RunOptions quiet = run;
  quiet.progress = nullptr;
  ProbeBatch probes(probe_threads(free, search.catalogue, quiet));
  const std::optional<double> cap = best ? best->goal : std::nullopt;
  auto option = cheapest_plan(search_within(search, free, search.space, &probes), cap);
  if (!option || !option->goal || probes.interrupted()) return std::nullopt;
  if (cap && *option->goal > *cap - kSamePrice) return std::nullopt;
  found.option = std::move(*option);
  return found;
}

}  // namespace slicewise::sim
