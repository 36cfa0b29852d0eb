#include "block_candidates.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../cluster/state.hpp"
#include "../../result/merge.hpp"
#include "../probe/probe.hpp"
#include "lone_queue.hpp"
#include "node_bounds.hpp"

namespace slicewise::sim {
namespace {

using Stage = RejectedChoice::Stage;

// Requests in a month, where the rate is known in advance; 0: it is not.
double monthly_arrivals(const World& world) {
  double rate = 0;
  for (const WorkloadModel& workload : world.workloads) {
    // Others pay a part of the bill.
    if (workload.spec.kind != WorkloadKind::Service) return 0;
    if (!workload.spec.traffic) continue;
    if (!std::holds_alternative<std::monostate>(workload.spec.traffic->shape)) return 0;
    rate += workload.spec.traffic->mean.per_second;
  }
  return world.pipelines.empty() ? rate * to_seconds(kMonth) : 0;
}

// Counts each; what is refused for the same reason with other replicas is listed once.
void reject(BlockResult& result, Stage stage, const PoolChoice& choice, std::optional<Code> code,
            Reason why) {
  (stage == Stage::Feasibility ? result.refused : result.bounded) += 1;
  const bool said = std::ranges::any_of(result.rejected, [&](const RejectedChoice& other) {
    return other.choice.instance_type == choice.instance_type &&
           other.choice.purchase == choice.purchase && other.choice.strategy == choice.strategy &&
           other.reason == why;
  });
  if (!said) result.rejected.push_back({stage, choice, code, std::move(why), std::nullopt});
}

std::string_view plural(int count) { return count == 1 ? "" : "s"; }

// How many nodes may be tried, and what limits that.
struct NodeLimit {
  int most = 0;
  Reason why;
};

NodeLimit node_limit(const PlanSpace& space, const NodeBound& bound, double monthly) {
  NodeLimit limit{
      std::min(bound.most, survivors(space.survive, space.max_nodes)),
      reason(fmt::format("more than {{}} node{}", plural(space.max_nodes)), space.max_nodes)};
  if (!space.max_monthly_cost) return limit;
  const double affordable = std::floor(to_dollars(*space.max_monthly_cost) / monthly + 1e-9);
  if (affordable < with_spares(space.survive, limit.most)) {
    limit.most = survivors(space.survive, static_cast<int>(affordable));
    limit.why =
        reason("more than ${} a month", fmt::format("{:.0f}", to_dollars(*space.max_monthly_cost)));
  }
  return limit;
}

bool works_on_host(const WorkloadModel& workload) {
  return needs_host_cpu(workload.spec.serving) ||
         std::ranges::any_of(workload.on_pool.front().in_kind,
                             [](const Demand& demand) { return demand.cpu.ns > 0; });
}

// The most of it that so many pods ask for together.
std::int64_t most_asked(const World& world, std::int64_t pods,
                        const std::function<std::int64_t(const PodTemplate&)>& of_pod) {
  std::vector<std::pair<std::int64_t, std::int64_t>> asks;  // of a pod, and how many pods
  for (const WorkloadModel& workload : world.workloads) {
    asks.emplace_back(of_pod(workload.spec.pod), workload.spec.count);
  }
  std::ranges::sort(asks, std::greater<>());
  std::int64_t sum = 0;
  for (const auto& [ask, count] : asks) {
    const std::int64_t here = std::min(pods, count);
    sum += here * ask;
    pods -= here;
  }
  return sum;
}

NodeKind kind_of(const World& world) {
  const PoolModel& pool = world.pools.front();
  NodeKind kind{pool.gpu, pool.interconnect, pool.gpus_per_node};
  std::int64_t pods = 0;  // on a node
  for (std::size_t o = 0; o < pool.offers.size(); ++o) pods += pool.most_tickets_per_node(o);
  bool more_than_gpus = pool.spot || pool.strategy == Strategy::Vgpu;
  for (const WorkloadModel& workload : world.workloads) {
    if (works_on_host(workload)) kind.vcpus = pool.vcpus;
    const auto& llm = workload.spec.llm;
    const bool by_network = llm && llm->role == scenarios::LlmRole::Decode;  // get keys and values
    more_than_gpus = more_than_gpus || by_network || !workload.on_pool.front().offer;
  }
  using Pod = PodTemplate;
  kind.is_all_gpus =
      !more_than_gpus && pods <= pool.max_pods &&
      most_asked(world, pods, [](const Pod& pod) { return pod.cpu_request.count; }) <=
          pool.allocatable_cpu.count &&
      most_asked(world, pods, [](const Pod& pod) { return pod.memory_request.count; }) <=
          pool.allocatable_memory.count;
  return kind;
}

void add_candidate(const BlockSearch& search, PoolChoice choice, KnownQueues& queues,
                   std::vector<BlockCandidate>& candidates, BlockResult& result) {
  ++result.configurations;
  const Expected<World> world = world_on_one_node(search, choice);
  if (auto refusal = refusal_of(world)) {
    return reject(result, Stage::Feasibility, choice, refusal->code, std::move(refusal->reason));
  }
  const NodeBound bound = node_bound(*world, &queues);
  if (!bound.refused.empty()) {
    return reject(result, Stage::Bound, choice, std::nullopt, bound.refused);
  }
  const double monthly = to_dollars(cost_of(world->pools.front().price.usd, kMonth));
  const NodeLimit limit = node_limit(search.space, bound, monthly);
  result.exhaustive += std::max(0, std::min(bound.most, search.space.max_nodes));
  if (bound.least > limit.most) {
    const int bought = with_spares(search.space.survive, bound.least);
    const Reason nodes =
        bought == bound.least
            ? reason(fmt::format(" at least {{}} node{}: ", plural(bound.least)), bound.least)
            : reason(" at least {} nodes, {} of them after the loss: ", bought, bound.least);
    return reject(
        result, Stage::Bound, choice, std::nullopt,
        joined(
            joined(bound.why.empty() ? Reason{"it needs"} : joined(bound.why, {" takes"}), nodes),
            limit.why));
  }
  const bool from_above = search.goal == PlanGoal::LatencyP99;
  BlockCandidate candidate(NodeSearch(from_above ? limit.most : bound.least, limit.most));
  candidate.choice = std::move(choice);
  candidate.monthly = monthly;
  candidate.kept = bound.kept;
  candidate.kind = kind_of(*world);
  candidate.survive = search.space.survive;
  candidate.arrivals = monthly_arrivals(*world);
  candidate.most = limit.most;
  candidates.push_back(std::move(candidate));
}

}  // namespace

Expected<World> world_on_one_node(const BlockSearch& search, const PoolChoice& choice) {
  PoolChoice one = choice;
  one.nodes = 1;
  one.on_demand = 0;
  return probe_world(search.base,
                     {.pools = {std::move(one)}, .input = search.input, .factor = search.factor},
                     search.catalogue);
}

namespace {

// By workload; empty: as the scenario has them.
std::vector<int> pods_of(const BlockSearch& search, const std::vector<std::string>& workloads) {
  std::vector<int> pods;
  bool any = false;
  for (const std::string& name : workloads) {
    const auto changed = search.pods.find(name);
    any = any || changed != search.pods.end();
    pods.push_back(changed == search.pods.end() ? 0 : changed->second);
  }
  return any ? pods : std::vector<int>{};
}

}  // namespace

std::vector<BlockCandidate> block_candidates(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             BlockResult& result) {
  std::vector<BlockCandidate> candidates;
  KnownQueues queues;  // they are the same however a GPU is shared
  for (const InstanceType* type : search.space.types) {
    PoolChoices found = pool_choices(search.base, workloads, *type, search.space, search.catalogue);
    for (RejectedChoice& refused : found.refused) {
      ++result.configurations;
      ++result.refused;
      result.rejected.push_back(std::move(refused));
    }
    for (PoolChoice& choice : found.choices) {
      choice.pods = pods_of(search, choice.workloads);
      for (const std::string& purchase : search.space.purchases) {
        if (!is_sold(search.base, choice.instance_type, purchase)) continue;
        PoolChoice bought = choice;
        bought.purchase = purchase;
        add_candidate(search, std::move(bought), queues, candidates, result);
      }
    }
  }
  return candidates;
}

void leave_out_the_same_for_more(std::vector<BlockCandidate>& candidates) {
  const auto is_for_less = [&](const BlockCandidate& a, const BlockCandidate& b) {
    if (a.monthly >= b.monthly || !a.kind.is_all_gpus || a.kind.gpu != b.kind.gpu ||
        a.kind.gpus != b.kind.gpus || a.kind.vcpus < b.kind.vcpus ||
        (a.kind.gpus > 1 && a.kind.interconnect != b.kind.interconnect)) {
      return false;
    }
    PoolChoice there = a.choice;
    there.instance_type = b.choice.instance_type;
    return there == b.choice;
  };
  std::vector<BlockCandidate> kept;
  for (const BlockCandidate& candidate : candidates) {
    const bool is_same = std::ranges::any_of(
        candidates, [&](const BlockCandidate& other) { return is_for_less(other, candidate); });
    if (!is_same) kept.push_back(candidate);
  }
  candidates = std::move(kept);
}

std::optional<int> NodeSearch::next() const {
  if (passed_) {
    if (*passed_ - failed_ <= 1) return std::nullopt;
    return failed_ + (*passed_ - failed_) / 2;
  }
  if (failed_ >= most_) return std::nullopt;
  const int done = failed_ - first_ + 1;
  const int step = done < kOneByOne ? 1 : done;
  return std::min(most_, failed_ + step);
}

void NodeSearch::record(int nodes, bool passes) {
  if (passes) {
    passed_ = std::min(nodes, passed_.value_or(nodes));
  } else {
    failed_ = std::max(nodes, failed_);
  }
}

}  // namespace slicewise::sim
