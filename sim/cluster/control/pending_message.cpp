#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../../world/admission.hpp"

// Why a pod is Pending, in the words of who says so: kube-scheduler, HAMi, KAI.
namespace slicewise::sim {
namespace {

std::string cause_text(const World& world, std::size_t cause) {
  if (cause >= kResourceCause) return "Insufficient " + world.resources[cause - kResourceCause];
  switch (static_cast<RejectCause>(cause)) {
    case RejectCause::Unschedulable:
      return "node(s) were unschedulable";
    case RejectCause::Taint:
      return std::string(kHasUntoleratedTaint);
    case RejectCause::NodeSelector:
      return "node(s) didn't match Pod's node affinity/selector";
    case RejectCause::TooManyPods:
      return "Too many pods";
    case RejectCause::Cpu:
      return "Insufficient cpu";
    case RejectCause::Memory:
      return "Insufficient memory";
    case RejectCause::AntiAffinity:
      return "node(s) didn't match pod anti-affinity rules";
    case RejectCause::ExistingAntiAffinity:
      return "node(s) didn't satisfy existing pods anti-affinity rules";
    case RejectCause::Affinity:
      return "node(s) didn't match pod affinity rules";
    case RejectCause::Spread:
      return "node(s) didn't match pod topology spread constraints";
    case RejectCause::SpreadLabel:
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    case RejectCause::HostPorts:
      return "node(s) didn't have free ports for the requested pod ports";
    case RejectCause::Devices:
      return "cannot allocate all claims";
    case RejectCause::ClaimElsewhere:
      return "resourceclaim not available on the node";
    // HAMi's words, which say of how many of a node's GPUs, too: pkg/device/common/common.go.
    case RejectCause::PartSlots:
      return "CardTimeSlicingExhausted";
    case RejectCause::PartMemory:
      return "CardInsufficientMemory";
    case RejectCause::PartCores:
      return "CardInsufficientCore";
    case RejectCause::PartAlone:
      return "ExclusiveDeviceAllocateConflict";
    case RejectCause::PartCoresGone:
      return "CardComputeUnitsExhausted";
    case RejectCause::PartOfKai:
      return "node(s) didn't have enough resources: GPUs";
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
