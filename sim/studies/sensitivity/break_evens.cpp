#include "break_evens.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "../load/load_search.hpp"

namespace slicewise::sim {
namespace {

constexpr double kBreakEvenPrecision = 0.05;  // width of the interval over its lower end
constexpr double kFurthestFactor = 8;         // times the scenario's value, or that part of it
constexpr int kMostSimulations = 10;          // of one input

// An objective moves by less than this: nothing to look for.
constexpr double kLeastMove = 0.001;

// How an input moves the worst objective.
struct InputPull {
  std::size_t place = 0;
  bool worse_above = true;  // a larger input is worse
  double size = 0;          // change of the excess, over the scenario's
};

std::vector<InputPull> pulls_of(const SensitivitySubject& subject) {
  const double as_is = worst_excess(subject.as_is.pooled);
  std::vector<InputPull> pulls;
  for (std::size_t p = 0; p < subject.places.size(); ++p) {
    InputPull pull;
    pull.place = p;
    double worst = -1;
    for (const VariedWorld& varied : subject.varied) {
      if (varied.place != p || !varied.result) continue;
      const double excess = worst_excess(varied.result->pooled);
      const double size = std::isfinite(as_is) && as_is > 0 ? std::abs(excess / as_is - 1)
                          : excess == as_is                 ? 0
                                                            : 1;
      pull.size = std::max(pull.size, size);
      // The end that is worse says which way to go; where both are alike, up.
      const bool is_worse_end = excess > worst;
      if (is_worse_end) pull.worse_above = varied.factor > 1 ? excess > as_is : excess <= as_is;
      worst = std::max(worst, excess);
    }
    if (pull.size > kLeastMove) pulls.push_back(pull);
  }
  std::ranges::stable_sort(pulls,
                           [](const InputPull& a, const InputPull& b) { return a.size > b.size; });
  return pulls;
}

// The search along one input. LoadSearch goes up to what is worse, so an input of which less is
// worse goes by the inverse of its factor.
class InputSearch {
 public:
  InputSearch(const SensitivitySubject& subject, const InputPull& pull)
      : subject_(subject), pull_(pull), search_(kBreakEvenPrecision, kFurthestFactor) {
    record(1, subject.as_is);
    for (const VariedWorld& varied : subject.varied) {
      if (varied.place == pull.place && varied.result) record(varied.factor, *varied.result);
    }
  }

  // The factor to try next; nullopt: done. What gives the same value as before needs no simulation.
  std::optional<double> next() {
    while (found_.simulations < kMostSimulations) {
      const std::optional<double> step = search_.next();
      if (!step) return std::nullopt;
      const double factor = pull_.worse_above ? *step : 1 / *step;
      const double value = value_at(subject_.base, place(), factor);
      const auto same = std::ranges::find(tried_, value, &Tried::value);
      if (same == tried_.end()) return factor;
      search_.record(*step, same->verdict);
      if (++repeats_ > kMostSimulations) return std::nullopt;
    }
    return std::nullopt;
  }

  void simulated(double factor, const Simulated& result) {
    ++found_.simulations;
    record(factor, result);
  }

  // Gives up: there is no such scenario.
  void refuse() { found_.simulations = kMostSimulations; }

  const InputPlace& place() const { return subject_.places[pull_.place]; }

  BreakEven answer() const {
    BreakEven found = found_;
    found.effect = pull_.place;
    return found;
  }

 private:
  struct Tried {
    double value;  // of the input
    LoadVerdict verdict;
  };

  void record(double factor, const Simulated& result) {
    const LoadProbe probe = judge_probe(factor, result.pooled);
    search_.record(pull_.worse_above ? factor : 1 / factor, probe.verdict);
    tried_.push_back({value_at(subject_.base, place(), factor), probe.verdict});
    if (probe.verdict == LoadVerdict::Passes &&
        (!found_.passes || is_worse(factor, *found_.passes))) {
      found_.passes = factor;
    }
    if (probe.verdict == LoadVerdict::Fails && (!found_.fails || is_worse(*found_.fails, factor))) {
      found_.fails = factor;
      name_what_fails(probe);
    }
  }

  void name_what_fails(const LoadProbe& probe) {
    if (const auto binding = binding_objective(probe)) {
      found_.workload = probe.objectives[*binding].workload;
      found_.objective = probe.objectives[*binding].result.name;
    } else {
      found_.workload = probe.left_behind.front().workload;
      found_.objective = cause_name(probe.left_behind.front().cause);
    }
  }

  bool is_worse(double a, double b) const { return pull_.worse_above ? a > b : a < b; }

  const SensitivitySubject& subject_;
  InputPull pull_;
  LoadSearch search_;
  BreakEven found_;
  std::vector<Tried> tried_;
  int repeats_ = 0;
};

// One step of every search that goes on; false when none does, or the study was interrupted.
bool advance_searches(std::vector<InputSearch>& searches, const SensitivitySubject& subject,
                      Simulations& simulations) {
  std::vector<World> worlds;
  std::vector<std::pair<InputSearch*, double>> steps;
  for (InputSearch& search : searches) {
    const std::optional<double> factor = search.next();
    if (!factor) continue;
    Expected<World> world = world_at(subject.base, *subject.catalogue, search.place(), *factor);
    if (!world) {
      search.refuse();
      continue;
    }
    worlds.push_back(std::move(*world));
    steps.emplace_back(&search, *factor);
  }
  const auto results = simulations.run(worlds);
  for (std::size_t n = 0; n < results.size(); ++n) {
    if (!results[n]) return false;
    steps[n].first->simulated(steps[n].second, *results[n]);
  }
  return !worlds.empty();
}

}  // namespace

std::vector<BreakEven> find_break_evens(const SensitivitySubject& subject, int most,
                                        Simulations& simulations) {
  std::vector<InputPull> pulls = pulls_of(subject);
  pulls.resize(std::min(pulls.size(), static_cast<std::size_t>(std::max(0, most))));
  std::vector<InputSearch> searches;
  searches.reserve(pulls.size());
  for (const InputPull& pull : pulls) searches.emplace_back(subject, pull);
  while (advance_searches(searches, subject, simulations)) {
  }
  std::vector<BreakEven> found;
  found.reserve(searches.size());
  for (const InputSearch& search : searches) found.push_back(search.answer());
  return found;
}

}  // namespace slicewise::sim
