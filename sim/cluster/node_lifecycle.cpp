#include <algorithm>
#include <cmath>

#include "cluster_run.hpp"
#include "entity_streams.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

// Karpenter takes a spot offering for exhausted for so long after an interruption.
// Source: karpenter-provider-aws, pkg/cache/cache.go, UnavailableOfferingsTTL.
constexpr Duration kOfferingUnavailable = minutes(3);

// A drained pod gets to end. Source: Kubernetes' default terminationGracePeriodSeconds.
constexpr Duration kPodsEnd = seconds(30);

// EC2 does not charge a spot instance that it takes back in its first hour.
// Source: Amazon EC2 User Guide, "Billing for interrupted Spot Instances".
constexpr Duration kFreeWhenTakenBack = hours(1);

// Without this label the Cluster Autoscaler takes a node that is Ready for one without GPUs as long
// as the device plugin has not come up. Source: cluster-autoscaler, cloudprovider/aws, GPULabel.
constexpr auto kAcceleratorLabel = "k8s.amazonaws.com/accelerator";

Duration from_ns(double ns) { return {std::llround(ns)}; }

}  // namespace

// Places for all nodes of all pools; the first ones are taken.
void ClusterRun::add_nodes() {
  record_.nodes.resize(cluster_.nodes.size());
  record_.domains.resize(cluster_.domains.size());
  record_.pools.resize(world_.pools.size());
  pools_.resize(world_.pools.size());
  pods_to_move_.resize(world_.workloads.size());
  const bool change = world_.changes_nodes();
  if (recorder_ != nullptr) recorder_->begin(cluster_);
  std::uint32_t n = 0;
  for (std::size_t p = 0; p < world_.pools.size(); ++p) {
    const PoolModel& pool = world_.pools[p];
    PoolProgress& progress = pools_[p];
    progress.first_node = n;
    progress.nodes = progress.billed = pool.nodes;
    progress.seen = pool.nodes > 0;
    progress.accelerator_label = pool.labels.contains(kAcceleratorLabel);
    record_.pools[p].most = pool.nodes;
    grows_ = grows_ || pool.most_nodes;
    for (int nth = 0; nth < pool.node_slots(); ++nth, ++n) {
      if (recorder_ != nullptr && nth < pool.nodes) recorder_->node_decided(cluster_, n);
      if (!change) continue;
      const std::uint32_t entity = entity_of(pool.name, static_cast<std::uint32_t>(nth));
      node_starts_.emplace_back(world_.seed, replication_, entity, Purpose::NodeStart);
      interruptions_.emplace_back(world_.seed, replication_, entity, Purpose::Interruption);
      if (nth < pool.nodes) {
        arm_interruption(n);
        continue;
      }
      Node& node = cluster_.nodes[n];
      node.stage = NodeStage::Absent;
      node.schedulable = false;
      std::ranges::fill(node.tickets_free, 0);
    }
  }
  for (std::size_t w = 0; w < world_.workloads.size(); ++w) packing_order_.push_back(w);
  std::ranges::stable_sort(packing_order_, [this](std::size_t a, std::size_t b) {
    const scenarios::PodTemplate& left = world_.workloads[a].spec.pod;
    const scenarios::PodTemplate& right = world_.workloads[b].spec.pod;
    if (left.cpu_request != right.cpu_request) return left.cpu_request > right.cpu_request;
    return left.memory_request > right.memory_request;
  });
  if (!grows_) return;
  if (world_.provisioner.kind == Provisioner::Kind::ClusterAutoscaler) {
    timers_.set(provisioner_timer_, now_ + world_.provisioner.scan_interval);
  } else {
    arm_removal();
  }
}

void ClusterRun::start_node(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  const PoolModel& pool = cluster_.pool(node);
  PoolProgress& progress = pools_[index(node.pool)];
  node.stage = NodeStage::Launching;
  node.life = {};
  node.life.decided = now_;
  node.life.started = true;
  node.life.on_demand = pool.spot && pool.spot->fallback && progress.interrupted &&
                        now_ < *progress.interrupted + kOfferingUnavailable;
  ++progress.nodes;
  if (recorder_ != nullptr) recorder_->node_decided(cluster_, n);
  timers_.set(first_node_timer_ + n, now_ + world_.provisioner.start_up.launch);
}

// Starts what a pool lacks to its fewest nodes, as long as there is a place.
void ClusterRun::keep_least_nodes(std::size_t p) {
  while (pools_[p].nodes < world_.pools[p].nodes) {
    const auto place = free_place(p);
    if (!place) return;
    start_node(*place);
  }
}

void ClusterRun::on_node_timer(std::uint32_t n) {
  switch (cluster_.nodes[n].stage) {
    case NodeStage::Launching:
      return launch_node(n);
    case NodeStage::Booting:
      return register_node(n);
    case NodeStage::Registered:
      return offer_gpus(n);
    case NodeStage::Draining:
      return end_node(n);
    case NodeStage::Absent:
    case NodeStage::Ready:
      return;
  }
}

void ClusterRun::launch_node(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  const scenarios::NodeStartUp& start_up = world_.provisioner.start_up;
  PoolProgress& progress = pools_[index(node.pool)];
  PoolRecord& record = record_.pools[index(node.pool)];
  node.stage = NodeStage::Booting;
  node.life.launched = now_;
  node.life.slowness = random_size(node_starts_[n], start_up.variation);
  std::ranges::fill(node.image_ready, kNever);
  ++record.launches;
  record.on_demand += node.life.on_demand ? 1 : 0;
  record.most = std::max(record.most, ++progress.billed);
  arm_interruption(n);
  timers_.set(first_node_timer_ + n,
              now_ + from_ns(static_cast<double>(start_up.ready.ns) * node.life.slowness));
}

// The node is Ready; its GPUs are not there yet.
void ClusterRun::register_node(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  const Duration gpus = world_.provisioner.start_up.gpu_allocatable;
  node.stage = NodeStage::Registered;
  node.schedulable = true;
  node.life.registered = now_;
  wake_scheduler();
  timers_.set(first_node_timer_ + n,
              now_ + from_ns(static_cast<double>(gpus.ns) * node.life.slowness));
}

void ClusterRun::offer_gpus(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  const PoolModel& pool = cluster_.pool(node);
  node.stage = NodeStage::Ready;
  node.life.allocatable = now_;
  node.life.changed = last_pod_change_ = now_;
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    node.tickets_free[offer] = pool.tickets_per_node(offer, node.layout);
  }
  pools_[index(node.pool)].seen = true;
  nodes_wanted_ = true;
  wake_scheduler();
}

// Every node draws the time that EC2 leaves it, so that the draws stay in step between variants.
void ClusterRun::arm_interruption(std::uint32_t n) {
  const auto& spot = cluster_.pool(cluster_.nodes[n]).spot;
  if (!spot) return;
  const double wait = interruptions_[n].exponential();
  if (spot->interruptions.per_second <= 0 || cluster_.nodes[n].life.on_demand) return;
  const double wait_ns = std::min(4e18, wait / spot->interruptions.per_second * 1e9);
  timers_.set(first_interruption_timer_ + n,
              now_ + nanoseconds(static_cast<std::int64_t>(wait_ns)));
}

// EC2 gives notice: pods are drained, and a node in place of this one is asked for at once.
// Karpenter ends the node when it is drained, others leave that to EC2.
void ClusterRun::on_interruption(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  if (node.stage == NodeStage::Draining) return;
  const std::size_t pool = index(node.pool);
  const Duration notice = world_.pools[pool].spot->notice;
  ++record_.pools[pool].interruptions;
  pools_[pool].interrupted = now_;
  const bool karpenter = world_.provisioner.kind == Provisioner::Kind::Karpenter;
  node.life.taken_back = !karpenter;
  if (recorder_ != nullptr) recorder_->node_drains(n, now_, RecordedNode::End::TakenBack);
  drain_node(n, karpenter ? Duration{} : notice, notice);
  keep_least_nodes(pool);
}

// The provisioner does without the node.
void ClusterRun::remove_node(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  PoolProgress& progress = pools_[index(node.pool)];
  const bool never_used = node.life.first_pod == kNever;
  const bool too_many = progress.surplus > 0 && (never_used || !is_empty(node));
  node.life.needless = node.life.started && (never_used || too_many);
  if (too_many) --progress.surplus;
  ++record_.pools[index(node.pool)].removed;
  if (recorder_ != nullptr) recorder_->node_drains(n, now_, RecordedNode::End::Removed);
  drain_node(n, {}, kPodsEnd);
}

// Cordons the node and evicts its pods. It ends after `least`; where it had pods, when they had
// their time to end, yet after `most` for sure.
void ClusterRun::drain_node(std::uint32_t n, Duration least, Duration most) {
  Node& node = cluster_.nodes[n];
  const Duration pods_end = is_empty(node) ? Duration{} : std::min(kPodsEnd, most);
  node.stage = NodeStage::Draining;
  node.schedulable = false;
  --pools_[index(node.pool)].nodes;
  for (std::uint32_t p = 0; p < cluster_.pods.size(); ++p) {
    const Pod& pod = cluster_.pods[p];
    if (is_bound(pod.phase) && index(pod.node) == n) evict(p);
  }
  timers_.clear(first_interruption_timer_ + n);
  timers_.set(first_node_timer_ + n, now_ + std::max(least, pods_end));
}

void ClusterRun::end_node(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  const std::size_t pool = index(node.pool);
  bill_node(n);
  node.stage = NodeStage::Absent;
  std::ranges::fill(node.tickets_free, 0);
  --pools_[pool].billed;
  keep_least_nodes(pool);
  nodes_wanted_ = true;
  wake_scheduler();
}

// What the node cost from its launch until now, and what its GPUs did meanwhile.
void ClusterRun::bill_node(std::uint32_t n) {
  Node& node = cluster_.nodes[n];
  const PoolModel& pool = cluster_.pool(node);
  NodeLife& life = node.life;
  const Duration billed = now_ - life.launched;
  shares_.clear();
  for (std::size_t layout = 0; layout < pool.layouts.size(); ++layout) {
    for (const DomainId domain : node.domains_under[layout]) {
      const double of_node =
          cluster_.kind(cluster_.domains[index(domain)]).time_share / pool.gpus_per_node;
      shares_.push_back({take_time(index(domain)), of_node});
    }
  }
  const bool started = node.stage == NodeStage::Ready || node.stage == NodeStage::Draining;
  TimePoint start_over = std::min(now_, life.first_pod);
  if (started && life.allocatable >= life.launched)
    start_over = std::min(start_over, life.allocatable);
  // A node without pods at the end of the run was not needed so far.
  const bool idle_to_the_end = node.stage == NodeStage::Ready && life.first_pod == kNever;
  const bool needless = life.started && (life.needless || idle_to_the_end);
  const bool free = life.taken_back && billed < kFreeWhenTakenBack;
  const UsdPerHour listed = life.on_demand ? pool.spot->fallback->usd : pool.price.usd;
  const UsdPerHour price = free ? UsdPerHour{} : listed;
  NodeRecord& record = record_.nodes[n];
  const CostLedger cost = node_cost({price, billed, start_over - life.launched, needless}, shares_);
  if (recorder_ != nullptr) recorder_->node_ends(node, n, now_, price, cost.total);
  record.cost += cost;
  record.up += billed;
  if (needless) record_.pools[index(node.pool)].thrash += billed;
}

// Where the domain's time went since it was taken last.
DomainTime ClusterRun::take_time(std::size_t d) {
  Domain& domain = cluster_.domains[d];
  account_cold(domain);
  // What a vGPU of EC2 gets done counts against the share of the time that is its own.
  const double owned = cluster_.kind(domain).owned_time;
  DomainTime time;
  time.useful = from_ns(domain.useful_ns / owned);
  time.late = from_ns(domain.late_ns / owned);
  time.failed = from_ns(domain.failed_ns / owned);
  time.switching = from_ns(domain.switch_ns / owned);
  time.cold_start = from_ns(domain.cold_ns);
  time.sm_active = from_ns(domain.sm_ns / owned);
  time.sm_known = domain.sm_known;
  with_engine(domain, [&](auto& engine) {
    engine.advance(now_);
    const Duration switching = engine.time().switching;
    time.switching = from_ns(static_cast<double>((switching - domain.switching_billed).ns) / owned);
    domain.switching_billed = switching;
  });
  domain.useful_ns = domain.late_ns = domain.failed_ns = 0;
  domain.switch_ns = domain.cold_ns = domain.sm_ns = 0;
  record_.domains[d].time += time;
  return time;
}

// The stages of the way of a pod that waited for its node.
void ClusterRun::record_start_up(const Pod& pod) {
  const NodeLife& life = cluster_.nodes[index(pod.node)].life;
  if (!life.started || life.allocatable < pod.queued || pod.restarts > 0) return;
  StartUpRecord& record = record_.start_up;
  TimePoint reached = pod.queued;
  const auto stage = [&](Duration& sum, TimePoint end) {
    end = std::clamp(end, reached, now_);
    sum += end - reached;
    reached = end;
  };
  stage(record.decision, life.decided);
  stage(record.launch, life.launched);
  stage(record.ready, std::min(life.registered, pod.bound));
  stage(record.gpu_allocatable, std::min(life.allocatable, pod.bound));
  stage(record.scheduling, pod.bound);
  stage(record.image_pull, pod.container_started);
  stage(record.model_load, now_);
  ++record.pods;
  record.total.push_back(now_ - pod.queued);
}

}  // namespace slicewise::sim
