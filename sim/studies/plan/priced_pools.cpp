#include "priced_pools.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "near_pools.hpp"
#include "pool_columns.hpp"

namespace slicewise::sim {
void PricedPools::search(PoolProgram program, const Enough& enough, const KnownColumns& elsewhere,
                         std::vector<double>& least_worth) {
  known_.look_for_lone(found_.cost());
  std::vector<KnownPool> in_vain = apart_by_labels();
  for (const auto* pools : {&elsewhere.stand, &elsewhere.searched}) {
    in_vain.insert(in_vain.end(), pools->begin(), pools->end());
  }
  for (int looks = enough.looks;; --looks) {
    // Of a space that is a part of another the bound is asked for.
    if (looks > 0 && elsewhere.stand.empty()) look_near();
    KnownColumns columns = choose_anew();
    columns.searched.insert(columns.searched.end(), in_vain.begin(), in_vain.end());
    program.learn(floors_of(columns.stand, columns.searched), columns.alone);
    std::vector<double> least = program.solve();
    note_least(std::move(least), least_worth);
    const double bound = model_.as_bound(least_worth).value_or(sum_of(least_worth));
    if (found_.cost() - kSamePrice <= bound * enough.times_the_bound) return;
    if (looks == 0 || program.is_tired() || !blamed_.look_at(program.taken(), least_worth)) break;
  }
  const bool is_asked = search_.refuted.empty() && !search_.probes.interrupted();
  if (is_asked) note_least(program.prove(), least_worth);
}

// What is refuted beside some pools may stand beside others.
void PricedPools::note_least(std::vector<double> least, std::vector<double>& least_worth) const {
  leave_out_those_that_go(search_, model_, least);
  if (search_.refuted.empty() && sum_of(least) > sum_of(least_worth)) {
    least_worth = std::move(least);
  }
}

// The cheapest division into pools that stand. What was only glanced at may not: then another.
KnownColumns PricedPools::choose_anew() {
  constexpr int kMostDoubts = 16;
  for (int n = 0; n < kMostDoubts; ++n) {
    KnownColumns now = known_.columns(found_.cost());
    const std::vector<Members> choice =
        cheapest_choice(now.worth, now.stand, found_.best(), found_.cost());
    const bool is_sure = std::ranges::all_of(
        choice, [&](const Members& block) { return known_.find(block)->is_sure; });
    if (choice.empty() || (!found_.consider(choice) && is_sure)) return now;
  }
  return known_.columns(found_.cost());
}

// Those are likely to stand that differ little from others that do: that finds more than the pools
// that closed forms allow, of which hardly any stands.
void PricedPools::look_near() {
  constexpr int kMostNearRounds = 8;
  constexpr double kLeastGain = 0.0005;
  double before = std::numeric_limits<double>::infinity();
  for (int n = 0; n < kMostNearRounds && !search_.probes.interrupted(); ++n) {
    const KnownColumns known = known_.columns(found_.cost());
    const double least = sum_of(known.worth);
    if (least > before * (1 - kLeastGain)) return;
    before = least;
    std::vector<KnownPools::Question> questions = near_pools(known, known_, model_);
    if (questions.empty()) return;
    known_.glance_at_all(std::move(questions));
  }
}

// Two groups whose nodes have different labels have no pool.
std::vector<KnownPool> PricedPools::apart_by_labels() const {
  std::vector<KnownPool> apart;
  for (std::size_t a = 0; a < model_.size(); ++a) {
    for (std::size_t b = a + 1; b < model_.size(); ++b) {
      if (model_.room({a, b}).possible) continue;
      apart.push_back({{a, b}, std::numeric_limits<double>::infinity()});
    }
  }
  return apart;
}

}  // namespace slicewise::sim
