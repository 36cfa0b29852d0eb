#include "plan_sections.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/policies.hpp"

#include "../../result/merge.hpp"
#include "../probe/probe.hpp"
#include "node_bounds.hpp"
#include "pool_split.hpp"
#include "scaled_input.hpp"

namespace slicewise::sim {
namespace {

using scenarios::PolicyNode;

bool is_headroom(const PolicyNode& node) {
  return node.op == PolicyNode::Op::Figure && node.text == "headroom";
}

// How far to look. Beyond what policies ask for nobody asks how much more, and each doubling takes
// twice as long to simulate.
double most_headroom(const std::vector<scenarios::Policy>& policies) {
  using Op = PolicyNode::Op;
  double most = 4;
  for (const scenarios::Policy& policy : policies) {
    for (const PolicyNode& node : policy.nodes) {
      const bool compares = node.op >= Op::Less && node.op <= Op::NotEqual;
      if (!compares || !is_headroom(policy.nodes[node.left])) continue;
      const double limit = policy.nodes[node.right].value;
      const bool decided_at_limit = node.op == Op::GreaterEqual || node.op == Op::Less;
      most = std::max(most, decided_at_limit
                                ? limit
                                : std::nextafter(limit, std::numeric_limits<double>::infinity()));
    }
  }
  return most;
}

}  // namespace

Headroom headroom_of(const scenarios::ScenarioSet& set, const scenarios::Scenario& base,
                     const models::Catalogue& catalogue, const RunOptions& run,
                     const PlanOption& option) {
  scenarios::ScenarioSet one = set;
  one.variants = {planned_scenario(base, option.pools, catalogue)};
  MaxLoadOptions options;
  constexpr double kHeadroomPrecision = 0.05;
  options.precision = kHeadroomPrecision;
  options.most = most_headroom(base.policies);
  options.run = run;
  options.run.progress = nullptr;
  if (run.so_far) {
    options.run.so_far = [&](const std::string& line) { run.so_far("the best " + line); };
  }
  const auto load = find_max_load(one, 0, catalogue, options);
  Headroom headroom;
  if (!load) return headroom;
  headroom.interrupted = load->interrupted;
  if (load->passed) headroom.passed = load->probes[*load->passed].factor;
  if (load->failed) headroom.failed = load->probes[*load->failed].factor;
  if (load->failed && load->binding) {
    const auto& objective = load->probes[*load->failed].objectives[*load->binding];
    headroom.binding = fmt::format("{} of {}", objective.result.name, objective.workload);
  }
  return headroom;
}

bool asks_for_headroom(const std::vector<scenarios::Policy>& policies) {
  return std::ranges::any_of(policies, [](const scenarios::Policy& policy) {
    return std::ranges::any_of(policy.nodes, is_headroom);
  });
}

void judge_with_headroom(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                         const RunOptions& run, const Headroom& headroom, PlanOption& option) {
  PlanProbe probe;
  probe.pools = option.pools;
  probe.replications = base.replications;
  auto world = probe_world(base, probe, catalogue);
  if (!world) return;
  RunOptions quiet = run;
  quiet.progress = nullptr;
  auto result = simulate(*world, quiet);
  if (!result) return;
  result->policies = judge_policies(world->policies, *result, headroom.passed);
  result->verdict = judge(*result, world->allow_pending);
  option.figures = figures_of(*result);
}

namespace {

// An input that more than doubles is another scenario.
constexpr double kMostFactor = 2;
constexpr int kFlipBisections = 4;
// Of many workloads: those that are closest to their limits, and the changes next to today's.
constexpr std::size_t kMostTight = 4;
constexpr std::size_t kMostFlips = 4;
// What to plan anew for one change is worth, in requests of a simulation: some hundred are needed.
constexpr double kFlipsWorth = 1.5e7;
// Times that pools are planned anew because of what they miss together.
constexpr int kMostAnew = 8;

PlanProbe probe_of(const BlockSearch& search, const PlanOption& option, const std::string& input,
                   double factor) {
  PlanProbe probe;
  probe.pools = option.pools;
  probe.replications = search.replications;
  probe.input = input;
  probe.factor = factor;
  probe.until_clear = true;
  return probe;
}

bool stands(const PlanAnswer& answer) {
  return answer.figures && !answer.partial && answer.figures->stands();
}

// Whether it is the input of one of the workloads, as the file calls them, or of all.
bool concerns(const std::string& input, const std::vector<std::string>& given_names) {
  return !input.starts_with("workloads.") ||
         std::ranges::any_of(given_names, [&](const std::string& name) {
           return input.starts_with(fmt::format("workloads.{}.", name));
         });
}

std::vector<std::string> concerned_by(const std::string& input, const scenarios::Scenario& base) {
  std::vector<std::string> names = workloads_with_pods(base);
  std::erase_if(names, [&](const std::string& name) {
    const auto workload = std::ranges::find(
        base.workloads, name, [](const auto& w) -> const auto& { return w.name.value; });
    return !concerns(input, {workload->given_name()});
  });
  return names;
}

double monthly_price(const World& world) {
  return to_dollars(cost_of(world.pools.front().price.usd, kMonth));
}

}  // namespace

namespace {

// All that miss something: an answer that stops at the first miss names one of them.
std::vector<std::string> all_missed(PlanProbe probe, const OptionFigures& first,
                                    ProbeBatch& probes) {
  std::vector<std::string> names = missed_by(first);
  probe.until_clear = false;
  const PlanAnswer whole = probes.ask_one(probe);
  if (!whole.figures) return names;
  for (std::string& name : missed_by(*whole.figures)) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

bool bears(const BlockSearch& search, const PlanOption& option, const std::string& input,
           double factor, ProbeBatch& probes) {
  return stands(probes.ask_one(probe_of(search, option, input, factor)));
}

std::vector<std::string> missed_with(const BlockSearch& search, const PlanOption& option,
                                     const std::string& input, double factor, ProbeBatch& probes) {
  const PlanProbe probe = probe_of(search, option, input, factor);
  const PlanAnswer answer = probes.ask_one(probe);
  if (!answer.figures || stands(answer)) return {};
  return all_missed(probe, *answer.figures, probes);
}

std::optional<double> monthly_of(const BlockSearch& search, const PoolChoice& pool) {
  const auto world = world_on_one_node(search, pool);
  if (!world || pool.on_demand + pool.unshared > 0 || pool.elastic) return std::nullopt;
  return pool.nodes * monthly_price(*world);
}

namespace {

// One input on its way from a factor that holds to one that does not.
struct Bracket {
  std::string input;
  double holds = 1;
  double breaks = kMostFactor;

  double middle() const { return (holds + breaks) / 2; }
};

std::vector<std::string> inputs_of(const BlockSearch& search, const PlanOption& best) {
  std::vector<std::string> inputs = flip_inputs(search.base);
  if (separable_groups(search.base).size() <= kExactGroups) return inputs;
  std::vector<PlannedObjective> objectives = best.figures.objectives;
  std::ranges::stable_sort(objectives, std::greater<>(), &PlannedObjective::ratio);
  std::vector<std::string> tight;
  for (const PlannedObjective& objective : objectives) {
    if (tight.size() < kMostTight && std::ranges::find(tight, objective.workload) == tight.end()) {
      tight.push_back(objective.workload);
    }
  }
  std::erase_if(inputs, [&](const std::string& input) { return !concerns(input, tight); });
  return inputs;
}

// The inputs whose doubling the best option does not bear.
std::vector<Bracket> brackets_of(const BlockSearch& search, const PlanOption& best,
                                 ProbeBatch& probes) {
  std::vector<PlanProbe> ask;
  const std::vector<std::string> inputs = inputs_of(search, best);
  ask.reserve(inputs.size());
  for (const std::string& input : inputs) ask.push_back(probe_of(search, best, input, kMostFactor));
  const std::vector<PlanAnswer> answers = probes.ask(ask);
  std::vector<Bracket> brackets;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!stands(answers[i])) brackets.push_back({inputs[i]});
  }
  return brackets;
}

// Of each bracket the best of the other options where the first one fails.
std::vector<std::optional<PlanOption>> next_best(const BlockSearch& search,
                                                 const std::vector<PlanOption>& options,
                                                 const std::vector<Bracket>& brackets,
                                                 ProbeBatch& probes) {
  // Bills by the month are in order, whatever the input: the first that stands is it.
  const bool in_order = search.goal == scenarios::PlanGoal::MonthlyCost;
  std::vector<std::optional<PlanOption>> best(brackets.size());
  for (std::size_t o = 1; o < options.size(); ++o) {
    std::vector<PlanProbe> ask;
    std::vector<std::size_t> of;
    for (std::size_t b = 0; b < brackets.size(); ++b) {
      if (in_order && best[b]) continue;
      ask.push_back(probe_of(search, options[o], brackets[b].input, brackets[b].breaks));
      of.push_back(b);
    }
    const std::vector<PlanAnswer> answers = probes.ask(ask);
    for (std::size_t a = 0; a < answers.size(); ++a) {
      if (!stands(answers[a])) continue;
      const auto goal = goal_of(search.goal, *answers[a].figures);
      std::optional<PlanOption>& so_far = best[of[a]];
      if (!goal || (so_far && *so_far->goal <= *goal)) continue;
      so_far = PlanOption{options[o].pools, *answers[a].figures, goal, false};
    }
  }
  return best;
}

// Whether the second option stands where the first does not: what somebody may regret.
std::vector<bool> second_stands(const BlockSearch& search, const std::vector<PlanOption>& options,
                                const std::vector<Bracket>& brackets, ProbeBatch& probes) {
  if (options.size() < 2) return std::vector<bool>(brackets.size());
  std::vector<PlanProbe> ask;
  ask.reserve(brackets.size());
  for (const Bracket& b : brackets) ask.push_back(probe_of(search, options[1], b.input, b.breaks));
  std::vector<bool> stand;
  for (const PlanAnswer& answer : probes.ask(ask)) stand.push_back(stands(answer));
  return stand;
}

}  // namespace

bool has_one_of(const PoolChoice& pool, const std::vector<std::string>& workloads) {
  return std::ranges::any_of(workloads, [&](const std::string& name) {
    return std::ranges::find(pool.workloads, name) != pool.workloads.end();
  });
}

std::optional<PlanOption> pools_anew(const BlockSearch& search, const PlanOption& best,
                                     const std::vector<std::string>& workloads, const PoolCap& cap,
                                     ProbeBatch& probes) {
  BlockSearch there = search;
  PlanProbe probe = probe_of(there, best, there.input, there.factor);
  std::vector<std::string> concerned = workloads;
  for (int round = 0; round < kMostAnew && !concerned.empty(); ++round) {
    for (PoolChoice& pool : probe.pools) {
      if (!has_one_of(pool, concerned)) continue;
      std::optional<double> most;
      if (cap.cheaper) most = monthly_of(there, pool);
      if (probe.pools.size() == 1 && cap.only) most = std::min(*cap.only, most.value_or(*cap.only));
      if (round > 0) there.refuted.push_back(pool);
      BlockResult found = search_block(there, pool.workloads, 1, most, Depth::First, probes);
      if (found.options.empty()) return std::nullopt;
      pool = std::move(found.options.front().choice);
    }
    const PlanAnswer answer = probes.ask_one(probe);
    if (!answer.figures) return std::nullopt;
    if (stands(answer)) {
      return PlanOption{probe.pools, *answer.figures, goal_of(there.goal, *answer.figures), false};
    }
    concerned = all_missed(probe, *answer.figures, probes);
  }
  return std::nullopt;
}

std::optional<PlanOption> planned_anew(const BlockSearch& search, const PlanOption& best,
                                       const std::string& input, double factor,
                                       std::optional<double> cap, ProbeBatch& probes) {
  BlockSearch there = search;
  there.input = input;
  there.factor = factor;
  there.so_far = nullptr;
  std::optional<PlanOption> then =
      pools_anew(there, best, concerned_by(input, search.base), {.only = cap}, probes);
  if (!search.split || separable_groups(search.base).size() > kExactGroups) return then;
  SplitResult split = split_pools(there, then ? then->goal : cap, probes);
  if (split.pools.empty()) return then;
  return PlanOption{std::move(split.pools), std::move(split.figures), split.goal, false};
}

namespace {

// Whether less of an input leaves the goal as it is: nodes that stay cost the same by the month.
bool is_fixed(const BlockSearch& search, const PlanOption& option) {
  return search.goal == scenarios::PlanGoal::MonthlyCost &&
         std::ranges::none_of(option.pools, [](const PoolChoice& pool) { return pool.elastic; });
}

// What the best option comes to with less of the input: it does less, too.
std::optional<double> goal_with(const BlockSearch& search, const PlanOption& best,
                                const std::string& input, double factor, ProbeBatch& probes) {
  if (is_fixed(search, best)) return best.goal;
  const PlanAnswer answer = probes.ask_one(probe_of(search, best, input, factor));
  return stands(answer) ? goal_of(search.goal, *answer.figures) : best.goal;
}

// Less of an input may make another configuration do that costs less: the largest part of it at
// which that stands and does.
std::optional<Flip> falling_flip(const BlockSearch& search, const PlanOption& best,
                                 const std::string& input, ProbeBatch& probes) {
  constexpr double kLeastFactor = 1 / kMostFactor;
  if (!best.goal) return std::nullopt;
  const double own = *goal_with(search, best, input, kLeastFactor, probes);
  auto then = planned_anew(search, best, input, kLeastFactor, own, probes);
  if (!then || !then->goal || then->pools == best.pools || *then->goal >= own) return std::nullopt;
  Flip flip{input, kLeastFactor, 1, false, std::move(then)};
  for (int step = 0; step < kFlipBisections; ++step) {
    const double middle = (flip.factor + flip.holds_at) / 2;
    const PlanAnswer answer = probes.ask_one(probe_of(search, *flip.winner, input, middle));
    const auto goal = stands(answer) ? goal_of(search.goal, *answer.figures) : std::nullopt;
    const bool wins = goal && *goal < *goal_with(search, best, input, middle, probes);
    (wins ? flip.factor : flip.holds_at) = middle;
  }
  return flip;
}

// By how much the best option's instance type must cost more for another type to be as cheap.
std::optional<Flip> price_flip(const BlockSearch& search, const std::vector<PlanOption>& options) {
  if (search.goal == scenarios::PlanGoal::LatencyP99) return std::nullopt;
  const PlanOption& best = options.front();
  const std::string& type = best.pools.front().instance_type;
  for (std::size_t o = 1; o < options.size(); ++o) {
    const bool other = std::ranges::none_of(
        options[o].pools, [&](const PoolChoice& p) { return p.instance_type == type; });
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
  if (requests * static_cast<double>(flip_inputs(search.base).size()) <= kFlipsWorth) {
    return std::numeric_limits<std::size_t>::max();
  }
  return static_cast<std::size_t>(std::max(1.0, kFlipsWorth / requests));
}

}  // namespace

Flips find_flips(const BlockSearch& search, const std::vector<PlanOption>& options,
                 ProbeBatch& probes) {
  if (options.empty()) return {};
  Flips all;
  std::vector<Flip>& flips = all.found;
  std::vector<Bracket> brackets = brackets_of(search, options.front(), probes);
  for (int step = 0; step < kFlipBisections && !brackets.empty(); ++step) {
    std::vector<PlanProbe> ask;
    ask.reserve(brackets.size());
    for (const Bracket& b : brackets) {
      ask.push_back(probe_of(search, options.front(), b.input, b.middle()));
    }
    const std::vector<PlanAnswer> answers = probes.ask(ask);
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
  std::vector<std::optional<PlanOption>> then = next_best(search, options, brackets, probes);
  const std::vector<bool> second = second_stands(search, options, brackets, probes);
  for (std::size_t b = 0; b < brackets.size() && !probes.interrupted(); ++b) {
    const auto& [input, holds, breaks] = brackets[b];
    const auto cap = then[b] ? then[b]->goal : std::nullopt;
    auto anew = planned_anew(search, options.front(), input, breaks, cap, probes);
    const bool better = anew && anew->goal && (!then[b] || *anew->goal < *then[b]->goal);
    if (better) then[b] = std::move(anew);
    flips.push_back({input, breaks, holds, true, std::move(then[b]), second[b]});
  }
  std::size_t fallen = 0;
  for (const std::string& input : flip_inputs(search.base)) {
    if (probes.interrupted()) return {};
    if (!few && input != kTraffic) continue;
    if (++fallen > most) {
      ++all.left_out;
      continue;
    }
    if (auto flip = falling_flip(search, options.front(), input, probes)) {
      flips.push_back(std::move(*flip));
    }
  }
  if (auto flip = price_flip(search, options)) flips.push_back(std::move(*flip));
  std::ranges::stable_sort(
      flips, {}, [](const Flip& flip) { return flip.factor < 1 ? 1 / flip.factor : flip.factor; });
  return all;
}

namespace {

// The pods on whole GPUs of the type, if every one of them can start there.
std::optional<World> world_that_holds(const BlockSearch& search,
                                      const std::vector<std::string>& workloads,
                                      const models::InstanceType& type) {
  Expected<World> world = world_on_one_node(search, unshared(type, workloads));
  if (refusal_of(world) || too_large_for_a_node(*world)) return std::nullopt;
  return std::move(*world);
}

std::string gib(Bytes memory) {
  return fmt::format("{:.1f} GiB", static_cast<double>(memory.count) / (1LL << 30));
}

// The cheapest of the whole catalogue that is still sold.
std::string type_that_holds(const BlockSearch& search, const std::vector<std::string>& workloads) {
  const models::InstanceType* best = nullptr;
  double least = 0;
  Bytes memory;
  for (const models::InstanceType& type : search.catalogue.instances) {
    if (!type.retired_on.empty()) continue;
    const auto world = world_that_holds(search, workloads, type);
    if (!world) continue;
    const double monthly = monthly_price(*world);
    if (best != nullptr && monthly >= least) continue;
    best = &type;
    least = monthly;
    memory = world->pools.front().kinds.front().memory;
  }
  if (best == nullptr) return "no instance type of the catalogue holds every pod";
  return fmt::format(
      "no instance type that was tried holds every pod; the cheapest that does is {} ({} x {} with "
      "{}, ${:.0f} a month): --instances {}",
      best->name, best->gpu_count, best->gpu_model, gib(memory), least, best->name);
}

struct OutOfLimits {
  const PoolChoice* choice = nullptr;
  int nodes = 0;
  double monthly = 0;
};

// Of what no closed form rules out but for the limits of the search, the cheapest.
OutOfLimits cheapest_out_of_limits(const BlockSearch& search,
                                   const std::vector<RejectedChoice>& rejected) {
  OutOfLimits best;
  for (const RejectedChoice& other : rejected) {
    if (other.stage != RejectedChoice::Stage::Bound || other.figures) continue;
    const auto world = world_on_one_node(search, other.choice);
    if (!world) continue;
    const NodeBound bound = node_bound(*world);
    if (!bound.refused.empty()) continue;
    const double monthly = bound.least * monthly_price(*world);
    if (best.choice == nullptr || monthly < best.monthly) {
      best = {&other.choice, bound.least, monthly};
    }
  }
  return best;
}

std::string limit_in_the_way(const BlockSearch& search, const OutOfLimits& nearest) {
  PoolChoice choice = *nearest.choice;
  choice.nodes = nearest.nodes;
  std::string out = fmt::format("what could stand takes {} or more, ${:.0f} a month",
                                describe(choice), nearest.monthly);
  if (nearest.nodes > search.space.max_nodes) {
    return out + fmt::format(": --max-nodes {}", nearest.nodes);
  }
  if (!search.space.max_monthly_cost) return out;
  return out + fmt::format(": --max-cost {:.0f}", std::ceil(nearest.monthly));
}

}  // namespace

std::vector<std::string> nearest_to_standing(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             const std::vector<RejectedChoice>& rejected) {
  if (const auto why = why_homeless(search.base, workloads)) return {why->text()};
  const bool held = std::ranges::any_of(search.space.types, [&](const auto* type) {
    return world_that_holds(search, workloads, *type).has_value();
  });
  if (!held) return {type_that_holds(search, workloads)};
  const OutOfLimits nearest = cheapest_out_of_limits(search, rejected);
  if (nearest.choice == nullptr) return {};
  return {limit_in_the_way(search, nearest)};
}

}  // namespace slicewise::sim
