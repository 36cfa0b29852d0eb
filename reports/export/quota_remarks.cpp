#include "quota_remarks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/printable.hpp"

namespace slicewise::reports {
namespace {

using scenarios::ClusterQueue;
using scenarios::Scenario;
using scenarios::Workload;
using scenarios::WorkloadKind;

bool covers(const ClusterQueue& queue, const std::string& resource) {
  return std::ranges::any_of(queue.groups, [&](const scenarios::ResourceGroup& group) {
    return std::ranges::any_of(group.covered,
                               [&](const auto& name) { return name.value == resource; });
  });
}

}  // namespace

bool is_without_its_quotas(const Scenario& scenario) {
  return !scenario.cluster_queues.empty() &&
         std::ranges::all_of(scenario.workloads,
                             [](const Workload& workload) { return workload.queue.value.empty(); });
}

std::string never_admitted(const Scenario& scenario, const Workload& workload) {
  if (workload.kind != WorkloadKind::Job || !is_without_its_quotas(scenario)) return {};
  for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
    const std::string& name = request.name.value;
    const bool is_covered = std::ranges::any_of(
        scenario.cluster_queues, [&](const ClusterQueue& queue) { return covers(queue, name); });
    if (is_covered) continue;
    return printable(
        fmt::format("no ClusterQueue covers {}, which \"{}\" asks for now: Kueue never admits its "
                    "Jobs until their queue has it among its coveredResources, with a quota",
                    name, workload.name.value));
  }
  return {};
}

std::string quota_remark(const Scenario& scenario, const Workload& workload) {
  if (const std::string never = never_admitted(scenario, workload); !never.empty()) {
    return "Warning: " + never + ".";
  }
  if (!workload.queue.value.empty()) {
    return printable(fmt::format(
        "Simulated in Kueue's ClusterQueue {}: \"{}\" needs the label kueue.x-k8s.io/queue-name "
        "with a LocalQueue of it (slicewise export --to kueue). Without it all its pods start at "
        "once.",
        workload.queue.value, workload.name.value));
  }
  if (workload.kind != WorkloadKind::Job || !is_without_its_quotas(scenario)) return {};
  return printable(fmt::format(
      "Planned without quotas: where Kueue holds \"{}\", it counts what its pods ask for now, of "
      "shared GPUs the shares, and may start fewer at once.",
      workload.name.value));
}

}  // namespace slicewise::reports
