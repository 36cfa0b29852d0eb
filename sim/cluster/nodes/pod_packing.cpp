#include "pod_packing.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "../../world/admission.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

// Karpenter takes the heaviest preference for a requirement, and the next where nothing meets it,
// at last none; the Cluster Autoscaler asks the filters of kube-scheduler, which know of none. Of
// labels that nodes get once they have joined neither knows.
// Source: sigs.k8s.io/karpenter, pkg/scheduling, NewPodRequirements, and
// pkg/controllers/provisioning/scheduling, Preferences.removePreferredNodeAffinityTerm.
std::vector<PoolSet> preferred_pools(const World& world, const PodTemplate& pod) {
  std::vector<PoolSet> sets;
  std::vector<scenarios::PreferredNodes> heaviest_first = pod.preferences.nodes;
  if (world.provisioner.kind != Provisioner::Kind::Karpenter) heaviest_first.clear();
  std::ranges::stable_sort(heaviest_first, std::ranges::greater{},
                           &scenarios::PreferredNodes::weight);
  for (const scenarios::PreferredNodes& nodes : heaviest_first) {
    PoolSet& set = sets.emplace_back();
    for (const PoolModel& pool : world.pools) {
      std::map<std::string, std::string> labels = pool.labels;
      for (const std::string& label : pool.late_labels) labels.erase(label);
      set.push_back(meets(labels, nodes.requirements) ? 1 : 0);
    }
  }
  sets.emplace_back(world.pools.size(), char{1});
  return sets;
}

}  // namespace

PodPacking::PodPacking(RunState& run, const Scheduler& scheduler, NodeLives& nodes)
    : run_(run), scheduler_(scheduler), rooms_(nodes.rooms()), new_nodes_(run, nodes) {
  for (std::size_t w = 0; w < run.world.workloads.size(); ++w) order_.push_back(w);
  std::ranges::stable_sort(order_, [&run](std::size_t a, std::size_t b) {
    const PodTemplate& left = run.world.workloads[a].spec.pod;
    const PodTemplate& right = run.world.workloads[b].spec.pod;
    if (left.cpu_request != right.cpu_request) return left.cpu_request > right.cpu_request;
    return left.memory_request > right.memory_request;
  });
  for (const WorkloadModel& workload : run.world.workloads) {
    preferred_.push_back(preferred_pools(run.world, workload.spec.pod));
  }
}

// Pods that still are on nodes that drain need another place as those do that are Pending.
// Sources: sigs.k8s.io/karpenter, pkg/controllers/provisioning, Provisioner.Schedule, and
// pkg/controllers/disruption, SimulateScheduling; cluster-autoscaler,
// core/podlistprocessor/currently_drained_nodes.go.
void PodPacking::begin(bool as_expected) {
  new_nodes_.clear(as_expected);
  leaving_.clear();
  for (const Node& node : run_.cluster.nodes) {
    if (node.stage == NodeStage::Draining || node.life.replaced_by) {
      add_pods_of(run_.cluster, node, leaving_);
    }
  }
}

std::vector<PodsToMove> PodPacking::to_place(std::size_t w) const {
  std::vector<PodsToMove> all;
  if (scheduler_.queue().jobs_of(w) > 0) {
    for (const auto& [pools, pods] : scheduler_.pods_pending(w)) all.push_back({w, pools, pods});
  }
  for (const PodsToMove& some : leaving_) {
    if (some.workload == w) all.push_back(some);
  }
  return all;
}

std::int64_t PodPacking::place_anywhere(const PodsToMove& some) {
  const std::size_t w = some.workload;
  std::int64_t left = some.pods;
  for (const PoolSet& preferred : preferred_[w]) {
    const NodeChoice choice{some.pools, preferred};
    left = new_nodes_.place(w, choice, left - place_on(choice, w, left));
  }
  return left;
}

void PodPacking::place_on_nodes(const PodsToMove& some) {
  place_on({some.pools, preferred_[some.workload].back()}, some.workload, some.pods);
}

bool PodPacking::fit_on_nodes(PodsToMove some) {
  const std::vector<PoolSet>& preferred = preferred_[some.workload];
  for (const PoolSet& pools : preferred) {
    const NodeChoice choice{some.pools, pools};
    some.pods -= place_on(choice, some.workload, some.pods);
    if (some.pods == 0) return true;
    if (preferred.size() > 1 && new_nodes_.may_open(some.workload, choice)) return false;
  }
  return false;
}

// How many of the pods go onto nodes that are there and have room.
std::int64_t PodPacking::place_on(const NodeChoice& choice, std::size_t w, std::int64_t pods) {
  std::int64_t left = pods;
  std::int64_t before = 0;
  do {
    before = left;
    for (std::uint32_t n = 0; n < run_.cluster.nodes.size() && left > 0; ++n) {
      const Node& node = run_.cluster.nodes[n];
      if (node.stage == NodeStage::Absent || !choice.has(index(node.pool))) continue;
      left -= rooms_.take(n, w, left);
    }
  } while (left > 0 && left < before && rooms_.reaches(w));  // one makes room for the other
  return pods - left;
}

void add_pods_of(const ClusterState& cluster, const Node& node, std::vector<PodsToMove>& pods) {
  for_each_pod_on(cluster, node, [&](std::uint32_t p) {
    const Pod& pod = cluster.pods[p];
    const auto is_like_it = [&](const PodsToMove& others) {
      return others.workload == index(pod.workload) && others.pools == pod.pools;
    };
    auto alike = std::ranges::find_if(pods, is_like_it);
    if (alike == pods.end()) alike = pods.insert(alike, {index(pod.workload), pod.pools, 0});
    ++alike->pods;
  });
}

}  // namespace slicewise::sim
