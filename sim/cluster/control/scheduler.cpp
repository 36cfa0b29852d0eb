#include "scheduler.hpp"

#include <algorithm>

#include "preemption.hpp"

namespace slicewise::sim {
namespace {

// What keeps pods of the workload off every node of the pool.
std::optional<RejectCause> static_reject(const PoolModel& pool, const WorkloadModel& workload) {
  if (has_untolerated_taint(pool, workload.spec.pod)) return RejectCause::Taint;
  if (!matches_selector(pool, workload.spec.pod)) return RejectCause::NodeSelector;
  return std::nullopt;
}

// Where the tickets that the workload asks for stand in the domain's counts.
std::optional<std::size_t> ticket_position(const ClusterState& cluster, const Domain& domain,
                                           const WorkloadModel& workload) {
  const Tickets* tickets = cluster.tickets(domain, workload);
  if (tickets == nullptr) return std::nullopt;
  return static_cast<std::size_t>(tickets - cluster.kind(domain).tickets.data());
}

// Whether pods of the workload have parts of the node's GPUs, by the books of HAMi or KAI.
bool by_part(const ClusterState& cluster, const Node& node, const WorkloadModel& workload) {
  return workload.resource && cluster.pool(node).books;
}

// GPUs of the node that a pod of the workload may have, as a set.
GpuMask free_gpus(const ClusterState& cluster, const Node& node, const WorkloadModel& workload) {
  GpuMask free = 0;
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster.domains[index(id)];
    const auto position = ticket_position(cluster, domain, workload);
    if (position && domain.tickets_free[*position] > 0) free |= GpuMask{1} << domain.gpu;
  }
  return free;
}

// The domain that a pod without a ticket opens.
DomainId visible_domain(const ClusterState& cluster, const Node& node, int gpu) {
  for (const DomainId id : node.domains()) {
    if (cluster.domains[index(id)].gpu == static_cast<std::uint32_t>(gpu)) return id;
  }
  return node.domains().front();
}

// Whether other pods of the workload may fit where one does not: their quotas are of other pools.
// Those of a strict queue wait for it all the same.
bool others_may_fit(const World& world, const WorkloadModel& workload) {
  return workload.queued && !workload.queued->is_in_one_place &&
         world.pod_queue == PodQueue::Backfill;
}

// Of a node's room for others, most of the time: a PodRoom that the compiler knows.
struct NothingKept {
  int pods = 0;
  int cpu = 0;
  int memory = 0;
  int tickets = 0;
};

// Cordoned for a change of its layout that never comes: all others have been.
bool waits_for_good(const PoolModel& pool, const Node& node) {
  return !pool.layout_changes.empty() && !node.schedulable &&
         node.next_change == pool.layout_changes.size();
}

RejectCause cause_of(PodCompany::Refusal refusal) {
  switch (refusal) {
    case PodCompany::Refusal::Affinity:
      return RejectCause::Affinity;
    case PodCompany::Refusal::AntiAffinity:
      return RejectCause::AntiAffinity;
    case PodCompany::Refusal::ExistingAntiAffinity:
      return RejectCause::ExistingAntiAffinity;
    case PodCompany::Refusal::Spread:
      return RejectCause::Spread;
    case PodCompany::Refusal::SpreadLabel:
      return RejectCause::SpreadLabel;
  }
  return RejectCause::Affinity;
}

// What the node's company would be with those whose places are kept there.
void count_nominees(ClusterState& cluster, const Nominations& nominated, std::uint32_t node,
                    std::uint32_t pod, std::int64_t change) {
  nominated.for_each_kept(node, pod, [&](std::uint32_t other) {
    cluster.company.count(node, index(cluster.pods[other].workload), change);
  });
}

}  // namespace

DomainId choose_domain(const ClusterState& cluster, const Node& node, const WorkloadModel& workload,
                       std::span<const DomainId> taken, RandomStream& random) {
  const PoolModel& pool = cluster.pool(node);
  const bool packed = pool.allocation == scenarios::AllocationPolicy::Packed;
  const bool shared = pool.offers[*workload.on_pool[index(node.pool)].offer].shared;
  DomainId best{};
  std::pair<int, std::ptrdiff_t> best_rank;  // the lowest
  std::uint32_t ties = 0;
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster.domains[index(id)];
    const auto position = ticket_position(cluster, domain, workload);
    if (!position || domain.tickets_free[*position] == 0) continue;
    const std::pair rank{packed ? -domain.allocated : domain.allocated,
                         std::ranges::count(taken, id)};
    if (ties == 0 || rank < best_rank) {
      best = id;
      best_rank = rank;
      ties = 1;
    } else if (shared && rank == best_rank && random.below(++ties) == 0) {
      best = id;
    }
  }
  return best;
}

Scheduler::Scheduler(ClusterState& cluster, std::uint64_t seed, std::uint32_t replication,
                     Preemption& preemption)
    : cluster_(cluster),
      preemption_(preemption),
      ties_(seed, replication, 0, Purpose::ScheduleTie),
      placement_(seed, replication, 0, Purpose::Placement),
      scores_(cluster),
      claims_(cluster),
      parts_(cluster),
      queue_(cluster),
      nominated_(cluster),
      any_parts_(std::ranges::any_of(cluster.world->pools,
                                     [](const PoolModel& pool) { return pool.books.has_value(); })),
      changes_nodes_(cluster.world->changes_nodes()) {
  if (cluster.world->pod_queue == PodQueue::Easy) easy_.emplace(cluster);
  if (const auto policy = cluster.world->placement) policy_.emplace(cluster, *policy, seed);
  for (const WorkloadModel& workload : cluster.world->workloads) {
    for (const PoolModel& pool : cluster.world->pools) {
      kept_off_.push_back(static_reject(pool, workload));
    }
  }
  bound_.reserve(cluster.pods.size());
  feasible_.reserve(cluster.nodes.size());
  scratch_.nodes_by_cause.resize(kResourceCause + cluster.world->resources.size());
}

void Scheduler::add(std::uint32_t pod, TimePoint now) {
  if (cluster_.first_of_job(pod) == pod) queue_.add(pod, now);
}

std::vector<std::pair<PoolMask, std::int64_t>> Scheduler::pods_pending(std::size_t w) const {
  const WorkloadModel& workload = cluster_.world->workloads[w];
  if (!workload.queued) {
    const auto jobs = static_cast<std::int64_t>(queue_.jobs_of(w));
    return {{kAnyPool, jobs * workload.pods_per_job - nominated_.pods_of(w)}};
  }
  std::vector<std::pair<PoolMask, std::int64_t>> all;
  queue_.for_each_of(w, [&](std::uint32_t pod) {
    if (nominated_.node_of(pod)) return;
    const PoolMask pools = cluster_.pods[pod].pools;
    auto known = std::ranges::find(all, pools, [](const auto& one) { return one.first; });
    if (known == all.end()) known = all.insert(all.end(), {pools, 0});
    known->second += workload.pods_per_job;
  });
  return all;
}

void Scheduler::withdraw(std::uint32_t pod) {
  nominated_.clear(pod);
  queue_.withdraw(pod);
}

// Filters as kube-scheduler does: taints, selectors and ports stop at the first, NodeResourcesFit
// counts every resource that is short, PodTopologySpread and InterPodAffinity look at what is left,
// and then DynamicResources.
template <class Kept>
bool Scheduler::fits(const Node& node, std::size_t w, const Kept& kept) {
  const WorkloadModel& workload = cluster_.world->workloads[w];
  const auto rejected = node.schedulable
                            ? kept_off_[w * cluster_.world->pools.size() + index(node.pool)]
                            : RejectCause::Unschedulable;
  if (rejected) {
    ++scratch_.nodes_by_cause[static_cast<std::size_t>(*rejected)];
    return false;
  }
  const auto n = static_cast<std::size_t>(&node - cluster_.nodes.data());
  if (cluster_.company.lacks_port(n, w)) {
    ++scratch_.nodes_by_cause[static_cast<std::size_t>(RejectCause::HostPorts)];
    return false;
  }
  bool fits = true;
  const auto require = [&](bool enough, std::size_t cause) {
    if (enough) return;
    ++scratch_.nodes_by_cause[cause];
    fits = false;
  };
  const PodTemplate& pod = workload.spec.pod;
  require(node.pods_free - kept.pods >= 1, static_cast<std::size_t>(RejectCause::TooManyPods));
  // As kube-scheduler: what a pod does not ask for it is not refused for.
  const auto has = [](std::int64_t free, std::int64_t asked) {
    return asked <= 0 || free >= asked;
  };
  require(has(node.cpu_free.count - kept.cpu, pod.cpu_request.count),
          static_cast<std::size_t>(RejectCause::Cpu));
  require(has(node.memory_free.count - kept.memory, pod.memory_request.count),
          static_cast<std::size_t>(RejectCause::Memory));
  if (workload.resource && !workload.by_claim && !by_part(cluster_, node, workload)) {
    const auto offer = workload.on_pool[index(node.pool)].offer;
    require(offer && node.tickets_free[*offer] - kept.tickets >= workload.tickets,
            kResourceCause + index(*workload.resource));
  }
  return fits;
}

bool Scheduler::fits_company(std::uint32_t node, std::size_t w) {
  if (!cluster_.company.any()) return true;
  const auto refusal = cluster_.company.reject(node, w);
  if (!refusal) return true;
  const RejectCause cause = cause_of(*refusal);
  ++scratch_.nodes_by_cause[static_cast<std::size_t>(cause)];
  return false;
}

bool Scheduler::has_devices(std::uint32_t n, std::size_t w) {
  const WorkloadModel& workload = cluster_.world->workloads[w];
  const bool is_part = by_part(cluster_, cluster_.nodes[n], workload);
  if (!workload.by_claim && !is_part) return true;
  const auto cause = is_part ? parts_.reject(n, w) : claims_.reject(n, w);
  if (cause) ++scratch_.nodes_by_cause[static_cast<std::size_t>(*cause)];
  return !cause;
}

std::optional<std::uint32_t> Scheduler::choose_node(std::uint32_t pod) {
  const std::size_t w = index(cluster_.pods[pod].workload);
  const WorkloadModel& workload = cluster_.world->workloads[w];
  scratch_.nodes = 0;
  for (std::uint32_t n = 0; cluster_.company.reaches(w) && n < cluster_.nodes.size(); ++n) {
    cluster_.company.set_there(n, cluster_.nodes[n].is_known());
  }
  const bool any_kept = !nominated_.empty();
  const auto suits = [&](std::uint32_t n) {
    const Node& node = cluster_.nodes[n];
    if (!cluster_.has_quota_on(cluster_.pods[pod], node.pool)) {
      ++scratch_.nodes_by_cause[static_cast<std::size_t>(RejectCause::NodeSelector)];
      return false;
    }
    // Who is there already is asked no more: "IgnoredDuringExecution".
    const auto suits_company = [&] { return nominated_.is_there(pod, n) || fits_company(n, w); };
    // Nominees count as if they were there, for every filter.
    const bool has_company = any_kept && cluster_.company.any();
    if (has_company) count_nominees(cluster_, nominated_, n, pod, 1);
    const bool fit =
        (any_kept ? fits(node, w, nominated_.kept(n, pod)) : fits(node, w, NothingKept{})) &&
        suits_company();
    if (has_company) count_nominees(cluster_, nominated_, n, pod, -1);
    // Who wants company has to have it without those that may still go elsewhere, too.
    return fit && (!has_company || suits_company()) && has_devices(n, w);
  };
  if (const auto node = nominated_.node_of(pod)) {
    if (cluster_.nodes[*node].is_known() && suits(*node)) return node;
  }
  std::ranges::fill(scratch_.nodes_by_cause, 0U);
  std::optional<std::uint32_t> best;
  std::int64_t best_score = 0;
  std::uint32_t ties = 0;
  const bool chance_breaks_ties = !policy_ || policy_->is_random();
  const auto consider = [&](std::uint32_t n, std::int64_t score) {
    if (!best || score > best_score) {
      best = n;
      best_score = score;
      ties = 1;
    } else if (score == best_score && chance_breaks_ties && ties_.below(++ties) == 0) {
      best = n;
    }
  };
  const bool compares = !policy_ && !any_parts_ && scores_.compares(w);
  feasible_.clear();
  for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n) {
    if (!cluster_.nodes[n].is_known()) continue;
    ++scratch_.nodes;
    if (!suits(n)) continue;
    const Node& node = cluster_.nodes[n];
    const std::int64_t score = policy_                             ? policy_->of(n, w)
                               : by_part(cluster_, node, workload) ? parts_.score(n, w)
                                                                   : scores_.of(node, w);
    compares ? feasible_.push_back({n, score}) : consider(n, score);
  }
  if (compares) scores_.compare(feasible_, w);
  for (const NodeScores::Candidate& one : feasible_) consider(one.node, one.score);
  return best;
}

void Scheduler::bind(std::uint32_t pod_index, NodeId node_id, TimePoint now) {
  Pod& pod = cluster_.pods[pod_index];
  Node& node = cluster_.nodes[index(node_id)];
  const WorkloadModel& workload = cluster_.model(pod);
  pod.node = node_id;
  node.cpu_free = node.cpu_free - workload.spec.pod.cpu_request;
  node.memory_free -= workload.spec.pod.memory_request;
  node.scored_cpu_free = node.scored_cpu_free - scored_cpu(workload.spec.pod.cpu_request);
  node.scored_memory_free -= scored_memory(workload.spec.pod.memory_request);
  --node.pods_free;
  cluster_.company.count(index(node_id), index(pod.workload), 1);
  pod.tickets.clear();
  pod.ranks.clear();
  if (workload.by_claim) {
    claims_.take(pod);
  } else if (by_part(cluster_, node, workload)) {
    parts_.take(pod);
  } else if (workload.resource) {
    node.tickets_free[*workload.on_pool[index(node.pool)].offer] -= workload.tickets;
    take_tickets(pod, node, workload);
  }
  if (workload.spec.uses_gpu()) {
    pod.domain = workload.resource ? pod.tickets.front()
                                   : visible_domain(cluster_, node, workload.visible_gpu);
    pod.context = take_context(pod_index, pod.domain);
  } else {
    pod.domain = kNoDomain;
    node.without_gpu.push_back(pod_index);
  }
  scores_.bound(pod_index);
  if (policy_) policy_->bound(pod_index);
  if (easy_) easy_->bound(pod_index, now);
  if (workload.on_pool[index(node.pool)].gpus == 1) return;
  for (auto ticket = pod.tickets.begin() + 1; ticket != pod.tickets.end(); ++ticket) {
    const bool is_replica = std::find(pod.tickets.begin(), ticket, *ticket) != ticket;
    if (!is_replica) pod.ranks.push_back({*ticket, take_context(pod_index, *ticket)});
  }
}

// Whole GPUs all at once, by what lies between them; replicas and MIG devices one after the other.
void Scheduler::take_tickets(Pod& pod, const Node& node, const WorkloadModel& workload) {
  const auto take = [&](DomainId id) {
    Domain& domain = cluster_.domains[index(id)];
    --domain.tickets_free[*ticket_position(cluster_, domain, workload)];
    ++domain.allocated;
    pod.tickets.push_back(id);
  };
  const PoolDemand& demand = workload.on_pool[index(node.pool)];
  if (demand.gpus == 1 || demand.shares_several) {
    for (std::int64_t n = 0; n < workload.tickets; ++n) {
      take(choose_domain(cluster_, node, workload, pod.tickets, placement_));
    }
    return;
  }
  const GpuMask free = free_gpus(cluster_, node, workload);
  const auto count = static_cast<int>(workload.tickets);
  const GpuMask chosen = cluster_.pool(node).gpu_sets.choose(free, count);
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster_.domains[index(id)];
    if ((chosen >> domain.gpu & 1U) != 0 && ticket_position(cluster_, domain, workload)) take(id);
  }
}

// A place for the pod's processes in a domain.
std::uint32_t Scheduler::take_context(std::uint32_t pod, DomainId id) {
  Domain& domain = cluster_.domains[index(id)];
  const auto free_context = std::ranges::find(domain.owner, kNoOwner);
  *free_context = pod;
  return static_cast<std::uint32_t>(free_context - domain.owner.begin());
}

namespace {

void give_tickets_back(ClusterState& cluster, const Pod& pod, const WorkloadModel& workload) {
  for (const DomainId id : pod.tickets) {
    Domain& domain = cluster.domains[index(id)];
    ++domain.tickets_free[*ticket_position(cluster, domain, workload)];
    --domain.allocated;
  }
}

}  // namespace

void Scheduler::release(std::uint32_t pod) {
  queue_.freed();
  give_back(pod);
}

void Scheduler::give_back(std::uint32_t pod_index) {
  Pod& pod = cluster_.pods[pod_index];
  scores_.released(pod_index);
  if (policy_) policy_->released(pod_index);
  if (easy_) easy_->released(pod_index);
  Node& node = cluster_.nodes[index(pod.node)];
  const WorkloadModel& workload = cluster_.model(pod);
  node.cpu_free = node.cpu_free + workload.spec.pod.cpu_request;
  node.memory_free += workload.spec.pod.memory_request;
  node.scored_cpu_free = node.scored_cpu_free + scored_cpu(workload.spec.pod.cpu_request);
  node.scored_memory_free += scored_memory(workload.spec.pod.memory_request);
  ++node.pods_free;
  cluster_.company.count(index(pod.node), index(pod.workload), -1);
  std::erase(node.without_gpu, pod_index);
  if (workload.by_claim) {
    claims_.give_back(pod);
  } else if (by_part(cluster_, node, workload)) {
    parts_.give_back(pod);
  } else if (workload.resource) {
    node.tickets_free[*workload.on_pool[index(node.pool)].offer] += workload.tickets;
    give_tickets_back(cluster_, pod, workload);
  }
  pod.tickets.clear();
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context) {
    cluster_.domains[index(domain)].owner[context] = kNoOwner;
  });
  pod.ranks.clear();
}

void Scheduler::record_reason() {
  // Where nodes come and go, the same causes come with many numbers of nodes: one of them tells.
  const auto is_known = [this](const PendingReason& other) {
    if (!changes_nodes_) return other == scratch_;
    return std::ranges::equal(other.nodes_by_cause, scratch_.nodes_by_cause,
                              [](std::uint32_t a, std::uint32_t b) { return (a > 0) == (b > 0); });
  };
  if (std::ranges::none_of(reasons_, is_known)) reasons_.push_back(scratch_);
}

// Whether all nodes together have room for a gang of the workload: its pods ask for the same.
bool Scheduler::holds_gang(std::uint32_t pod) {
  const std::size_t w = index(cluster_.pods[pod].workload);
  const WorkloadModel& workload = cluster_.world->workloads[w];
  std::int64_t room = 0;
  return std::ranges::any_of(cluster_.nodes, [&](const Node& node) {
    const std::size_t at = w * cluster_.world->pools.size() + index(node.pool);
    const auto offer = workload.on_pool[index(node.pool)].offer;
    if (!node.is_known() || !node.schedulable || kept_off_[at]) return false;
    if (!cluster_.has_quota_on(cluster_.pods[pod], node.pool)) return false;
    if (workload.resource && !offer) return false;
    PodRoom free{node.pods_free, node.cpu_free.count, node.memory_free.count,
                 offer ? node.tickets_free[*offer] : 0};
    const auto n = static_cast<std::uint32_t>(&node - cluster_.nodes.data());
    if (!nominated_.empty()) free -= nominated_.kept(n, pod);
    const bool has_company = cluster_.company.any();
    if (has_company) count_nominees(cluster_, nominated_, n, pod, 1);
    room += cluster_.company.room(n, w, free.holds(workload));
    if (has_company) count_nominees(cluster_, nominated_, n, pod, -1);
    return room >= workload.pods_per_job;
  });
}

// All pods of the job that `pod` is the first of, or none.
bool Scheduler::place(std::uint32_t pod, std::size_t w, TimePoint now) {
  const int pods = cluster_.world->workloads[w].pods_per_job;
  auto node = choose_node(pod);
  if (!node || (pods > 1 && !holds_gang(pod))) return false;
  const auto kept = nominated_.node_of(pod);
  const std::uint32_t first = pod;
  for (const std::uint32_t end = pod + static_cast<std::uint32_t>(pods);; node = choose_node(pod)) {
    // holds_gang() has counted the places, but not whom they leave without company.
    if (!node) {
      bound_.resize(bound_.size() - (pod - first));
      while (pod-- > first) give_back(pod);
      return false;
    }
    bind(pod, make_id<NodeId>(*node), now);
    bound_.push_back(pod);
    if (nominated_.clear(pod) && kept != node) queue_.freed();
    if (++pod == end) break;
  }
  for (const std::size_t waits : cluster_.company.woken_by(w)) queue_.may_fit(waits);
  return true;
}

bool Scheduler::cycle(TimePoint now) {
  bound_.clear();
  queue_.begin_cycle();
  if (easy_) easy_->begin_cycle();
  while (const auto candidate = queue_.next(now)) {
    const std::uint32_t pod_index = queue_.pod(*candidate);
    if (easy_ && !easy_->lets_by(pod_index, now)) {
      queue_.pass_over(*candidate);
      continue;
    }
    if (place(pod_index, candidate->workload, now)) {
      queue_.take(*candidate);
    } else if (const auto node = preemption_.nominate(pod_index)) {
      const bool waited = nominated_.node_of(pod_index) == node;
      if (!waited && nominated_.set({pod_index, *node})) queue_.freed();
      queue_.turn_down(*candidate, true);
      record_reason();
    } else if (!preemption_.make_room_for(pod_index)) {
      if (nominated_.clear(pod_index)) queue_.freed();
      const WorkloadModel& workload = cluster_.world->workloads[candidate->workload];
      queue_.turn_down(*candidate, others_may_fit(*cluster_.world, workload));
      record_reason();
      // Who fits nowhere for good holds up nobody.
      const bool is_next = easy_ && !easy_->is_made();
      if (is_next && fits_empty_node(cluster_.pods[pod_index])) easy_->make(workload, now);
    }
  }
  return queue_.end_cycle(now);
}

std::int64_t Scheduler::on_empty(const Node& node, const WorkloadModel& workload) const {
  const PoolModel& pool = cluster_.pool(node);
  if (!workload.on_pool[index(node.pool)].schedulable) return 0;
  if (waits_for_good(pool, node)) return 0;
  if (workload.queued && !workload.queued->has_pool(index(node.pool))) return 0;
  PodRoom empty{pool.max_pods, pool.allocatable_cpu.count, pool.allocatable_memory.count, 0};
  if (workload.resource) {
    const auto offer = workload.on_pool[index(node.pool)].offer;
    empty.tickets = pool.tickets_per_node(*offer, node.layout);
    for (std::size_t c = node.next_change; c < pool.layout_changes.size(); ++c) {
      empty.tickets =
          std::max(empty.tickets, pool.tickets_per_node(*offer, pool.layout_changes[c].layout));
    }
    if (!node.is_known()) empty.tickets = pool.offers[*offer].expected_per_node;
  }
  const auto w = static_cast<std::size_t>(&workload - cluster_.world->workloads.data());
  return cluster_.company.on_empty(index(node.pool), w, empty.holds(workload));
}

bool Scheduler::fits_empty_node(const Pod& pod) const {
  const WorkloadModel& workload = cluster_.model(pod);
  std::int64_t room = 0;
  return std::ranges::any_of(cluster_.nodes, [&](const Node& node) {
    if (!cluster_.has_quota_on(pod, node.pool)) return false;
    room += on_empty(node, workload);
    return room >= workload.pods_per_job;
  });
}

}  // namespace slicewise::sim
