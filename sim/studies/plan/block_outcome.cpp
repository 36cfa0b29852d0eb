#include "block_outcome.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "option_order.hpp"

namespace slicewise::sim {
namespace {

using Stage = RejectedChoice::Stage;

// Of options, best first, one for the same nodes.
std::vector<PlanOption> one_of_each(std::vector<PlanOption> options) {
  std::vector<PlanOption> kept;
  for (PlanOption& option : options) {
    const auto is_like_it = [&](const PlanOption& other) {
      return same_nodes(other.pools.front(), option.pools.front());
    };
    if (std::ranges::none_of(kept, is_like_it)) kept.push_back(std::move(option));
  }
  return kept;
}

// Dollars a month, at the least, of the nodes for those whose pods are always there.
double steady_monthly(const BlockSearch& search, const PoolChoice& choice) {
  std::vector<std::string> steady = choice.workloads;
  std::erase_if(steady, [&](const auto& name) { return !is_always_there(search.base, name); });
  if (steady.empty()) return 0;
  PlanSpace space = search.space;
  std::erase_if(space.types, [&](const auto* type) { return type->name != choice.instance_type; });
  return least_monthly(search_within(search, search.base, space), steady).value_or(0);
}

}  // namespace

bool may_come_and_go(const BlockSearch& search, const std::vector<std::string>& names) {
  return search.space.survive == Outage::None &&
         std::ranges::any_of(search.base.workloads, [&](const auto& workload) {
           return workload.comes_and_goes() && contains(names, workload.name.value);
         });
}

bool is_always_there(const Scenario& base, const std::string& name) {
  const Workload* const workload = base.find_workload(name);
  return workload != nullptr && workload->is_always_there();
}

bool need_nodes_always(const BlockSearch& search, const std::vector<std::string>& names) {
  if (!may_come_and_go(search, workloads_with_pods(search.base))) return true;
  return std::ranges::all_of(names, [&](const std::string& name) {
    const Workload* const workload = search.base.find_workload(name);
    return workload != nullptr && workload->kind != WorkloadKind::Job && !workload->notebooks &&
           workload->pods_kept() > 0;
  });
}

bool same_nodes(const PoolChoice& a, PoolChoice b) {
  constexpr auto kGpus = &ServingChoice::gpus;
  if (!std::ranges::equal(a.serving, b.serving, {}, kGpus, kGpus)) return false;
  b.serving = a.serving;
  b.mig_profiles = a.mig_profiles;
  return a == b;
}

std::vector<BlockCandidate> mixed_candidates(const std::vector<BlockCandidate>& candidates) {
  std::vector<BlockCandidate> mixed;
  for (const BlockCandidate& spot : candidates) {
    if (spot.choice.purchase != "spot" || spot.best || !spot.last) continue;
    const auto steady = std::ranges::find_if(candidates, [&](const BlockCandidate& other) {
      PoolChoice as_spot = other.choice;
      as_spot.purchase = "spot";
      return other.choice.purchase == "on-demand" && other.best && as_spot == spot.choice;
    });
    if (steady == candidates.end()) continue;
    const int nodes = steady->best->pools.front().nodes;
    if (nodes < 2) continue;
    BlockCandidate candidate(NodeSearch(1, nodes - 1));
    candidate.choice = spot.choice;
    candidate.mixed_nodes = nodes;
    mixed.push_back(std::move(candidate));
  }
  return mixed;
}

std::vector<BlockCandidate> elastic_candidates(const BlockSearch& search,
                                               const std::vector<BlockCandidate>& candidates) {
  std::vector<BlockCandidate> elastic;
  // Nodes that stay are billed from the first second on: that others start a little later, once in
  // the time that is simulated, saves nothing in a month.
  const auto& simulated = search.base.duration;
  const double start = to_seconds(search.base.provisioner.start_up.whole());
  const double not_there_yet = simulated ? std::min(1.0, start / to_seconds(*simulated)) : 0;
  for (const BlockCandidate& fixed : candidates) {
    const bool worth_it =
        fixed.best || fixed.too_dear || fixed.choice.strategy == Strategy::Exclusive;
    if (!worth_it || fixed.mixed_nodes > 0) continue;
    if (!may_come_and_go(search, fixed.choice.workloads)) continue;
    // What does not do when it stays does not when it comes and goes.
    const int least = std::min(fixed.most, fixed.nodes.failed() + 1);
    BlockCandidate candidate(NodeSearch(least, fixed.most));
    candidate.choice = fixed.choice;
    candidate.choice.elastic = true;
    candidate.most = fixed.most;
    if (fixed.best) candidate.below = *fixed.best->goal * (1 - not_there_yet);
    candidate.steady =
        std::max(steady_monthly(search, candidate.choice), fixed.kept * fixed.monthly);
    elastic.push_back(std::move(candidate));
  }
  return elastic;
}

void complete_rejected(const BlockSearch& search, std::vector<BlockCandidate>& candidates) {
  std::vector<PlanProbe> probes;
  std::vector<std::size_t> of;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const BlockCandidate& candidate = candidates[c];
    if (candidate.best || !candidate.last || !candidate.last->partial) continue;
    probes.push_back({.pools = {candidate.with(candidate.nodes.failed())},
                      .replications = candidate.last->figures->replications,
                      .input = search.input,
                      .factor = search.factor});
    of.push_back(c);
  }
  std::vector<PlanAnswer> answers = search.probes.ask(probes);
  for (std::size_t p = 0; p < of.size(); ++p) {
    if (answers[p].figures) candidates[of[p]].last = std::move(answers[p]);
  }
}

void sort_out(std::vector<BlockCandidate> candidates, PlanGoal goal, std::size_t top,
              BlockResult& result) {
  for (BlockCandidate& candidate : candidates) {
    if (candidate.best) {
      result.options.push_back(std::move(*candidate.best));
      continue;
    }
    PoolChoice choice = candidate.with(candidate.last ? candidate.nodes.failed() : 0);
    const bool bound = !candidate.stopped.empty() && !candidate.last;
    Reason why = candidate.last ? miss_of(*candidate.last->figures) : candidate.stopped;
    if (candidate.last && candidate.has_spares) {
      why = joined({"with the nodes that may be lost: "}, why);
      choice.nodes = with_spares(candidate.survive, choice.nodes);
    }
    if (candidate.last && !candidate.stopped.empty()) {
      why = joined(joined(std::move(why), {"; with more nodes "}), candidate.stopped);
    }
    if (bound) ++result.bounded;
    std::optional<OptionFigures> figures;
    if (candidate.last) figures = std::move(candidate.last->figures);
    result.rejected.push_back({bound ? Stage::Bound : Stage::Simulation, std::move(choice),
                               std::nullopt, std::move(why), std::move(figures)});
  }
  put_best_first(result.options);
  put_unfinished_last(goal, result.options);
  result.options = one_of_each(std::move(result.options));
  if (result.options.size() > top) result.options.resize(top);
}

}  // namespace slicewise::sim
