#include "node_lives.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/sim/kernel/far_times.hpp"

#include "../../world/capacity_block.hpp"
#include "../control/pod_life.hpp"
#include "../control/terminations.hpp"
#include "../entity_streams.hpp"
#include "../record/recorder.hpp"

namespace slicewise::sim {
namespace {

// Karpenter takes a spot offering for exhausted for so long after an interruption.
// Source: karpenter-provider-aws, pkg/cache/cache.go, UnavailableOfferingsTTL.
constexpr Duration kOfferingUnavailable = minutes(3);

// EC2 does not charge a spot instance that it takes back in its first hour.
// Source: Amazon EC2 User Guide, "Billing for interrupted Spot Instances".
constexpr Duration kFreeWhenTakenBack = hours(1);

}  // namespace

UsdPerHour hourly_price(const PoolModel& pool, bool on_demand) {
  return on_demand ? pool.spot->fallback->usd : pool.price.usd;
}

// Places for all nodes of all pools; the first ones are taken.
NodeLives::NodeLives(RunState& run, Usage& usage, PodLife& pods)
    : run_(run), usage_(usage), rooms_(run.cluster), pods_(pods), pools_(run.world.pools.size()) {
  const bool change = run.world.changes_nodes();
  if (run.recorder != nullptr) run.recorder->begin(run.cluster);
  std::uint32_t n = 0;
  for (std::size_t p = 0; p < run.world.pools.size(); ++p) {
    const PoolModel& pool = run.world.pools[p];
    PoolProgress& progress = pools_[p];
    progress.first_node = n;
    progress.nodes = progress.billed = pool.nodes;
    progress.seen = pool.nodes > 0;
    // Without it the Cluster Autoscaler takes a node that is Ready for one without GPUs as long as
    // the device plugin has not come up. Source: cluster-autoscaler, cloudprovider/aws, GPULabel.
    progress.accelerator_label = pool.labels.contains(std::string(scenarios::kAcceleratorLabel));
    run.record.pools[p].most = pool.nodes;
    for (int nth = 0; nth < pool.node_slots(); ++nth, ++n) {
      if (run.recorder != nullptr && nth < pool.nodes)
        run.recorder->nodes().decided(run.cluster, n);
      if (!change) continue;
      const std::uint32_t entity = entity_of(pool.name, static_cast<std::uint32_t>(nth));
      starts_.emplace_back(run.world.seed, run.replication, entity, Purpose::NodeStart);
      interruptions_.emplace_back(run.world.seed, run.replication, entity, Purpose::Interruption);
      if (nth < pool.nodes) {
        arm_interruption(n);
        continue;
      }
      Node& node = run.cluster.nodes[n];
      node.stage = NodeStage::Absent;
      node.schedulable = false;
      std::ranges::fill(node.tickets_free, 0);
    }
  }
}

std::optional<std::uint32_t> NodeLives::free_place(std::size_t pool) const {
  const auto places = static_cast<std::uint32_t>(run_.world.pools[pool].node_slots());
  for (std::uint32_t n = pools_[pool].first_node; n < pools_[pool].first_node + places; ++n) {
    if (run_.cluster.nodes[n].stage == NodeStage::Absent && !rooms_.is_open(n)) return n;
  }
  return std::nullopt;
}

void NodeLives::add_surplus(std::size_t pool, std::int64_t nodes) {
  pools_[pool].surplus += nodes;
  run_.record.pools[pool].surplus += nodes;
}

bool NodeLives::falls_back(std::size_t pool) const {
  const auto& spot = run_.world.pools[pool].spot;
  const auto& interrupted = pools_[pool].interrupted;
  return spot && spot->fallback && interrupted && run_.now < *interrupted + kOfferingUnavailable;
}

void NodeLives::start(std::uint32_t n, TimePoint asked) {
  Node& node = run_.cluster.nodes[n];
  PoolProgress& progress = pools_[index(node.pool)];
  node.stage = NodeStage::Launching;
  node.life = {};
  node.life.asked = asked;
  node.life.decided = run_.now;
  node.life.started = true;
  node.life.on_demand = falls_back(index(node.pool));
  ++progress.nodes;
  if (run_.recorder != nullptr) run_.recorder->nodes().decided(run_.cluster, n);
  run_.timers.set(TimerKind::Node, n, run_.now + run_.world.provisioner.start_up.launch);
}

// Starts what a pool lacks to its fewest nodes, as long as there is a place.
void NodeLives::keep_least(std::size_t p) {
  while (pools_[p].nodes < run_.world.pools[p].nodes) {
    const auto place = free_place(p);
    if (!place) return;
    start(*place, run_.now);
    run_.cluster.nodes[*place].life.of_least = true;
  }
}

void NodeLives::on_timer(std::uint32_t n) {
  switch (run_.cluster.nodes[n].stage) {
    case NodeStage::Launching:
      return launch(n);
    case NodeStage::Booting:
      return enroll(n);
    case NodeStage::Registered:
      return offer_gpus(n);
    case NodeStage::Draining:
      return is_over(run_.cluster.nodes[n]) ? end(n) : drain(n);
    case NodeStage::Absent:
    case NodeStage::Ready:
      return;
  }
}

// Of a node that drains: its pods are gone, or EC2 takes it.
bool NodeLives::is_over(const Node& node) const {
  return run_.cluster.is_empty(node) || run_.now >= node.life.taken_at;
}

void NodeLives::launch(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  const scenarios::NodeStartUp& start_up = run_.world.provisioner.start_up;
  PoolProgress& progress = pools_[index(node.pool)];
  PoolRecord& record = run_.record.pools[index(node.pool)];
  node.stage = NodeStage::Booting;
  node.life.launched = run_.now;
  node.life.slowness = random_size(starts_[n], start_up.variation);
  std::ranges::fill(node.image_ready, kNever);
  ++record.launches;
  record.on_demand += node.life.on_demand ? 1 : 0;
  record.most = std::max(record.most, ++progress.billed);
  arm_interruption(n);
  run_.timers.set(
      TimerKind::Node, n,
      run_.now + rounded_time(static_cast<double>(start_up.ready.ns) * node.life.slowness));
}

// The node is Ready; its GPUs are not there yet.
void NodeLives::enroll(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  const Duration gpus = run_.world.provisioner.start_up.gpu_allocatable;
  node.stage = NodeStage::Registered;
  node.schedulable = true;
  node.life.registered = run_.now;
  pods_.nodes_changed();
  run_.timers.set(TimerKind::Node, n,
                  run_.now + rounded_time(static_cast<double>(gpus.ns) * node.life.slowness));
}

void NodeLives::offer_gpus(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  const PoolModel& pool = run_.cluster.pool(node);
  node.stage = NodeStage::Ready;
  node.life.allocatable = run_.now;
  run_.cluster.note_change(node, run_.now);
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    node.tickets_free[offer] = pool.tickets_per_node(offer, node.layout);
  }
  pools_[index(node.pool)].seen = true;
  run_.cluster.grew = true;
  pods_.nodes_changed();
}

// Every node draws the time that EC2 leaves it, so that the draws stay in step between variants.
void NodeLives::arm_interruption(std::uint32_t n) {
  const auto& spot = run_.cluster.pool(run_.cluster.nodes[n]).spot;
  if (!spot) return;
  const double wait = interruptions_[n].exponential();
  if (spot->interruptions.per_second <= 0 || run_.cluster.nodes[n].life.on_demand) return;
  const double wait_ns = wait / spot->interruptions.per_second * 1e9;
  run_.timers.set(TimerKind::Interruption, n, run_.now + rounded_time(std::floor(wait_ns)));
}

// EC2 gives notice: pods are drained, and a node in place of this one is asked for at once. A drain
// that waits for budgets does so no longer than that.
void NodeLives::interrupt(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  const bool drains = node.stage == NodeStage::Draining;
  if (drains && run_.cluster.is_empty(node)) return;  // it ends
  const std::size_t pool = index(node.pool);
  ++run_.record.pools[pool].interruptions;
  pools_[pool].interrupted = run_.now;
  node.life.taken_at = run_.now + run_.world.pools[pool].spot->notice;
  if (!drains && run_.recorder != nullptr)
    run_.recorder->nodes().drains(n, run_.now, RecordedNode::End::TakenBack);
  if (!drains) cordon(n);
  drain(n);
  keep_least(pool);
}

void NodeLives::remove(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  PoolProgress& progress = pools_[index(node.pool)];
  const bool never_used = node.life.first_pod == kNever;
  const bool too_many = progress.surplus > 0 && (never_used || !run_.cluster.is_empty(node));
  node.life.needless = node.life.started && !node.life.of_least && (never_used || too_many);
  if (too_many) --progress.surplus;
  ++run_.record.pools[index(node.pool)].removed;
  if (run_.recorder != nullptr)
    run_.recorder->nodes().drains(n, run_.now, RecordedNode::End::Removed);
  cordon(n);
  drain(n);
}

void NodeLives::expire(std::uint32_t n) {
  run_.cluster.nodes[n].life.expired = true;
  remove(n);
  keep_least(index(run_.cluster.nodes[n].pool));
}

void NodeLives::replace(std::uint32_t n, std::uint32_t other) {
  start(other, run_.now);
  run_.cluster.nodes[n].life.replaced_by = other;
  run_.cluster.nodes[n].schedulable = false;
  replaced_.push_back(n);
}

// Source: sigs.k8s.io/karpenter, pkg/controllers/disruption, Queue.waitOrTerminate.
void NodeLives::finish_replacements() {
  std::erase_if(replaced_, [this](std::uint32_t n) {
    Node& node = run_.cluster.nodes[n];
    if (node.stage != NodeStage::Ready) return true;
    const NodeStage other = run_.cluster.nodes[*node.life.replaced_by].stage;
    const bool has_failed =
        other == NodeStage::Draining || other == NodeStage::Absent ||
        run_.now >= run_.cluster.nodes[*node.life.replaced_by].life.decided + kLongestReplacement;
    if (other == NodeStage::Ready) {
      remove(n);
    } else if (has_failed) {
      node.life.replaced_by.reset();
      node.schedulable = true;
      pods_.nodes_changed();
    } else {
      return false;
    }
    return true;
  });
}

void NodeLives::cordon(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  node.stage = NodeStage::Draining;
  node.schedulable = false;
  --pools_[index(node.pool)].nodes;
  pods_.nodes_changed();
}

// Who drains asks whether pods may go, EC2 does not. True: all do.
bool NodeLives::evict_pods(std::uint32_t n) {
  const TimePoint taken_at = run_.cluster.nodes[n].life.taken_at;
  const bool taken = run_.now >= taken_at;
  const Eviction of_own =
      run_.cluster.nodes[n].life.expired ? Eviction::Expired : Eviction::Unneeded;
  const Eviction why = taken_at == kNever ? of_own : Eviction::Drained;
  bool all = true;
  for (std::uint32_t p = 0; p < run_.cluster.pods.size(); ++p) {
    const Pod& pod = run_.cluster.pods[p];
    if (!is_bound(pod.phase) || index(pod.node) != n) continue;
    const bool goes = taken || pods_.endings().budgets().lets_go(p);
    if (goes) pods_.evict(p, why);
    all = all && goes;
  }
  return all;
}

// Those that no budget keeps; the others are asked again. The node ends when the last of them had
// their time to end. Only Karpenter ends one that EC2 is about to take, others leave that to EC2.
void NodeLives::drain(std::uint32_t n) {
  const Node& node = run_.cluster.nodes[n];
  const bool karpenter = run_.world.provisioner.kind == scenarios::Provisioner::Kind::Karpenter;
  const TimePoint taken_at = node.life.taken_at;
  const Duration pods_end = run_.cluster.is_empty(node) ? Duration{} : kTerminationGracePeriod;
  const bool all = evict_pods(n);
  const bool is_left_to_ec2 = all && !karpenter && taken_at != kNever;
  const TimePoint next = run_.now + (all ? pods_end : kEvictionRetry);
  run_.timers.set(TimerKind::Node, n, is_left_to_ec2 ? taken_at : std::min(next, taken_at));
}

void NodeLives::end(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  const std::size_t pool = index(node.pool);
  evict_pods(n);
  run_.timers.clear(TimerKind::Interruption, n);
  bill(n);
  node.stage = NodeStage::Absent;
  std::ranges::fill(node.tickets_free, 0);
  --pools_[pool].billed;
  keep_least(pool);
  run_.cluster.grew = true;
  pods_.nodes_changed();
}

void NodeLives::bill(std::uint32_t n) {
  Node& node = run_.cluster.nodes[n];
  const PoolModel& pool = run_.cluster.pool(node);
  NodeLife& life = node.life;
  const Duration up = run_.now - life.launched;
  const Duration billed = pool.paid_by_block ? hours(24) * days_of_block(up) : up;
  shares_.clear();
  for (std::size_t layout = 0; layout < pool.layouts.size(); ++layout) {
    for (const DomainId domain : node.domains_under[layout]) {
      const double of_node =
          run_.cluster.kind(run_.cluster.domains[index(domain)]).time_share / pool.gpus_per_node;
      shares_.push_back({usage_.take(index(domain)), of_node});
    }
  }
  const bool started = node.stage == NodeStage::Ready || node.stage == NodeStage::Draining;
  TimePoint start_over = std::min(run_.now, life.first_pod);
  if (started && life.allocatable >= life.launched)
    start_over = std::min(start_over, life.allocatable);
  // A node without pods at the end of the run was not needed so far, unless the pool has to have
  // it.
  const bool idle_to_the_end =
      node.stage == NodeStage::Ready && life.first_pod == kNever && !life.of_least;
  const bool needless = life.started && (life.needless || idle_to_the_end);
  const bool free = run_.now >= life.taken_at && up < kFreeWhenTakenBack;
  const UsdPerHour price = free ? UsdPerHour{} : hourly_price(pool, life.on_demand);
  NodeRecord& record = run_.record.nodes[n];
  const CostLedger cost = node_cost({price, billed, start_over - life.launched, needless}, shares_);
  if (run_.recorder != nullptr) run_.recorder->nodes().ends(node, n, run_.now, price, cost.total);
  pods_.holdings().split(n, cost);
  record.cost += cost;
  record.up += up;
  if (needless) run_.record.pools[index(node.pool)].thrash += up;
}

}  // namespace slicewise::sim
