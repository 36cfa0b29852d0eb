#include <algorithm>

#include <fmt/format.h>

#include "../probe/probe.hpp"
#include "node_bounds.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

// Beyond it nobody shares a GPU.
constexpr int kMostReplicas = 16;

// With as few nodes as hold the pods; or the reason why that many pods cannot share.
struct Sharing {
  ReplicasPoint point;
  std::optional<PlanProbe> probe;
};

Sharing sharing_at(const BlockSearch& search, PoolChoice choice, int replicas) {
  Sharing sharing;
  ReplicasPoint& point = sharing.point;
  point.replicas = replicas;
  choice.replicas = replicas;
  if (replicas == 1) choice.strategy = Strategy::Exclusive;
  const auto world = world_on_one_node(search, choice);
  const auto refusal = refusal_of(world);
  if (refusal) point.refused = refusal->reason.text();
  if (!world) return sharing;
  const NodeBound bound = node_bound(*world);
  point.nodes = bound.least;
  if (point.nodes > search.space.max_nodes) {
    point.refused = fmt::format("{} ask for {} nodes", bound.why.text(), point.nodes);
    return sharing;
  }
  if (refusal) return sharing;
  choice.nodes = point.nodes;
  sharing.probe =
      PlanProbe{.pools = {choice}, .replications = search.replications, .input = "", .factor = 1};
  return sharing;
}

bool stands(const ReplicasPoint& point) { return point.figures && point.figures->stands(); }

std::string misses(const OptionFigures& figures) {
  if (figures.verdict.has(Verdict::Cause::OutOfMemory)) return "GPU memory: pods are killed";
  if (figures.verdict.loses_pods()) return "pods that find no place";
  if (figures.verdict.has(Verdict::Cause::Overloaded)) return "requests that stay unanswered";
  for (const PlannedObjective& objective : figures.objectives) {
    if (standing_of(objective.result) != ObjectiveStanding::Holds) {
      return fmt::format("{} of {}", objective.result.name, objective.workload);
    }
  }
  return "";
}

void find_knee(ReplicasCurve& curve) {
  std::vector<std::optional<Usd>> prices;
  prices.reserve(curve.points.size());
  for (const ReplicasPoint& point : curve.points) {
    prices.push_back(stands(point) ? std::optional(point.figures->monthly) : std::nullopt);
  }
  curve.knee = knee_of(prices);
  const std::size_t after = curve.knee ? *curve.knee + 1 : 0;
  if (after >= curve.points.size()) {
    curve.binding = "no more pods to share with";
  } else if (!curve.points[after].figures) {
    curve.binding = curve.points[after].refused;
  } else if (!stands(curve.points[after])) {
    curve.binding = misses(*curve.points[after].figures);
  } else {
    curve.binding = "more pods per GPU save no node";
  }
}

}  // namespace

std::optional<std::size_t> knee_of(std::span<const std::optional<Usd>> prices) {
  constexpr double kFalls = 0.01;  // less is no fall worth another step
  const auto least = std::ranges::min_element(
      prices, [](const auto& a, const auto& b) { return a && (!b || a->nano < b->nano); });
  if (least == prices.end() || !*least) return std::nullopt;
  const double enough = (1 + kFalls) * to_dollars(**least);
  const auto knee = std::ranges::find_if(
      prices, [&](const auto& price) { return price && to_dollars(*price) <= enough; });
  return static_cast<std::size_t>(knee - prices.begin());
}

ReplicasCurve replicas_curve(const BlockSearch& search, const PlanOption& best) {
  ReplicasCurve curve;
  // Its points are judged with all of their nodes.
  if (search.space.survive != Outage::None) return curve;
  const PoolChoice& choice = best.pools.front();
  const bool shares = choice.strategy == Strategy::TimeSlicing ||
                      choice.strategy == Strategy::Mps || choice.strategy == Strategy::Exclusive;
  const bool whole = std::ranges::any_of(search.base.workloads, has_several_gpus) ||
                     std::ranges::any_of(choice.serving, [](const ServingChoice& serving) {
                       return serving.gpus.value_or(1) > 1;
                     });
  if (best.pools.size() > 1 || !shares || whole || choice.on_demand > 0 || choice.elastic) {
    return curve;
  }
  PoolChoice tried = choice;
  if (tried.strategy == Strategy::Exclusive) tried.strategy = Strategy::TimeSlicing;
  int pods = 0;
  for (const auto& workload : search.base.workloads) pods += workload.count;
  const int most = std::max(choice.replicas, std::min(std::max(2, pods), kMostReplicas));
  std::vector<PlanProbe> ask;
  std::vector<std::size_t> of;
  for (int r = 1; r <= most; ++r) {
    // The option itself, with the nodes that it needs to meet the objectives.
    if (r == choice.replicas) {
      curve.points.push_back({r, choice.nodes, best.figures, ""});
      continue;
    }
    Sharing sharing = sharing_at(search, tried, r);
    if (sharing.probe) {
      ask.push_back(std::move(*sharing.probe));
      of.push_back(curve.points.size());
    }
    curve.points.push_back(std::move(sharing.point));
    if (!curve.points.back().refused.empty() && r > choice.replicas) break;
  }
  std::vector<PlanAnswer> answers = search.probes.ask(ask);
  for (std::size_t a = 0; a < of.size(); ++a) {
    curve.points[of[a]].figures = std::move(answers[a].figures);
  }
  find_knee(curve);
  return curve;
}

}  // namespace slicewise::sim
