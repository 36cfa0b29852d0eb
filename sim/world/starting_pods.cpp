#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "parts.hpp"
#include "starting_tickets.hpp"

// Workloads meet the nodes that they are on when the run begins.
namespace slicewise::sim {
namespace {

// What is asked of one node.
struct AskedOfNode {
  std::int64_t pods = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::map<std::size_t, std::int64_t> tickets;  // by offer
  const scenarios::StartPlace* last = nullptr;
};

// What the node has too little of; "": it holds them.
std::string shortage(const PoolModel& pool, const AskedOfNode& asked) {
  if (asked.pods > pool.max_pods) return fmt::format("{} pods of {}", asked.pods, pool.max_pods);
  if (asked.cpu > pool.allocatable_cpu.count) {
    return fmt::format("{}m CPU of {}m", asked.cpu, pool.allocatable_cpu.count);
  }
  if (asked.memory > pool.allocatable_memory.count) {
    return fmt::format("{}Mi memory of {}Mi", asked.memory >> 20,
                       pool.allocatable_memory.count >> 20);
  }
  for (const auto& [offer, count] : asked.tickets) {
    const std::int64_t there = tickets_at_start(pool, offer);
    if (count <= there) continue;
    return fmt::format("{} {} of {}", count, pool.offers[offer].name, there);
  }
  return "";
}

}  // namespace

std::int64_t tickets_at_start(const PoolModel& pool, std::size_t offer) {
  if (!pool.nos) return pool.tickets_per_node(offer, 0);
  return std::ranges::count_if(pool.layouts.front().domains, [&](const NodeLayout::Domain& domain) {
    return domain.at_start && pool.kinds[domain.kind].tickets.front().offer == offer;
  });
}

void model_starts(World& world, Diagnostics& found) {
  std::map<std::pair<std::size_t, int>, AskedOfNode> of_nodes;
  for (WorkloadModel& model : world.workloads) {
    int left = model.spec.count;
    for (const scenarios::StartPlace& place : model.spec.starts_on) {
      for (std::size_t p = 0; p < world.pools.size(); ++p) {
        if (world.pools[p].name != place.pool.value) continue;
        model.starts_on.push_back({p, place.node - 1, place.pods});
        AskedOfNode& node = of_nodes[{p, place.node}];
        const std::int64_t pods = std::clamp(place.pods, 0, std::max(0, left));
        left -= static_cast<int>(pods);
        node.pods += pods;
        node.cpu += pods * model.spec.pod.cpu_request.count;
        node.memory += pods * model.spec.pod.memory_request.count;
        if (const auto offer = model.on_pool[p].offer; offer && !model.by_claim) {
          node.tickets[*offer] += pods * model.tickets;
        }
        node.last = &place;
      }
    }
  }
  for (const auto& [node, asked] : of_nodes) {
    const PoolModel& pool = world.pools[node.first];
    const bool is_there = node.second <= pool.nodes;
    const std::string lacks = is_there ? shortage(pool, asked) : "";
    if (is_there && lacks.empty()) continue;
    add_diagnostic(
        found, Code::PodStartsElsewhere, asked.last->pool.where,
        is_there
            ? fmt::format(
                  "the pods that start on {}-{} ask for {}: those that do not fit are placed anew",
                  pool.name, node.second, lacks)
            : fmt::format(
                  "pods start on {}-{}, and there are {} such nodes then: they are placed anew",
                  pool.name, node.second, pool.nodes),
        "leave startsOn out where the nodes are not those that were read");
  }
}

}  // namespace slicewise::sim
