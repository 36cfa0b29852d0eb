#include "device_claims.hpp"

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

using Claim = ResourceOffer::Claim;

const Tickets* tickets_of(const DomainKind& kind, std::size_t offer) {
  return find_or_null(kind.tickets, offer, &Tickets::offer);
}

}  // namespace

DeviceClaims::DeviceClaims(ClusterState& cluster)
    : cluster_(cluster), shared_(cluster.world->resources.size()) {}

std::optional<RejectCause> DeviceClaims::reject(std::uint32_t n, std::size_t w) const {
  const WorkloadModel& workload = cluster_.world->workloads[w];
  const Node& node = cluster_.nodes[n];
  const auto& device = shared_[index(*workload.resource)];
  if (device && index(cluster_.domains[index(*device)].node) != n) {
    return RejectCause::ClaimElsewhere;
  }
  const auto offer = workload.on_pool[index(node.pool)].offer;
  if (offer && node.tickets_free[*offer] >= workload.tickets) return std::nullopt;
  return RejectCause::Devices;
}

void DeviceClaims::take(Pod& pod) {
  const WorkloadModel& workload = cluster_.model(pod);
  const Node& node = cluster_.nodes[index(pod.node)];
  const std::size_t offer = *workload.on_pool[index(node.pool)].offer;
  auto& device = shared_[index(*workload.resource)];
  const auto have = [&](DomainId id) {
    ++cluster_.domains[index(id)].allocated;
    pod.tickets.push_back(id);
  };
  if (device) {
    have(*device);
  } else {
    for (const DomainId id : node.domains()) {
      const Domain& domain = cluster_.domains[index(id)];
      if (static_cast<std::int64_t>(pod.tickets.size()) == workload.tickets) break;
      if (domain.allocated == 0 && tickets_of(cluster_.kind(domain), offer) != nullptr) have(id);
    }
    const bool is_shared = cluster_.pool(node).offers[offer].claim == Claim::Shared;
    if (is_shared) device = pod.tickets.front();
  }
  count(pod);
}

void DeviceClaims::give_back(Pod& pod) {
  auto& device = shared_[index(*cluster_.model(pod).resource)];
  for (const DomainId id : pod.tickets) {
    if (--cluster_.domains[index(id)].allocated == 0 && device == id) device.reset();
  }
  count(pod);
}

std::int64_t DeviceClaims::left_of(const Node& node, std::size_t offer) const {
  const ResourceOffer& claim = cluster_.pool(node).offers[offer];
  const auto& device = shared_[index(claim.id)];
  std::int64_t left = 0;
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster_.domains[index(id)];
    const Tickets* const tickets = tickets_of(cluster_.kind(domain), offer);
    if (tickets == nullptr) continue;
    if (device == id) return tickets->count - domain.allocated;
    if (domain.allocated > 0) continue;
    left = claim.claim == Claim::Shared ? tickets->count : left + tickets->count;
  }
  return device ? 0 : left;
}

void DeviceClaims::count(const Pod& pod) {
  Node& node = cluster_.nodes[index(pod.node)];
  for (std::size_t offer = 0; offer < node.tickets_free.size(); ++offer) {
    node.tickets_free[offer] = left_of(node, offer);
  }
  const WorkloadModel& workload = cluster_.model(pod);
  const std::size_t own = *workload.on_pool[index(node.pool)].offer;
  if (cluster_.pool(node).offers[own].claim != Claim::Shared) return;
  for (Node& other : cluster_.nodes) {
    const auto offer = workload.on_pool[index(other.pool)].offer;
    if (offer) other.tickets_free[*offer] = left_of(other, *offer);
  }
}

}  // namespace slicewise::sim
