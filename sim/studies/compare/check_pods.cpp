#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "candidates.hpp"

namespace slicewise::sim {

void check_pods(const scenarios::Scenario& scenario, std::string_view what, Diagnostics& found) {
  std::int64_t pods = 0;
  for (const scenarios::Workload& workload : scenario.workloads) {
    pods += workload.count;
    const bool several = workload.pod.extended.size() > 1 ||
                         std::ranges::any_of(workload.pod.extended,
                                             [](const auto& request) { return request.count > 1; });
    if (!several || workload.count == 0) continue;
    found.push_back(make_diagnostic(
        Code::StrategyNotModelled, workload.pod.extended.back().count_where,
        fmt::format("the pods of \"{}\" ask for several GPU resources: {} for pods with one",
                    workload.name.value, what),
        "ask for one; two replicas of a shared GPU do not give twice the compute"));
  }
  if (pods > 0) return;
  found.push_back(make_diagnostic(Code::ValueRange, scenario.where,
                                  fmt::format("\"{}\" has no pods to run", scenario.name),
                                  "set the count of a workload"));
}

Diagnostics errors_everywhere(std::span<const Expected<World>> worlds) {
  Diagnostics everywhere;
  if (std::ranges::any_of(worlds, [](const auto& world) { return world.has_value(); })) return {};
  for (const Diagnostic& d : worlds.front().error()) {
    const bool in_all = std::ranges::all_of(
        worlds, [&](const Expected<World>& other) { return holds(other.error(), d); });
    if (in_all && d.severity == Severity::Error) everywhere.push_back(d);
  }
  return everywhere;
}

const Diagnostic& first_error(const Diagnostics& found) {
  return *std::ranges::find(found, Severity::Error, &Diagnostic::severity);
}

}  // namespace slicewise::sim
