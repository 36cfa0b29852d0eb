#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "../../world/anti_affinity.hpp"
#include "probe.hpp"

namespace slicewise::sim {
namespace {

struct FreeNode {
  std::vector<std::int64_t> tickets;  // by PoolModel::offers
  std::int64_t pods = 0;
  std::int64_t cpu = 0;     // millicores
  std::int64_t memory = 0;  // bytes
};

FreeNode empty_node(const World& world) {
  const PoolModel& pool = world.pools.front();
  FreeNode node;
  for (std::size_t o = 0; o < pool.offers.size(); ++o) {
    node.tickets.push_back(pool.tickets_per_node(o, 0));
  }
  node.pods = pool.max_pods;
  node.cpu = pool.allocatable_cpu.count;
  node.memory = pool.allocatable_memory.count;
  return node;
}

FreeNode need_of(const World& world, const WorkloadModel& workload) {
  FreeNode need{{}, 1, workload.spec.pod.cpu_request.count, workload.spec.pod.memory_request.count};
  need.tickets.resize(world.pools.front().offers.size());
  if (const auto offer = workload.on_pool.front().offer) need.tickets[*offer] = workload.tickets;
  return need;
}

bool holds(const FreeNode& node, const FreeNode& pod) {
  return std::ranges::equal(pod.tickets, node.tickets, std::ranges::less_equal()) &&
         pod.pods <= node.pods && pod.cpu <= node.cpu && pod.memory <= node.memory;
}

// The share of a node that would stay free, as NodeResourcesFit scores it.
double free_share(const FreeNode& node, const FreeNode& pod, const FreeNode& empty) {
  const auto share = [](std::int64_t left, std::int64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(left) / static_cast<double>(all);
  };
  return share(node.cpu - pod.cpu, empty.cpu) + share(node.memory - pod.memory, empty.memory);
}

// On which node, of those that admit it.
template <class Admits>
std::optional<std::size_t> place(std::vector<FreeNode>& nodes, const FreeNode& pod,
                                 const FreeNode& empty, bool spread, const Admits& admits) {
  std::optional<std::size_t> chosen;
  double best = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!holds(nodes[n], pod) || !admits(n)) continue;
    const double score = (spread ? 1 : -1) * free_share(nodes[n], pod, empty);
    if (chosen && score <= best) continue;
    chosen = n;
    best = score;
  }
  if (!chosen) return std::nullopt;
  FreeNode& node = nodes[*chosen];
  for (std::size_t o = 0; o < pod.tickets.size(); ++o) node.tickets[o] -= pod.tickets[o];
  node.pods -= pod.pods;
  node.cpu -= pod.cpu;
  node.memory -= pod.memory;
  return chosen;
}

bool all_fit(const World& world, int count, const FreeNode& empty) {
  std::vector<FreeNode> nodes(static_cast<std::size_t>(count), empty);
  AntiAffinity there(world, nodes.size());
  const bool spread = world.score_policy == scenarios::ScorePolicy::LeastAllocated;
  for (const WorkloadModel& workload : world.workloads) {
    const FreeNode pod = need_of(world, workload);
    const auto w = static_cast<std::size_t>(&workload - world.workloads.data());
    for (int n = 0; n < workload.spec.pods_at_once(); ++n) {
      const auto node =
          place(nodes, pod, empty, spread, [&](std::size_t at) { return there.admits(at, w); });
      if (!node) return false;
      there.count(*node, w, 1);
    }
  }
  return true;
}

// No fewer nodes can do: what all pods ask for together, resource by resource.
std::int64_t least_nodes(const World& world, const FreeNode& empty) {
  FreeNode sum;
  sum.tickets.resize(empty.tickets.size());
  for (const WorkloadModel& workload : world.workloads) {
    const FreeNode pod = need_of(world, workload);
    for (std::size_t o = 0; o < pod.tickets.size(); ++o) {
      sum.tickets[o] += pod.tickets[o] * workload.spec.pods_at_once();
    }
    sum.pods += pod.pods * workload.spec.pods_at_once();
    sum.cpu += pod.cpu * workload.spec.pods_at_once();
    sum.memory += pod.memory * workload.spec.pods_at_once();
  }
  const auto nodes_for = [](std::int64_t all, std::int64_t one) {
    if (all == 0) return std::int64_t{1};
    return one == 0 ? std::numeric_limits<std::int64_t>::max() : (all + one - 1) / one;
  };
  std::int64_t least = std::max({nodes_for(sum.pods, empty.pods), nodes_for(sum.cpu, empty.cpu),
                                 nodes_for(sum.memory, empty.memory)});
  for (std::size_t o = 0; o < sum.tickets.size(); ++o) {
    least = std::max(least, nodes_for(sum.tickets[o], empty.tickets[o]));
  }
  return least;
}

}  // namespace

int equal_shares(const PoolModel& pool, const GpuMemoryNeeds& needs) {
  const bool whole = pool.kinds.front().memory == models::usable_memory(*pool.gpu);
  const Bytes memory = whole ? pool.gpu->memory_total : pool.kinds.front().memory;
  constexpr std::int64_t kMany = 1'000;
  if (needs.largest_process.count == 0) return kMany;
  return static_cast<int>(std::min(kMany, memory.count / needs.largest_process.count));
}

int GpuMemoryNeeds::pods_in(Bytes memory) const { return pods_in_beside({}, memory); }

int GpuMemoryNeeds::pods_in_beside(std::vector<Bytes> ones, Bytes memory) const {
  std::vector<Bytes>& all = ones;
  all.insert(all.end(), pods.begin(), pods.end());
  std::ranges::sort(all, std::greater<>());
  Bytes used;
  int count = 0;
  for (const Bytes pod : all) {
    used += pod;
    if (used > memory) return count;
    ++count;
  }
  if (pods.empty() || pods.front().count == 0) return count;
  // More of them than there are: as many again of the size of the largest.
  return count + static_cast<int>((memory - used).count / pods.front().count);
}

GpuMemoryNeeds gpu_memory_needs(const World& world,
                                const std::function<bool(const WorkloadModel&)>& with) {
  GpuMemoryNeeds needs;
  const Bytes context = world.pools.front().context_memory;
  for (const WorkloadModel& workload : world.workloads) {
    if (with && !with(workload)) continue;
    const Bytes process = workload.gpu_memory + context;
    const Bytes pod{process.count * workload.spec.processes_per_pod};
    needs.pods.insert(needs.pods.end(), static_cast<std::size_t>(workload.spec.pods_at_once()),
                      pod);
    if (workload.spec.count > 0) needs.largest_process = std::max(needs.largest_process, process);
  }
  std::ranges::sort(needs.pods, std::greater<>());
  return needs;
}

std::optional<int> smallest_node_count(const World& world, int most) {
  const FreeNode empty = empty_node(world);
  for (std::int64_t count = least_nodes(world, empty); count <= most; ++count) {
    if (all_fit(world, static_cast<int>(count), empty)) return static_cast<int>(count);
  }
  return std::nullopt;
}

std::optional<Reason> too_large_for_a_node(const World& world) {
  const FreeNode empty = empty_node(world);
  const PoolModel& pool = world.pools.front();
  for (const WorkloadModel& workload : world.workloads) {
    const FreeNode pod = need_of(world, workload);
    if (workload.spec.count == 0 || holds(empty, pod)) continue;
    const auto offer = workload.on_pool.front().offer;
    if (offer && pod.tickets[*offer] > empty.tickets[*offer]) {
      return reason(
          fmt::format("a pod of \"{}\" asks for {{}} GPUs, a node of {{}} has {{}}", workload.name),
          pod.tickets[*offer], pool.instance_type, empty.tickets[*offer]);
    }
    if (pod.cpu > empty.cpu) {
      return reason(fmt::format("a pod of \"{}\" asks for {{}} of CPU, a node of {{}} offers {{}}",
                                workload.name),
                    fmt::format("{}m", pod.cpu), pool.instance_type, fmt::format("{}m", empty.cpu));
    }
    return reason(fmt::format("a pod of \"{}\" asks for {{}} MiB of host memory, a node of {{}} "
                              "offers {{}} MiB",
                              workload.name),
                  pod.memory >> 20, pool.instance_type, empty.memory >> 20);
  }
  return std::nullopt;
}

}  // namespace slicewise::sim
