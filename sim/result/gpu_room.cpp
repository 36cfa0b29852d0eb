#include "slicewise/sim/gpu_room.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/device/memory_ledger.hpp"

#include "../world/admission.hpp"

namespace slicewise::sim {

Bytes usable_by_processes(const DomainKind& kind) {
  const auto* mps = std::get_if<models::Mps>(&kind.sharing);
  return mps == nullptr ? kind.memory : kind.memory - mps->server_memory;
}

std::optional<Bytes> limit_of_process(const PoolModel& pool, const Tickets& tickets,
                                      const WorkloadModel& model) {
  if (!tickets.memory_limit || !pool.books) return tickets.memory_limit;
  return Bytes{tickets.memory_limit->count / model.spec.processes_per_pod};
}

namespace room {
namespace {

using Bound = GpuRoom::Bound;

// A workload whose pods may go to a kind of domain.
struct Candidate {
  const WorkloadModel* model;
  int pods;  // that may meet there
  MemoryLedger::Process process;
  Bytes awake = {};        // beyond `process`, of one that sleeps while others are awake
  int gpus = 1;            // shared ones that a pod is on
  bool by_itself = false;  // no node has two
  // Of a language model whose share of the memory is too small, though the memory is not.
  const LlmDemand* starved = nullptr;

  Bytes pod(Bytes context) const {
    return Bytes{(context + process.needed).count * process.copies};
  }
};

// Pods of a workload that a node's CPU and memory hold; at least one, so that what keeps it off is
// said.
int on_node(const PoolModel& pool, const PodTemplate& pod) {
  std::int64_t pods = std::numeric_limits<int>::max();
  const auto tighten = [&](std::int64_t has, std::int64_t asks) {
    if (asks > 0) pods = std::min(pods, has / asks);
  };
  tighten(pool.allocatable_cpu.count, pod.cpu_request.count);
  tighten(pool.allocatable_memory.count, pod.memory_request.count);
  return static_cast<int>(std::max<std::int64_t>(1, pods));
}

bool are_apart(const Candidate& a, const Candidate& b) {
  return refuses(a.model->spec, b.model->spec) || refuses(b.model->spec, a.model->spec);
}

// What a required anti-affinity keeps off the nodes of those before, the worst company there is.
void keep_apart(std::vector<Candidate>& candidates) {
  std::vector<Candidate> there;
  for (Candidate& candidate : candidates) {
    const auto is_refused = [&](const Candidate& other) { return are_apart(candidate, other); };
    if (std::ranges::any_of(there, is_refused)) continue;
    if (is_refused(candidate)) {
      candidate.pods = 1;
      candidate.by_itself = true;
    }
    there.push_back(candidate);
  }
  candidates = std::move(there);
}

std::vector<Candidate> candidates_on(const World& world, std::size_t p, std::size_t k,
                                     const std::vector<Tickets>& tickets) {
  const PoolModel& pool = world.pools[p];
  std::vector<Candidate> out;
  const bool is_spread = pool.allocation == scenarios::AllocationPolicy::Distributed;
  for (const WorkloadModel& model : world.workloads) {
    const PoolDemand& demand = model.on_pool[p];
    if (!demand.offer || model.spec.count == 0 || !admits(pool, model.spec.pod)) continue;
    const auto ticket = std::ranges::find(tickets, *demand.offer, &Tickets::offer);
    if (ticket == tickets.end()) continue;
    const Bytes by_turns = memory_by_turns(model, demand, k);
    out.push_back({&model,
                   std::min({model.spec.count, ticket->count, on_node(pool, model.spec.pod)}),
                   {largest_process_memory(model, demand, k) - by_turns, model.greedy,
                    model.spec.processes_per_pod, limit_of_process(pool, *ticket, model),
                    spare_memory(demand, k)},
                   by_turns,
                   is_spread && demand.shares_several ? demand.gpus : 1});
    if (demand.llm.empty()) continue;
    const LlmDemand& llm = demand.llm[k];
    const bool starves = llm.share < llm.least && llm.least <= pool.kinds[k].memory;
    if (starves) out.back().starved = &llm;
  }
  // What no node of the pool holds meets nobody there, unless there is nothing else.
  const auto fits = [&](const Candidate& candidate) {
    const PodTemplate& pod = candidate.model->spec.pod;
    return pod.cpu_request <= pool.allocatable_cpu && pod.memory_request <= pool.allocatable_memory;
  };
  if (std::ranges::any_of(out, fits)) std::erase_if(out, std::not_fn(fits));
  // The worst company: what maps everything, then the largest.
  std::ranges::stable_sort(out, [&](const Candidate& a, const Candidate& b) {
    if (a.process.greedy != b.process.greedy) return a.process.greedy;
    return a.pod(pool.context_memory) > b.pod(pool.context_memory);
  });
  keep_apart(out);
  return out;
}

// Pods of the usual mix that a node's CPU or memory holds, each counted on every GPU it is on;
// nullopt: they ask for none.
template <class Request>
std::optional<int> usual_pods(const std::vector<Candidate>& candidates, std::int64_t has,
                              const Request& request) {
  std::int64_t sum = 0;
  std::int64_t pods = 0;
  for (const Candidate& candidate : candidates) {
    sum += request(candidate.model->spec.pod) * candidate.model->spec.count;
    pods += std::int64_t{candidate.gpus} * candidate.model->spec.count;
  }
  if (sum == 0) return std::nullopt;
  constexpr double kMany = 1'000;
  return static_cast<int>(std::min(
      kMany, static_cast<double>(has) * static_cast<double>(pods) / static_cast<double>(sum)));
}

// The most pods that a node's CPU or memory holds, counted likewise: those that ask for the least
// on each GPU first. nullopt: all that there are.
template <class Request>
std::optional<int> most_pods(const std::vector<Candidate>& all, std::int64_t has,
                             const Request& request) {
  std::vector<Candidate> candidates = all;
  const auto asks = [&](const Candidate& candidate) { return request(candidate.model->spec.pod); };
  std::ranges::stable_sort(candidates, [&](const Candidate& a, const Candidate& b) {
    return asks(a) * b.gpus < asks(b) * a.gpus;
  });
  int pods = 0;
  for (const Candidate& candidate : candidates) {
    const std::int64_t one = asks(candidate);
    const int there = candidate.model->spec.count;
    if (one > 0 && has / one < there) return pods + candidate.gpus * static_cast<int>(has / one);
    pods += candidate.gpus * there;
    has -= one * there;
  }
  return std::nullopt;
}

// Domains of a kind on a node, under the layout that has most of them.
int domains_of(const PoolModel& pool, std::size_t kind) {
  std::ptrdiff_t most = 1;
  for (const NodeLayout& layout : pool.layouts) {
    most = std::max(most, std::ranges::count(layout.domains, kind, &NodeLayout::Domain::kind));
  }
  return static_cast<int>(most);
}

// How many of them could be there at the most, and what says so, by all but the GPU's memory.
struct Limit {
  int pods;      // each GPU of the node has its part
  int may_meet;  // one GPU of the node has them all
  Bound bound;
};

// Of one workload, some day.
bool may_be_more(const std::vector<Candidate>& candidates) {
  return candidates.size() == 1 && !candidates.front().by_itself;
}

Limit limit_of(const PoolModel& pool, std::size_t kind, int tickets,
               const std::vector<Candidate>& candidates) {
  Limit limit{tickets, 0, Bound::Replicas};
  // A claim has as many tickets as there are pods that name it.
  if (pool.dra && tickets > 1) limit.bound = Bound::Pods;
  if (pool.books) limit.bound = Bound::Parts;
  for (const Candidate& candidate : candidates) limit.may_meet += candidate.pods;
  limit.may_meet = std::min(limit.may_meet, limit.pods);
  const int domains = pool.dra ? 1 : domains_of(pool, kind);
  // The plugin gives a pod the GPU with the fewest, unless it packs them.
  const int spread = pool.allocation == scenarios::AllocationPolicy::Packed ? 1 : domains;
  const auto tighten = [&](std::int64_t has, Bound bound, const auto& request) {
    if (const auto most = most_pods(candidates, has, request)) {
      limit.may_meet = std::min(limit.may_meet, (*most + spread - 1) / spread);
    }
    const auto usual = usual_pods(candidates, has, request);
    if (!usual) return;
    const int each = std::max(std::min(1, *usual), *usual / domains);
    if (each < limit.pods) limit = {each, limit.may_meet, bound};
  };
  tighten(pool.allocatable_cpu.count, Bound::Cpu,
          [](const auto& pod) { return pod.cpu_request.count; });
  tighten(pool.allocatable_memory.count, Bound::HostMemory,
          [](const auto& pod) { return pod.memory_request.count; });
  tighten(pool.max_pods, Bound::NodePods, [](const auto& /*pod*/) { return std::int64_t{1}; });
  // Of one workload there may be more some day; what several would have more of is a guess.
  if (!may_be_more(candidates) && limit.may_meet < limit.pods) {
    limit = {limit.may_meet, limit.may_meet, Bound::Pods};
  }
  return limit;
}

// Parts of several sizes meet in many ways: what is told is how many of one size a GPU holds.
std::vector<std::vector<Tickets>> companies(const PoolModel& pool, std::size_t kind) {
  if (!pool.books) return pool.companies(kind);
  std::vector<std::vector<Tickets>> out;
  for (const Tickets& tickets : pool.kinds[kind].tickets) out.push_back({tickets});
  return out;
}

void add_tenant(const Candidate& candidate, GpuRoom& room) {
  auto tenant = std::ranges::find(room.tenants, candidate.model->name, &GpuRoom::Tenant::workload);
  if (tenant == room.tenants.end()) {
    tenant = room.tenants.insert(tenant, {candidate.model->name, 0, candidate.process.copies,
                                          candidate.process.needed, candidate.process.greedy});
  }
  ++tenant->pods;
}

// The pod after so many; beyond those that there are, of one workload one more, else none.
const Candidate* at(const std::vector<Candidate>& candidates, int place) {
  if (may_be_more(candidates)) return &candidates.front();
  for (const Candidate& candidate : candidates) {
    if (place < candidate.pods) return &candidate;
    place -= candidate.pods;
  }
  return nullptr;
}

GpuRoom room_of(const PoolModel& pool, std::size_t of_kind, const std::vector<Tickets>& together,
                const std::vector<Candidate>& candidates) {
  const DomainKind& kind = pool.kinds[of_kind];
  GpuRoom room;
  for (const Tickets& tickets : together) room.replicas += tickets.count;
  const Limit limit = limit_of(pool, of_kind, room.replicas, candidates);
  room.pool = pool.name;
  room.partition = kind.partition;
  room.usable = usable_by_processes(kind);
  room.context = pool.context_memory;
  room.may_meet = limit.may_meet;
  room.bound = limit.bound;
  room.safe = limit.pods;
  for (const Candidate& candidate : candidates) room.awake = std::max(room.awake, candidate.awake);
  room.needed = room.awake;
  // What the node's CPU lets meet may be more than each GPU's part of it.
  const int most = std::max(limit.pods, limit.may_meet);
  MemoryLedger ledger(static_cast<std::uint32_t>(most),
                      room.usable - std::min(room.usable, room.awake), room.context,
                      models::greedy_reserve(*pool.gpu));
  for (int pods = 0; pods < most; ++pods) {
    const Candidate& next = *at(candidates, pods);
    const MemoryLedger::Process& process = next.process;
    if (ledger.open(static_cast<std::uint32_t>(pods), process)) continue;
    const bool passes_limit =
        process.limit && room.context + process.needed + process.spare > *process.limit;
    room.bound = passes_limit ? Bound::ProcessLimit : Bound::Memory;
    if (passes_limit) room.process_limit = process.limit;
    if (next.starved != nullptr) {
      room.bound = Bound::OwnShare;
      room.process_limit = next.starved->share;
    }
    room.safe = pods;
    break;
  }
  for (int pods = 0; pods < room.safe; ++pods) {
    const Candidate& tenant = *at(candidates, pods);
    room.needed += tenant.pod(room.context);
    add_tenant(tenant, room);
  }
  if (const Candidate* next = at(candidates, room.safe)) {
    room.next = next->process.spare + (room.process_limit ? room.context + next->process.needed
                                                          : room.needed + next->pod(room.context));
    if (next->starved != nullptr) room.next = next->starved->least;
    room.next_workload = next->model->name;
  }
  return room;
}

}  // namespace
}  // namespace room

std::vector<GpuRoom> gpu_rooms(const World& world) {
  std::vector<GpuRoom> rooms;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    for (std::size_t k = 0; k < world.pools[p].kinds.size(); ++k) {
      for (const std::vector<Tickets>& together : room::companies(world.pools[p], k)) {
        const auto candidates = room::candidates_on(world, p, k, together);
        if (candidates.empty()) continue;
        rooms.push_back(room::room_of(world.pools[p], k, together, candidates));
      }
    }
  }
  return rooms;
}

}  // namespace slicewise::sim
