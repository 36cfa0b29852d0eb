#include "isolation_rule.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slicewise::sim {
namespace {

// Whether two pods that the rule keeps apart could meet on one GPU.
bool can_meet(const scenarios::Scenario& scenario, const std::vector<std::string>& workloads) {
  std::set<std::string> namespaces;
  int pods = 0;
  for (const scenarios::Workload& workload : scenario.workloads) {
    if (workload.count == 0 || std::ranges::find(workloads, workload.name.value) == workloads.end())
      continue;
    namespaces.insert(workload.namespace_name);
    pods += workload.count;
  }
  return scenario.isolation->between == scenarios::IsolationRule::Between::Namespaces
             ? namespaces.size() > 1
             : pods > 1;
}

}  // namespace

std::optional<std::string> isolation_gap(const scenarios::Scenario& scenario,
                                         const std::vector<std::string>& workloads,
                                         Strategy strategy) {
  if (!scenario.isolation || !can_meet(scenario, workloads)) return std::nullopt;
  const Isolation has = isolation_of(strategy);
  const scenarios::IsolationRule& rule = *scenario.isolation;
  std::vector<std::string_view> open;
  if (rule.memory && has.memory == Isolation::Memory::None) open.emplace_back("memory");
  if (rule.compute && has.compute == Isolation::Compute::None) open.emplace_back("compute");
  if (rule.fault && has.fault == Isolation::Fault::Shared) open.emplace_back("faults");
  if (open.empty()) return std::nullopt;
  const bool by_namespace = rule.between == scenarios::IsolationRule::Between::Namespaces;
  return fmt::format("{} does not isolate {} between {}, as the scenario requires",
                     strategy_name(strategy), fmt::join(open, " and "),
                     by_namespace ? "namespaces" : "pods");
}

}  // namespace slicewise::sim
