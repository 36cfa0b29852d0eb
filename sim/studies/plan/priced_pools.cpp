#include "priced_pools.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "pool_columns.hpp"

namespace slicewise::sim {
namespace {

// A division that costs so many times what it must cost at the least will do, of more than a dozen
// groups so many times: the last percents take as long as all before.
constexpr double kCloseEnough = 1.02;
constexpr std::size_t kDozen = 12;
constexpr double kCloseEnoughOfMore = 1.03;

}  // namespace

void PricedPools::search(PoolProgram program, int most_looks, std::vector<double>& least_worth) {
  if (found_.best().empty()) {
    least_worth = program.solve();
    leave_out_those_that_go(search_, model_, least_worth);
    return;
  }
  known_.look_for_lone(found_.cost());
  const std::vector<KnownPool> apart = apart_by_labels();
  const double close_enough = model_.size() > kDozen ? kCloseEnoughOfMore : kCloseEnough;
  for (int looks = most_looks;; --looks) {
    KnownColumns columns = choose_anew();
    columns.searched.insert(columns.searched.end(), apart.begin(), apart.end());
    program.learn(floors_of(columns.stand, columns.searched), columns.alone);
    std::vector<double> least = program.solve();
    note_least(std::move(least), least_worth);
    if (found_.cost() <= sum_of(least_worth) * close_enough) return;
    if (looks == 0 || program.is_tired() || !blamed_.look_at(program.taken(), least_worth)) break;
  }
  if (search_.refuted.empty()) note_least(program.prove(), least_worth);
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
