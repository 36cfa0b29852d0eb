#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/sharing_strategy.hpp"

#include "plan_words.hpp"
#include "result_figures.hpp"

namespace slicewise::reports {
namespace {

using sim::Plan;
using sim::PlanOption;
using sim::PoolChoice;

// Of several pools those that are others than the best option's.
std::string others_text(const PlanOption& then, const PlanOption& best) {
  std::vector<PoolChoice> others;
  for (const PoolChoice& pool : then.pools) {
    if (std::ranges::find(best.pools, pool) == best.pools.end()) others.push_back(pool);
  }
  const bool some_stay = !others.empty() && others.size() < then.pools.size();
  return some_stay ? fmt::format("{} in place of the pools of these", pools_text(others))
                   : pools_text(then.pools);
}

// What follows "Flips if INPUT".
std::string flip_words(const Plan& plan, const sim::Flip& flip) {
  const std::string then = flip.winner ? others_text(*flip.winner, plan.options.front())
                                       : std::string("none of these options");
  if (flip.factor < 1) {
    return fmt::format("falls to {} of it: then {} will do, {} a month.", factor_words(flip.factor),
                       then, money_text(flip.winner->figures.monthly));
  }
  if (!flip.misses) {
    return fmt::format("grows {} times: then {} is as cheap.", factor_words(flip.factor), then);
  }
  return fmt::format("grows {} times (holds at {}): then {}.", factor_words(flip.factor),
                     factor_words(flip.holds_at),
                     flip.winner ? then + " is best" : then + " stands");
}

// One for all inputs with which the same happens.
std::vector<std::string> flip_sentences(const Plan& plan) {
  std::vector<std::pair<std::string, std::vector<std::string>>> flips;
  for (const sim::Flip& flip : plan.flips) {
    const std::string words = flip_words(plan, flip);
    auto known = std::ranges::find(flips, words, [](const auto& f) { return f.first; });
    if (known == flips.end()) known = flips.insert(known, {words, {}});
    const bool is_price = !flip.misses && flip.factor > 1;
    known->second.push_back(is_price ? "the " + flip.input : flip.input);
  }
  std::vector<std::string> lines;
  for (const auto& [words, inputs] : flips) {
    const bool one = inputs.size() == 1;
    lines.push_back(
        fmt::format("Flips if {}{} {}", one ? "" : "one of ", fmt::join(inputs, ", "), words));
  }
  return lines;
}

// Of all that could be measured what the answer hangs on most.
std::string measure_sentence(const Plan& plan) {
  if (!plan.measure_next) return "";
  const sim::TellingMeasurement& next = *plan.measure_next;
  const scenarios::SharingStrategy* way = scenarios::sharing_strategy(next.strategy);
  const bool alone = next.strategy.empty();
  std::string what = next.workload + " alone";
  if (!alone) {
    const std::string company = next.beside.empty()
                                    ? fmt::format("two pods of {}", next.workload)
                                    : fmt::format("{} beside {}", next.workload, next.beside);
    what = fmt::format("{} by {}", company, way == nullptr ? next.strategy : way->title);
  }
  const std::string factor = factor_words(next.factor);
  const std::string changes = next.factor > 1 ? fmt::format("#1 does not bear {} times", factor)
                                              : fmt::format("another will do at {} times", factor);
  if (alone) {
    return fmt::format(
        "Measure next: {} on one {} for 60 s: nobody measured its time there, and {} "
        "what is taken for it.",
        what, next.gpu, changes);
  }
  return fmt::format("Measure next: {} on one {} for 60 s: {} the time that is predicted, and {}.",
                     what, next.gpu, changes,
                     next.error_percent
                         ? fmt::format("nine of ten such were within {:.2g} %", *next.error_percent)
                         : std::string("nobody published how far off such are"));
}

// What the second option would have borne, and what that costs.
std::string regret_sentence(const Plan& plan) {
  if (plan.options.size() < 2) return "";
  std::vector<std::string> missed;
  std::vector<std::string> borne;
  for (const sim::Flip& flip : plan.flips) {
    if (!flip.misses) continue;
    missed.push_back(flip.input);
    if (flip.second_stands) borne.push_back(flip.input);
  }
  if (missed.empty()) return "";
  const Usd first = plan.options[0].figures.monthly;
  const Usd second = plan.options[1].figures.monthly;
  const std::string costs =
      first == second ? "costs as much"
                      : fmt::format("costs {} a month {}",
                                    money_text(second > first ? second - first : first - second),
                                    second > first ? "more" : "less");
  if (borne.empty()) return fmt::format("Regret: #2 {} and does not bear that either.", costs);
  if (missed.size() == 1) {
    return fmt::format("Regret: #2 {} and bears the change at which #1 misses something.", costs);
  }
  constexpr std::size_t kNamed = 3;
  const std::string names =
      borne.size() > kNamed ? "" : fmt::format(": {}", fmt::join(borne, ", "));
  return fmt::format("Regret: #2 {} and bears {} of the {} changes at which #1 misses something{}.",
                     costs, borne.size(), missed.size(), names);
}

}  // namespace

std::vector<std::string> what_it_hangs_on(const Plan& plan) {
  std::vector<std::string> lines = flip_sentences(plan);
  for (std::string& line : std::array{measure_sentence(plan), regret_sentence(plan)}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace slicewise::reports
