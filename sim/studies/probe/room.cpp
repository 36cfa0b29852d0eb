#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "../../cluster/state.hpp"
#include "../../world/pod_company.hpp"
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

void add(FreeNode& to, const FreeNode& pod, std::int64_t times) {
  for (std::size_t o = 0; o < pod.tickets.size(); ++o) to.tickets[o] += times * pod.tickets[o];
  to.pods += times * pod.pods;
  to.cpu += times * pod.cpu;
  to.memory += times * pod.memory;
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
  add(nodes[*chosen], pod, -1);
  return chosen;
}

// No fewer nodes can do: what is asked for together, resource by resource.
double nodes_for(const FreeNode& asked, const FreeNode& empty) {
  double least = 0;
  const auto count = [&](std::int64_t all, std::int64_t one) {
    if (all > 0) least = std::max(least, static_cast<double>(all) / static_cast<double>(one));
  };
  count(asked.pods, empty.pods);
  count(asked.cpu, empty.cpu);
  count(asked.memory, empty.memory);
  for (std::size_t o = 0; o < asked.tickets.size(); ++o) count(asked.tickets[o], empty.tickets[o]);
  return least;
}

struct PodsTogether {
  std::vector<std::int64_t> of;  // each workload
  double nodes = 0;              // no fewer hold them
};

// All that may run at a time, and of recorded jobs those that are there at the time that takes the
// most nodes, were none to wait: one class of them has its busiest hour when others have none.
PodsTogether pods_together(const World& world, const FreeNode& empty) {
  PodsTogether most;
  std::vector<FreeNode> needs;
  std::vector<std::tuple<TimePoint, int, std::size_t>> changes;  // when, by how many pods
  FreeNode asked;
  asked.tickets.resize(empty.tickets.size());
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const WorkloadModel& workload = world.workloads[w];
    const auto& trace = workload.spec.trace;
    needs.push_back(need_of(world, workload));
    most.of.push_back(trace ? 0 : workload.spec.pods_at_once());
    add(asked, needs.back(), most.of.back());
    if (!trace) continue;
    for (std::size_t n = 0; n < trace->jobs->size(); ++n) {
      const TimePoint at = first_submission(workload.spec, n);
      changes.emplace_back(at, workload.pods_per_job, w);
      changes.emplace_back(at + (*trace->jobs)[n].run, -workload.pods_per_job, w);
    }
  }
  most.nodes = nodes_for(asked, empty);
  std::ranges::sort(changes);  // who ends makes room for who comes
  std::vector<std::int64_t> there = most.of;
  for (const auto& [at, pods, w] : changes) {
    there[w] += pods;
    add(asked, needs[w], pods);
    if (const double nodes = nodes_for(asked, empty); nodes > most.nodes) most = {there, nodes};
  }
  return most;
}

bool all_fit(const World& world, const PodsTogether& pods, int count, const FreeNode& empty) {
  std::vector<FreeNode> nodes(static_cast<std::size_t>(count), empty);
  PodCompany there(world, std::vector<std::size_t>(nodes.size()));
  for (std::size_t n = 0; n < nodes.size(); ++n) there.set_there(n, true);
  const bool spread = world.score_policy == scenarios::ScorePolicy::LeastAllocated;
  // Of recorded jobs the largest first: where small ones are spread before they come they have no
  // node to themselves, and that is what the run looks at.
  std::vector<std::size_t> order(world.workloads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t w) {
    const WorkloadModel& workload = world.workloads[w];
    return workload.spec.trace ? workload.tickets : std::numeric_limits<std::int64_t>::max();
  });
  std::vector<std::int64_t> left = pods.of;
  bool any = true;
  bool all = false;
  while (any && !all) {  // once, unless pods wait for the company of others
    any = false;
    all = true;
    for (const std::size_t w : order) {
      const FreeNode pod = need_of(world, world.workloads[w]);
      for (; left[w] > 0; --left[w]) {
        const auto node =
            place(nodes, pod, empty, spread, [&](std::size_t at) { return there.admits(at, w); });
        if (!node && !there.any()) return false;
        if (!node) break;
        there.count(*node, w, 1);
        any = true;
      }
      all = all && left[w] == 0;
    }
  }
  return all;
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
  const PodsTogether pods = pods_together(world, empty);
  if (pods.nodes > most) return std::nullopt;
  for (int count = std::max(1, static_cast<int>(std::ceil(pods.nodes))); count <= most; ++count) {
    if (all_fit(world, pods, count, empty)) return count;
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
    return reason(
        fmt::format(
            "a pod of \"{}\" asks for {{}} MiB of host memory, a node of {{}} offers {{}} MiB",
            workload.name),
        pod.memory >> 20, pool.instance_type, empty.memory >> 20);
  }
  return std::nullopt;
}

}  // namespace slicewise::sim
