#include "nos_partitioner.hpp"

#include <algorithm>
#include <numeric>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

// Of a pod whose batch is not ready, and of one that comes before the last plan is reported.
// Source: partitioner_controller.go, Reconcile, RequeueAfter.
constexpr Duration kNotReady = seconds(5);
constexpr Duration kNotReported = seconds(10);

// The most until the agent of a node that nothing changes on has reported the plan. Source:
// https://github.com/nebuly-ai/nos/blob/12e0a728/helm-charts/nos/values.yaml,
// migAgent.reportConfigIntervalSeconds.
constexpr Duration kReportInterval = seconds(10);

// The kind that tickets of the offer are of: with MIG devices by profile there is one.
std::size_t kind_of(const PoolModel& pool, std::size_t offer) {
  const auto kind = std::ranges::find_if(pool.kinds, [&](const DomainKind& one) {
    return find_or_null(one.tickets, offer, &Tickets::offer) != nullptr;
  });
  return static_cast<std::size_t>(kind - pool.kinds.begin());
}

// Whether instances find places beside those that are taken.
bool place(const std::vector<NodeLayout::Domain>& domains, std::vector<int>& wanted, int gpu,
           std::uint32_t taken, std::vector<std::size_t>& places) {
  const auto next = std::ranges::find_if(wanted, [](int count) { return count > 0; });
  if (next == wanted.end()) return true;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    const auto kind = static_cast<std::size_t>(next - wanted.begin());
    if (domains[d].gpu != gpu || domains[d].kind != kind || (domains[d].parts & taken) != 0) {
      continue;
    }
    places.push_back(d);
    --*next;
    if (place(domains, wanted, gpu, taken | domains[d].parts, places)) return true;
    places.pop_back();
    ++*next;
  }
  return false;
}

}  // namespace

NosPartitioner::NosPartitioner(RunState& run, Scheduler& scheduler)
    : run_(run),
      scheduler_(scheduler),
      made_(run.cluster.domains.size()),
      noticed_(run.cluster.pods.size(), kNever) {
  for (const Node& node : run.cluster.nodes) {
    const PoolModel& pool = run.cluster.pool(node);
    any_ = any_ || pool.nos;
    for (std::size_t d = 0; pool.nos && d < node.domains().size(); ++d) {
      made_[index(node.domains()[d])] = pool.layouts[0].domains[d].at_start;
    }
  }
}

bool NosPartitioner::is_helped(std::uint32_t pod) const {
  return run_.cluster.pods[pod].phase == PodPhase::Pending && !scheduler_.nominated().node_of(pod);
}

void NosPartitioner::notice_pending() {
  if (!any_) return;
  for (std::size_t w = 0; w < run_.world.workloads.size(); ++w) {
    scheduler_.queue().for_each_of(w, [&](std::uint32_t pod) {
      if (noticed_[pod] == run_.cluster.pods[pod].queued) return;
      noticed_[pod] = run_.cluster.pods[pod].queued;
      looks_.emplace(run_.now, pod);
    });
  }
  arm();
}

void NosPartitioner::arm() {
  TimePoint next = looks_.empty() ? kNever : looks_.top().first;
  for (const Change& change : changes_) next = std::min(next, change.done);
  if (next != kNever) run_.timers.set(TimerKind::Partitioner, 0, next);
}

void NosPartitioner::on_timer() {
  std::erase_if(changes_, [&](const Change& change) {
    if (change.done > run_.now) return false;
    end(change);
    return true;
  });
  while (!looks_.empty() && looks_.top().first <= run_.now) {
    const std::uint32_t pod = looks_.top().second;
    looks_.pop();
    look_at(pod);
  }
  arm();
}

// Nobody looks again at the pod that finds the batch ready, until it is of another one's.
void NosPartitioner::look_at(std::uint32_t pod) {
  if (!is_helped(pod)) {
    std::erase(batch_, pod);
    return;
  }
  if (run_.now < reported_) return looks_.emplace(run_.now + kNotReported, pod);
  const auto& windows = std::ranges::find_if(run_.world.pools, [](const PoolModel& pool) {
                          return pool.nos.has_value();
                        })->nos->windows;
  if (batch_.empty()) batch_began_ = run_.now;
  if (!contains(batch_, pod)) {
    batch_.push_back(pod);
    batch_ready_ = std::min(batch_began_ + windows.window_timeout, run_.now + windows.window_idle);
  }
  if (run_.now < batch_ready_) return looks_.emplace(run_.now + kNotReady, pod);
  batch_.clear();
  plan();
}

// Those of high priority first, then those that ask for small instances. Source: core/util.go,
// NewPodSorter; core/tracker.go.
std::vector<NosPartitioner::Candidate> NosPartitioner::candidates() const {
  std::vector<std::int64_t> free(run_.world.resources.size());
  for (const Node& node : run_.cluster.nodes) {
    const PoolModel& pool = run_.cluster.pool(node);
    for (std::size_t o = 0; pool.nos && o < pool.offers.size(); ++o) {
      free[index(pool.offers[o].id)] += node.tickets_free[o];
    }
  }
  const auto rank = [&](const Candidate& candidate) {
    const WorkloadModel& workload = run_.cluster.model(run_.cluster.pods[candidate.pod]);
    std::size_t p = 0;
    while (!run_.world.pools[p].nos || !workload.on_pool[p].offer) ++p;
    const PoolModel& pool = run_.world.pools[p];
    const double size = pool.kinds[kind_of(pool, *workload.on_pool[p].offer)].time_share;
    return std::pair{-workload.spec.priority, size};
  };
  std::vector<Candidate> out;
  for (std::uint32_t p = 0; p < run_.cluster.pods.size(); ++p) {
    if (!is_helped(p)) continue;
    const WorkloadModel& workload = run_.cluster.model(run_.cluster.pods[p]);
    bool asks = false;
    for (std::size_t pool = 0; pool < run_.world.pools.size(); ++pool) {
      asks = asks || (run_.world.pools[pool].nos && workload.on_pool[pool].offer);
    }
    if (!asks) continue;
    const std::int64_t lacks = workload.tickets - free[index(*workload.resource)];
    out.push_back({p, std::max<std::int64_t>(0, lacks)});
  }
  std::ranges::stable_sort(out, {}, rank);
  return out;
}

std::vector<NosPartitioner::Cut> NosPartitioner::cuts_of(const Node& node) const {
  const PoolModel& pool = run_.cluster.pool(node);
  const Counts none(pool.kinds.size());
  std::vector<Cut> cuts(static_cast<std::size_t>(pool.healthy_gpus()), {none, none});
  for (const DomainId id : node.domains()) {
    const Domain& domain = run_.cluster.domains[index(id)];
    if (!made_[index(id)]) continue;
    Cut& gpu = cuts[domain.gpu];
    ++(domain.allocated > 0 ? gpu.used : gpu.free)[domain.kind];
  }
  return cuts;
}

// Takes the geometry that gives most of what is required, the first of several; nos takes any.
// Source: pkg/gpu/mig/gpu.go, UpdateGeometryFor.
bool NosPartitioner::update(const NosModel& nos, Cut& gpu, const Counts& required) const {
  int most = 0;
  const Counts* best = nullptr;
  for (const Counts& geometry : nos.geometries) {
    if (!std::ranges::equal(gpu.used, geometry, std::less_equal())) continue;
    int given = 0;
    for (std::size_t k = 0; k < required.size(); ++k) {
      if (gpu.free[k] < required[k]) given += std::min(geometry[k] - gpu.used[k], required[k]);
    }
    if (given <= most) continue;
    most = given;
    best = &geometry;
  }
  if (best == nullptr) return false;
  std::ranges::transform(*best, gpu.used, gpu.free.begin(), std::minus());
  return true;
}

bool NosPartitioner::take_pods(const Node& node, const std::vector<Cut>& cuts,
                               std::vector<Candidate>& waiting) const {
  const PoolModel& pool = run_.cluster.pool(node);
  std::vector<std::int64_t> free(pool.kinds.size());
  for (const Cut& gpu : cuts) {
    for (std::size_t k = 0; k < free.size(); ++k) free[k] += gpu.free[k];
  }
  PodRoom room{node.pods_free, node.cpu_free.count, node.memory_free.count, 0};
  const auto goes = [&](const Candidate& candidate) {
    const Pod& pod = run_.cluster.pods[candidate.pod];
    const WorkloadModel& workload = run_.cluster.model(pod);
    const PoolDemand& demand = workload.on_pool[index(node.pool)];
    if (!demand.offer || !demand.schedulable) return false;
    if (!run_.cluster.has_quota_on(pod, node.pool)) return false;
    std::int64_t& tickets = free[kind_of(pool, *demand.offer)];
    room.tickets = tickets;
    if (room.holds(workload) < 1) return false;
    room -= {1, workload.spec.pod.cpu_request.count, workload.spec.pod.memory_request.count, 0};
    tickets -= workload.tickets;
    return true;
  };
  return std::erase_if(waiting, goes) > 0;
}

// Node after node, while all of them together lack instances. Source: core/planner.go, Plan.
void NosPartitioner::plan() {
  std::vector<Candidate> waiting = candidates();
  std::vector<std::pair<std::uint32_t, std::vector<Cut>>> targets;
  std::size_t nodes = 0;  // with an agent
  for (std::uint32_t n = 0; n < run_.cluster.nodes.size(); ++n) {
    const Node& node = run_.cluster.nodes[n];
    const PoolModel& pool = run_.cluster.pool(node);
    if (!pool.nos) continue;
    ++nodes;
    std::vector<std::int64_t> lacking(run_.world.resources.size());
    for (const Candidate& one : waiting) {
      lacking[index(*run_.cluster.model(run_.cluster.pods[one.pod]).resource)] += one.lacks;
    }
    if (std::ranges::count(lacking, 0) == std::ssize(lacking)) continue;
    std::vector<Cut> cuts = cuts_of(node);
    const bool has_room = std::ranges::any_of(cuts, [&](const Cut& gpu) {
      Counts all = gpu.used;
      std::ranges::transform(all, gpu.free, all.begin(), std::plus());
      return std::ranges::count(gpu.free, 0) < std::ssize(gpu.free) ||
             !contains(pool.nos->geometries, all);
    });
    if (!has_room) continue;
    Counts required;
    for (std::size_t k = 0; k < pool.kinds.size(); ++k) {
      const std::size_t offer = pool.kinds[k].tickets.front().offer;
      required.push_back(static_cast<int>(lacking[index(pool.offers[offer].id)]));
    }
    bool anew = false;
    for (Cut& gpu : cuts) {
      anew = update(*pool.nos, gpu, required) || anew;
      for (std::size_t k = 0; k < required.size(); ++k) {
        required[k] = std::max(0, required[k] - gpu.free[k]);
      }
    }
    if (take_pods(node, cuts, waiting) && anew) targets.emplace_back(n, std::move(cuts));
  }
  if (targets.empty()) return;
  if (targets.size() < nodes) reported_ = run_.now + kReportInterval;
  for (const auto& [node, cuts] : targets) begin(node, cuts);
}

// The free instances of a GPU that is cut anew go; none of the node is offered until its device
// plugin has started again.
void NosPartitioner::begin(std::uint32_t n, const std::vector<Cut>& target) {
  Node& node = run_.cluster.nodes[n];
  const std::vector<Cut> cuts = cuts_of(node);
  Change change{n, std::vector<Counts>(cuts.size()), run_.now};
  for (std::size_t gpu = 0; gpu < cuts.size(); ++gpu) {
    if (cuts[gpu].free != target[gpu].free) change.free[gpu] = target[gpu].free;
  }
  for (const DomainId id : node.domains()) {
    Domain& domain = run_.cluster.domains[index(id)];
    if (domain.allocated > 0) continue;
    if (!change.free[domain.gpu].empty()) made_[index(id)] = false;
    std::ranges::fill(domain.tickets_free, 0);
  }
  count_tickets(run_.cluster, node);
  const scenarios::MigChangeTimes& times = run_.cluster.pool(node).change_times;
  change.done = run_.now + times.destroy + times.create + times.plugin_restart;
  reported_ = std::max(reported_, change.done);
  changes_.push_back(std::move(change));
}

// Of a GPU where those in use leave no place for all, none is made. Source: pkg/gpu/nvml/client.go,
// CreateMigDevices, which tries one order after the other.
void NosPartitioner::end(const Change& change) {
  Node& node = run_.cluster.nodes[change.node];
  const auto& places = run_.cluster.pool(node).layouts[0].domains;
  for (std::size_t gpu = 0; gpu < change.free.size(); ++gpu) {
    std::uint32_t taken = 0;
    for (std::size_t d = 0; d < places.size(); ++d) {
      const bool here = places[d].gpu == static_cast<int>(gpu);
      if (here && made_[index(node.domains()[d])]) taken |= places[d].parts;
    }
    Counts wanted = change.free[gpu];
    std::vector<std::size_t> found;
    if (!place(places, wanted, static_cast<int>(gpu), taken, found)) continue;
    for (const std::size_t d : found) made_[index(node.domains()[d])] = true;
  }
  for (const DomainId id : node.domains()) {
    Domain& domain = run_.cluster.domains[index(id)];
    if (domain.allocated == 0 && made_[index(id)]) std::ranges::fill(domain.tickets_free, 1);
  }
  count_tickets(run_.cluster, node);
  scheduler_.nodes_changed();
  run_.wake_scheduler();
}

}  // namespace slicewise::sim
