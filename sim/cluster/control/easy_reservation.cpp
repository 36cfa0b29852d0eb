#include "easy_reservation.hpp"

#include <algorithm>

#include "slicewise/sim/kernel/far_times.hpp"

namespace slicewise::sim {

EasyReservation::EasyReservation(const ClusterState& cluster)
    : cluster_(cluster), end_of_(cluster.pods.size(), kNever) {
  ends_.reserve(cluster.pods.size());
}

Duration EasyReservation::estimate(const Pod& pod) const {
  const Workload& spec = cluster_.model(pod).spec;
  if (spec.trace) {
    const scenarios::RecordedJobs::Job& job = (*spec.trace->jobs)[cluster_.job(pod)];
    return job.time_limit.ns >= 0 ? job.time_limit : job.run;
  }
  const bool ends = spec.kind == WorkloadKind::Job && spec.measured && spec.measured->unit_time;
  if (!ends) return kNever - TimePoint{};
  return after(TimePoint{}, pod.units, spec.measured->unit_time->ns, 0) - TimePoint{};
}

std::int64_t EasyReservation::free_tickets(ResourceId resource) const {
  std::int64_t free = 0;
  for (const Node& node : cluster_.nodes) {
    if (!node.is_known() || !node.schedulable) continue;
    const std::vector<ResourceOffer>& offers = cluster_.pool(node).offers;
    for (std::size_t offer = 0; offer < offers.size(); ++offer) {
      if (offers[offer].id == resource) free += node.tickets_free[offer];
    }
  }
  return free;
}

void EasyReservation::make(const WorkloadModel& workload, TimePoint now) {
  if (!workload.resource) return;
  resource_ = workload.resource;
  const std::int64_t wanted = workload.tickets * workload.pods_per_job;
  std::int64_t free = free_tickets(*resource_);
  reserved_at_ = now;
  // At least one end: enough tickets may be free, but in the wrong places.
  bool any = false;
  for (const auto& [end, pod] : ends_) {
    const WorkloadModel& holder = cluster_.model(cluster_.pods[pod]);
    if (holder.resource != resource_) continue;
    if (any && free >= wanted && end > reserved_at_) break;
    free += holder.tickets;
    reserved_at_ = std::max(now, end);  // a job may outlast its estimate
    any = true;
  }
  spare_ = free - wanted;
}

bool EasyReservation::lets_by(std::uint32_t pod_index, TimePoint now) const {
  const Pod& pod = cluster_.pods[pod_index];
  const WorkloadModel& workload = cluster_.model(pod);
  if (!resource_ || workload.resource != resource_) return true;
  return workload.tickets * workload.pods_per_job <= spare_ || estimate(pod) <= reserved_at_ - now;
}

void EasyReservation::bound(std::uint32_t pod_index, TimePoint now) {
  const Pod& pod = cluster_.pods[pod_index];
  const WorkloadModel& workload = cluster_.model(pod);
  if (!workload.resource) return;
  const Duration length = estimate(pod);
  end_of_[pod_index] = length < kNever - now ? now + length : kNever;
  const End end{end_of_[pod_index], pod_index};
  ends_.insert(std::ranges::upper_bound(ends_, end), end);
  if (workload.resource == resource_ && end.first > reserved_at_) spare_ -= workload.tickets;
}

void EasyReservation::released(std::uint32_t pod) {
  if (!cluster_.model(cluster_.pods[pod]).resource) return;
  ends_.erase(std::ranges::lower_bound(ends_, End{end_of_[pod], pod}));
}

}  // namespace slicewise::sim
