#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan_sections.hpp"
#include "scaled_input.hpp"

namespace slicewise::sim {
namespace {

// An input that more than doubles is another scenario.
constexpr double kMostFactor = 2;
constexpr int kFlipBisections = 4;

PlanProbe probe_of(const BlockSearch& search, const PlanOption& option, const std::string& input,
                   double factor) {
  PlanProbe probe;
  probe.pools = option.pools;
  probe.replications = search.replications;
  probe.input = input;
  probe.factor = factor;
  return probe;
}

bool stands(const PlanAnswer& answer) { return answer.figures && answer.figures->stands(); }

// One input on its way from a factor that holds to one that does not.
struct Bracket {
  std::string input;
  double holds = 1;
  double breaks = kMostFactor;

  double middle() const { return (holds + breaks) / 2; }
};

// The inputs whose doubling the best option does not bear.
std::vector<Bracket> brackets_of(const BlockSearch& search, const PlanOption& best,
                                 ProbeBatch& probes) {
  std::vector<PlanProbe> ask;
  const std::vector<std::string> inputs = flip_inputs(search.base);
  ask.reserve(inputs.size());
  for (const std::string& input : inputs) ask.push_back(probe_of(search, best, input, kMostFactor));
  const std::vector<PlanAnswer> answers = probes.ask(ask);
  std::vector<Bracket> brackets;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!stands(answers[i])) brackets.push_back({inputs[i]});
  }
  return brackets;
}

// The best of the others where the first one fails.
std::optional<PlanOption> next_best(const BlockSearch& search,
                                    const std::vector<PlanOption>& options, const Bracket& bracket,
                                    ProbeBatch& probes) {
  std::vector<PlanProbe> ask;
  for (std::size_t o = 1; o < options.size(); ++o) {
    ask.push_back(probe_of(search, options[o], bracket.input, bracket.breaks));
  }
  const std::vector<PlanAnswer> answers = probes.ask(ask);
  std::optional<PlanOption> best;
  for (std::size_t a = 0; a < answers.size(); ++a) {
    if (!stands(answers[a])) continue;
    const auto goal = goal_of(search.goal, *answers[a].figures);
    if (!goal || (best && *best->goal <= *goal)) continue;
    best = PlanOption{options[a + 1].pools, *answers[a].figures, goal, false};
  }
  return best;
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

}  // namespace

std::vector<Flip> find_flips(const BlockSearch& search, const std::vector<PlanOption>& options,
                             ProbeBatch& probes) {
  std::vector<Flip> flips;
  if (options.empty()) return flips;
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
  if (probes.interrupted()) return flips;
  for (const Bracket& bracket : brackets) {
    flips.push_back({bracket.input, bracket.breaks, bracket.holds, true,
                     next_best(search, options, bracket, probes)});
  }
  if (auto flip = price_flip(search, options)) flips.push_back(std::move(*flip));
  std::ranges::stable_sort(flips, {}, &Flip::factor);
  return flips;
}

}  // namespace slicewise::sim
