#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "../probe/scaled_input.hpp"
#include "plan_sections.hpp"
#include "pool_split.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// An input that more than doubles is another scenario.
constexpr double kMostFactor = 2;
constexpr int kFlipBisections = 4;
// Of many workloads: those that are closest to their limits, and the changes next to today's.
constexpr std::size_t kMostTight = 4;
constexpr std::size_t kMostFlips = 4;
// What to plan anew for one change is worth, in requests of a simulation: some hundred are needed.
constexpr double kFlipsWorth = 1.5e7;

// One input on its way from a factor that holds to one that does not.
struct Bracket {
  std::string input;
  double holds = 1;
  double breaks = kMostFactor;

  double middle() const { return (holds + breaks) / 2; }
};

std::vector<std::string> inputs_of(const BlockSearch& search, const PlanOption& best) {
  std::vector<std::string> inputs = flip_inputs(search.base, search.catalogue);
  if (separable_groups(search.base).size() <= kExactGroups) return inputs;
  std::vector<PlannedObjective> objectives = best.figures.objectives;
  std::ranges::stable_sort(objectives, std::greater<>(),
                           [](const auto& objective) { return objective.result.ratio(); });
  std::vector<std::string> tight;
  for (const PlannedObjective& objective : objectives) {
    if (tight.size() < kMostTight && !contains(tight, objective.workload)) {
      tight.push_back(objective.workload);
    }
  }
  std::erase_if(inputs, [&](const std::string& input) { return !concerns(input, tight); });
  return inputs;
}

// The inputs whose doubling the best option does not bear.
std::vector<Bracket> brackets_of(const BlockSearch& search, const PlanOption& best) {
  std::vector<PlanProbe> ask;
  const std::vector<std::string> inputs = inputs_of(search, best);
  ask.reserve(inputs.size());
  for (const std::string& input : inputs) ask.push_back(probe_of(search, best, input, kMostFactor));
  const std::vector<PlanAnswer> answers = search.probes.ask(ask);
  std::vector<Bracket> brackets;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!stands(answers[i])) brackets.push_back({inputs[i]});
  }
  return brackets;
}

// Of each bracket the best of the other options where the first one fails.
std::vector<std::optional<PlanOption>> next_best(const BlockSearch& search,
                                                 const std::vector<PlanOption>& options,
                                                 const std::vector<Bracket>& brackets) {
  // Bills by the month are in order, whatever the input: the first that stands is it.
  const bool in_order = search.goal == PlanGoal::MonthlyCost;
  std::vector<std::optional<PlanOption>> best(brackets.size());
  for (std::size_t o = 1; o < options.size(); ++o) {
    std::vector<PlanProbe> ask;
    std::vector<std::size_t> of;
    for (std::size_t b = 0; b < brackets.size(); ++b) {
      if (in_order && best[b]) continue;
      ask.push_back(probe_of(search, options[o], brackets[b].input, brackets[b].breaks));
      of.push_back(b);
    }
    const std::vector<PlanAnswer> answers = search.probes.ask(ask);
    for (std::size_t a = 0; a < answers.size(); ++a) {
      if (!stands(answers[a])) continue;
      const auto goal = goal_of(search.goal, *answers[a].figures);
      std::optional<PlanOption>& so_far = best[of[a]];
      if (!goal || (so_far && *so_far->goal <= *goal)) continue;
      if (fails_again(search, ask[a], *answers[a].figures)) continue;
      so_far = PlanOption{options[o].pools, *answers[a].figures, goal, false};
    }
  }
  return best;
}

// Whether the second option stands where the first does not: what somebody may regret.
std::vector<bool> second_stands(const BlockSearch& search, const std::vector<PlanOption>& options,
                                const std::vector<Bracket>& brackets) {
  if (options.size() < 2) return std::vector<bool>(brackets.size());
  std::vector<PlanProbe> ask;
  ask.reserve(brackets.size());
  for (const Bracket& b : brackets) ask.push_back(probe_of(search, options[1], b.input, b.breaks));
  std::vector<bool> stand;
  for (const PlanAnswer& answer : search.probes.ask(ask)) stand.push_back(stands(answer));
  return stand;
}

// Whether less of an input leaves the goal as it is: nodes that stay cost the same by the month.
bool is_fixed(const BlockSearch& search, const PlanOption& option) {
  return search.goal == PlanGoal::MonthlyCost &&
         std::ranges::none_of(option.pools, [](const PoolChoice& pool) { return pool.elastic; });
}

// What the best option comes to with less of the input: it does less, too.
std::optional<double> goal_with(const BlockSearch& search, const PlanOption& best,
                                const std::string& input, double factor) {
  if (is_fixed(search, best)) return best.goal;
  const PlanAnswer answer = search.probes.ask_one(probe_of(search, best, input, factor));
  return stands(answer) ? goal_of(search.goal, *answer.figures) : best.goal;
}

// Less of an input may make another configuration do that costs less: the largest part of it at
// which that stands and does.
std::optional<Flip> falling_flip(const BlockSearch& search, const PlanOption& best,
                                 const std::string& input) {
  constexpr double kLeastFactor = 1 / kMostFactor;
  if (!best.goal) return std::nullopt;
  const double own = *goal_with(search, best, input, kLeastFactor);
  auto then = planned_anew(search, best, input, kLeastFactor, own);
  if (!then || !then->goal || then->pools == best.pools || *then->goal >= own) return std::nullopt;
  Flip flip{input, kLeastFactor, 1, false, std::move(then)};
  for (int step = 0; step < kFlipBisections; ++step) {
    const double middle = (flip.factor + flip.holds_at) / 2;
    const PlanProbe probe = probe_of(search, *flip.winner, input, middle);
    const PlanAnswer answer = search.probes.ask_one(probe);
    const auto goal = stands(answer) ? goal_of(search.goal, *answer.figures) : std::nullopt;
    const bool wins = goal && *goal < *goal_with(search, best, input, middle) &&
                      !fails_again(search, probe, *answer.figures);
    (wins ? flip.factor : flip.holds_at) = middle;
  }
  return flip;
}

// By how much the best option's instance type must cost more for another type to be as cheap.
std::optional<Flip> price_flip(const BlockSearch& search, const std::vector<PlanOption>& options) {
  if (search.goal == PlanGoal::LatencyP99) return std::nullopt;
  const PlanOption& best = options.front();
  const std::string& type = best.pools.front().instance_type;
  for (std::size_t o = 1; o < options.size(); ++o) {
    const bool other = !contains(options[o].pools, type, &PoolChoice::instance_type);
    if (!other || best.pools.size() > 1 || !best.goal || *best.goal <= 0) continue;
    const double factor = *options[o].goal / *best.goal;
    if (factor > kMostFactor) return std::nullopt;
    return Flip{fmt::format("price of {}", type), factor, 1, false, options[o]};
  }
  return std::nullopt;
}

// How many changes in each direction are planned anew.
std::size_t flips_worth_it(const BlockSearch& search) {
  const double requests = requests_of_a_simulation(search);
  if (requests * static_cast<double>(flip_inputs(search.base, search.catalogue).size()) <=
      kFlipsWorth) {
    return std::numeric_limits<std::size_t>::max();
  }
  return static_cast<std::size_t>(std::max(1.0, kFlipsWorth / requests));
}

}  // namespace

Flips find_flips(const BlockSearch& search, const std::vector<PlanOption>& options) {
  if (options.empty()) return {};
  Flips all;
  std::vector<Flip>& flips = all.found;
  std::vector<Bracket> brackets = brackets_of(search, options.front());
  for (int step = 0; step < kFlipBisections && !brackets.empty(); ++step) {
    std::vector<PlanProbe> ask;
    ask.reserve(brackets.size());
    for (const Bracket& b : brackets) {
      ask.push_back(probe_of(search, options.front(), b.input, b.middle()));
    }
    const std::vector<PlanAnswer> answers = search.probes.ask(ask);
    for (std::size_t b = 0; b < brackets.size(); ++b) {
      (stands(answers[b]) ? brackets[b].holds : brackets[b].breaks) = brackets[b].middle();
    }
  }
  const bool few = separable_groups(search.base).size() <= kExactGroups;
  std::ranges::stable_sort(brackets, {}, &Bracket::breaks);
  const std::size_t most = flips_worth_it(search);
  if (!few && brackets.size() > kMostFlips) brackets.resize(kMostFlips);
  if (brackets.size() > most) {
    all.left_out = brackets.size() - most;
    brackets.resize(most);
  }
  std::vector<std::optional<PlanOption>> then = next_best(search, options, brackets);
  const std::vector<bool> second = second_stands(search, options, brackets);
  for (std::size_t b = 0; b < brackets.size() && !search.probes.interrupted(); ++b) {
    const auto& [input, holds, breaks] = brackets[b];
    const auto cap = then[b] ? then[b]->goal : std::nullopt;
    auto anew = planned_anew(search, options.front(), input, breaks, cap);
    const bool better = anew && anew->goal && (!then[b] || *anew->goal < *then[b]->goal);
    if (better) then[b] = std::move(anew);
    flips.push_back({input, breaks, holds, true, std::move(then[b]), second[b]});
  }
  std::size_t fallen = 0;
  for (const std::string& input : flip_inputs(search.base, search.catalogue)) {
    if (search.probes.interrupted()) return {};
    if (!few && input != kTraffic) continue;
    if (++fallen > most) {
      ++all.left_out;
      continue;
    }
    if (auto flip = falling_flip(search, options.front(), input)) {
      flips.push_back(std::move(*flip));
    }
  }
  if (auto flip = price_flip(search, options)) flips.push_back(std::move(*flip));
  std::ranges::stable_sort(
      flips, {}, [](const Flip& flip) { return flip.factor < 1 ? 1 / flip.factor : flip.factor; });
  return all;
}

}  // namespace slicewise::sim
