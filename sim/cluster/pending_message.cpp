#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/sim/cluster/cluster.hpp"

namespace slicewise::sim {
namespace {

std::string taint_text(const World& world) {
  for (const PoolModel& pool : world.pools) {
    for (const scenarios::Taint& taint : pool.taints) {
      return fmt::format("{{{}: {}}}", taint.key, taint.value);
    }
  }
  return "{}";
}

std::string cause_text(const World& world, std::size_t cause) {
  if (cause >= kResourceCause) return "Insufficient " + world.resources[cause - kResourceCause];
  switch (static_cast<RejectCause>(cause)) {
    case RejectCause::Unschedulable:
      return "node(s) were unschedulable";
    case RejectCause::Taint:
      return "node(s) had untolerated taint " + taint_text(world);
    case RejectCause::NodeSelector:
      return "node(s) didn't match Pod's node affinity/selector";
    case RejectCause::TooManyPods:
      return "Too many pods";
    case RejectCause::Cpu:
      return "Insufficient cpu";
    case RejectCause::Memory:
      return "Insufficient memory";
  }
  return {};
}

}  // namespace

std::string pending_message(const World& world, const PendingReason& reason) {
  if (reason.nodes == 0) return "no nodes available to schedule pods";
  std::vector<std::string> parts;
  for (std::size_t cause = 0; cause < reason.nodes_by_cause.size(); ++cause) {
    if (reason.nodes_by_cause[cause] == 0) continue;
    parts.push_back(fmt::format("{} {}", reason.nodes_by_cause[cause], cause_text(world, cause)));
  }
  std::ranges::sort(parts);  // as kube-scheduler's FitError does
  return fmt::format("0/{} nodes are available: {}.", reason.nodes, fmt::join(parts, ", "));
}

}  // namespace slicewise::sim
