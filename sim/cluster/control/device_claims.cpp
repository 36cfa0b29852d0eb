#include "device_claims.hpp"

#include <iterator>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

using Claim = ResourceOffer::Claim;

const Tickets* tickets_of(const DomainKind& kind, std::size_t offer) {
  return find_or_null(kind.tickets, offer, &Tickets::offer);
}

// Calls `use` with each device for the offer that nobody has and that there is room for, beside
// those that claims have and those before it.
template <class Use>
void for_each_free(const ClusterState& cluster, const Node& node, std::size_t offer, Use&& use) {
  const auto& places = cluster.pool(node).layouts[node.layout].domains;
  const auto domain_at = [&](std::size_t d) -> const Domain& {
    return cluster.domains[index(node.domains()[d])];
  };
  const auto is_taken = [](const Domain& domain) { return domain.allocated > 0 || domain.ending; };
  TakenParts taken;
  for (std::size_t d = 0; d < places.size(); ++d) {
    if (is_taken(domain_at(d))) taken.take(places[d]);
  }
  for (std::size_t d = 0; d < places.size(); ++d) {
    const Domain& domain = domain_at(d);
    const Tickets* const tickets = tickets_of(cluster.kind(domain), offer);
    if (is_taken(domain) || tickets == nullptr || !taken.take(places[d])) continue;
    use(node.domains()[d], *tickets);
  }
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
    for_each_free(cluster_, node, offer, [&](DomainId id, const Tickets&) {
      if (std::ssize(pod.tickets) < workload.tickets) have(id);
    });
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
  if (node.stage < NodeStage::Ready) return 0;  // its devices are not published yet
  const ResourceOffer& claim = cluster_.pool(node).offers[offer];
  const auto& device = shared_[index(claim.id)];
  if (device) {
    const Domain& domain = cluster_.domains[index(*device)];
    if (&cluster_.nodes[index(domain.node)] != &node) return 0;
    return tickets_of(cluster_.kind(domain), offer)->count - domain.allocated;
  }
  std::int64_t left = 0;
  for_each_free(cluster_, node, offer, [&](DomainId, const Tickets& tickets) {
    left = claim.claim == Claim::Shared ? tickets.count : left + tickets.count;
  });
  return left;
}

void DeviceClaims::count(Node& node) const {
  for (std::size_t offer = 0; offer < node.tickets_free.size(); ++offer) {
    node.tickets_free[offer] = left_of(node, offer);
  }
}

void DeviceClaims::count(const Pod& pod) {
  Node& node = cluster_.nodes[index(pod.node)];
  count(node);
  const WorkloadModel& workload = cluster_.model(pod);
  const std::size_t own = *workload.on_pool[index(node.pool)].offer;
  if (cluster_.pool(node).offers[own].claim != Claim::Shared) return;
  for (Node& other : cluster_.nodes) {
    const auto offer = workload.on_pool[index(other.pool)].offer;
    if (offer) other.tickets_free[*offer] = left_of(other, *offer);
  }
}

}  // namespace slicewise::sim
