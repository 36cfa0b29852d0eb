#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "slicewise/counted.hpp"

#include "lint_rules.hpp"

// Ports of nodes: pods that take one run on a node each, so never more of them than there are
// nodes.
namespace slicewise::sim::lint {
namespace {

using scenarios::NodeGroupFile;
using scenarios::PodFile;

// That the pod may be on, at the most; nullopt: nobody says.
std::optional<std::int64_t> nodes_for(const LintInput& input, const PodFile& pod) {
  std::int64_t live = 0;
  std::int64_t most = 0;
  bool any_group = false;
  for (const NodeOffer& offer : input.offers) {
    if (offer.group == nullptr || !may_run_on(pod, offer)) continue;
    if (offer.group->kind == NodeGroupFile::Kind::Node) {
      ++live;
      continue;
    }
    any_group = true;
    const auto& nodes = offer.group->most ? offer.group->most : offer.group->nodes;
    if (!nodes) return std::nullopt;
    most += *nodes;
  }
  // Nodes that are there are those of the groups.
  if (any_group) return std::max(most, live);
  return live > 0 ? std::optional(live) : std::nullopt;
}

// Those that are there all the time.
bool stays(const PodFile& pod) {
  return pod.kind != "DaemonSet" && pod.purpose != scenarios::PodPurpose::Ends && !pod.has_ended;
}

}  // namespace

void lint_host_ports(const LintInput& input) {
  for (const PodFile& pod : input.files.pods) {
    if (pod.host_ports.empty() || pod.copies < 2 || !stays(pod)) continue;
    const auto nodes = nodes_for(input, pod);
    if (!nodes || pod.copies <= *nodes) continue;
    const Located<std::string>& port = pod.host_ports.front();
    input.tell_as(Severity::Warning, Code::PodPending, port.where,
                  fmt::format("{} of the {} pods of {} {} stay Pending: each takes port {} of its "
                              "node, and they may be on {}",
                              pod.copies - *nodes, pod.copies, pod.kind, pod.name.substr(0, 60),
                              port.value, counted(*nodes, "node")),
                  "leave hostPort and hostNetwork out and reach the pods by a Service, or have a "
                  "node for each");
  }
}

}  // namespace slicewise::sim::lint
