#include "pool_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../../result/merge.hpp"
#include "../probe/probe.hpp"
#include "fleet_division.hpp"
#include "fleet_model.hpp"
#include "found_divisions.hpp"
#include "known_pools.hpp"
#include "priced_pools.hpp"

namespace slicewise::sim {
namespace {

// Divisions that the model proposes and simulations look at.
constexpr int kMostDivisions = 12;
// ... of which so many in a row may be in vain.
constexpr int kMostInVain = 6;
// Divisions near the best one that are tried after that, where it cannot be ruled out that they
// save: as many as simulate so many requests.
constexpr int kMostMoves = 40;
constexpr double kRequestsToSplit = 3e7;
// ... and, as glances are a tenth of the work, for pools that might save.
constexpr double kRequestsToPrice = 1e8;
// Divisions that what is known of pools proposes.
constexpr int kMostRefined = 24;
// Rounds in which pools are looked at that might save.
constexpr int kMostPricings = 24;
// What a group bears is put right by so much at a time.
constexpr double kBearsLess = 0.7;
constexpr double kBearsMore = 1.25;
// A division that costs so many times what it must cost at the least will do, of more than a dozen
// groups so many times: the last percents take as long as all before.
constexpr double kCloseEnough = 1.02;
constexpr std::size_t kDozen = 12;
constexpr double kCloseEnoughOfMore = 1.03;
// Of so many groups each type of node is tried by itself as well.
constexpr std::size_t kFewGroups = 16;
// Times that the search begins anew because pools that stand alone do not stand together.
constexpr int kMostRefuted = 8;

class Splitter {
 public:
  Splitter(const BlockSearch& search, std::optional<double> cap)
      : search_(search),
        model_(search_, separable_groups(search.base)),
        known_(search_, model_),
        cap_(cap.value_or(std::numeric_limits<double>::infinity())),
        found_(search_, model_, known_, cap_) {}

  SplitResult run() {
    if (model_.size() < 2 || !has_bound()) return {};
    search();
    for (int n = 0; n < kMostRefuted && found_.refutes_best(); ++n) {
      moved_.clear();
      search();
    }
    SplitResult result;
    result.option = found_.confirmed();
    result.configurations = known_.configurations();
    result.exhaustive = known_.exhaustive();
    if (!result.option) result.missed = known_.missed_alone();
    result.least_monthly = model_.as_bound(least_worth_);
    if (result.least_monthly && model_.size() <= kExactGroups && !search_.probes.interrupted()) {
      result.least_monthly = std::max(*result.least_monthly, all_tried_below(result));
    }
    return result;
  }

 private:
  // False: some group runs nowhere.
  bool has_bound() {
    auto least = model_.size() <= kExactGroups ? model_.least_worth() : model_.least_in_parts();
    if (least) least_worth_ = std::move(*least);
    return least.has_value();
  }

  void search() {
    if (model_.size() <= kExactGroups) {
      found_.consider(best_division(model_));
      std::vector<Members> blocks;
      divide(0, blocks);
    } else {
      start_unshared();
      propose();
      if (const std::vector<PoolFamily> families = model_.families(); families.empty()) {
        refine();
        improve(worth_it(kMostMoves, kRequestsToSplit));
      } else if (found_.best().empty()) {
        least_worth_ = PoolProgram(families, least_worth_).solve();
        leave_out_those_that_go(search_, model_, least_worth_);
      } else {
        price_pools(model_.size() > kDozen ? kCloseEnoughOfMore : kCloseEnough, {});
      }
      if (model_.size() <= kFewGroups && search_.space.types.size() > 1) try_each_type();
    }
  }

  void price_pools(double close_enough, const KnownColumns& elsewhere) {
    PricedPools(search_, model_, known_, found_)
        .search(PoolProgram(model_.families(), least_worth_),
                {worth_it(kMostPricings, kRequestsToPrice), close_enough}, elsewhere, least_worth_);
  }

  // The linear program takes pools in parts: among many types the whole ones that go well together
  // may not be those that it looks at. No pool of one type costs less than the best of all types,
  // which soon tells of most types that there is nothing to save.
  void try_each_type() {
    for (const models::InstanceType* type : search_.space.types) {
      PlanSpace space = search_.space;
      space.types = {type};
      BlockSearch own = search_within(search_, search_.base, space);
      own.so_far = nullptr;
      Splitter below(own, found_.cost());
      if (!below.has_bound() || below.bound() >= found_.cost() - kSamePrice) continue;
      if (!below.model_.families().empty()) {
        below.price_pools(1, known_.columns(found_.cost()));
        found_.consider(below.found_.best());
      }
      if (below.bound() >= found_.cost() - kSamePrice || search_.probes.interrupted()) continue;
      Splitter alone(own, std::nullopt);
      if (!alone.has_bound()) continue;
      alone.search();
      found_.consider(alone.found_.best());
    }
  }

  double bound() const { return model_.as_bound(least_worth_).value_or(sim::sum_of(least_worth_)); }

  // Of few groups every division that costs less was tried, or closed forms rule it out.
  double all_tried_below(const SplitResult& result) const {
    if (result.option) return *result.option->goal;
    return std::isfinite(cap_) ? cap_ : 0;
  }

  // A GPU for every pod.
  void start_unshared() {
    PlanSpace space = search_.space;
    std::erase_if(space.strategies, [](Strategy strategy) {
      return strategy != Strategy::Exclusive && strategy != Strategy::Vgpu;
    });
    BlockSearch alone = search_within(search_, search_.base, space);
    KnownPools unshared(alone, model_);
    unshared.look_for_lone(found_.cost());
    std::vector<PlanOption> own;
    for (std::size_t g = 0; g < model_.size(); ++g) {
      const std::optional<PlanOption>& option = unshared.find({g})->option;
      if (!option) return;
      own.push_back(*option);
    }
    found_.begin_with(std::move(own));
  }

  // Every way to put the groups from `next` on into pools.
  void divide(std::size_t next, std::vector<Members>& blocks) {
    if (search_.probes.interrupted()) return;
    if (next == model_.size()) {
      found_.consider(blocks);
      return;
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      blocks[b].push_back(next);
      divide(next + 1, blocks);
      blocks[b].pop_back();
    }
    blocks.push_back({next});
    divide(next + 1, blocks);
    blocks.pop_back();
  }

  // What the model proposes is only glanced at: it learns as much by that. The cheapest is taken
  // that stands; where nothing does that was likely to, the model learns from that and goes on.
  void propose() {
    std::set<std::vector<Members>> tried;
    for (int round = 0; round < kMostInVain && !search_.probes.interrupted(); ++round) {
      std::vector<std::vector<Members>> likely;  // each cheaper than the one before
      double least = found_.cost();
      int in_vain = 0;
      for (int n = 0; n < kMostDivisions && in_vain < kMostInVain && !search_.probes.interrupted();
           ++n) {
        std::vector<Members> division = best_division(model_);
        if (division.empty() || !tried.insert(division).second) break;
        const auto cost = known_.cost_at_a_glance(division, least);
        in_vain = cost ? 0 : in_vain + 1;
        for (const Members& block : division) learn_from(block);
        if (!cost) continue;
        least = *cost;
        likely.push_back(std::move(division));
      }
      if (likely.empty()) return;
      while (!likely.empty() && !found_.consider(likely.back())) {
        for (const Members& block : likely.back()) learn_from(block);
        likely.pop_back();
      }
      if (!found_.best().empty()) return;
    }
  }

  // What is known of pools and what the model thinks of others names divisions that may be cheaper
  // than the best one; simulations say of those pools what they cost.
  void refine() {
    int in_vain = 0;
    for (int n = 0; n < kMostRefined && in_vain < kMostInVain; ++n) {
      if (found_.best().empty() || search_.probes.interrupted()) return;
      const std::vector<Members> division = better_division(
          model_, found_.best(),
          [&](const Members& block, double thought) { return known_.price(block, thought); }, n);
      if (division.empty()) return;
      const bool is_new = moved_.insert(division).second;
      in_vain = is_new && found_.consider(division) ? 0 : in_vain + 1;
      for (const Members& block : division) {
        if (is_new) learn_from(block);
      }
    }
  }

  // One group goes to another pool, or two pools become one.
  void improve(int most_moves) {
    for (int moves = 0; moves < most_moves; ++moves) {
      if (found_.best().empty() || search_.probes.interrupted()) return;
      std::optional<Move> move = best_move();
      if (!move) return;
      found_.consider(move->division);
      for (const Members& block : move->division) learn_from(block);
      moved_.insert(std::move(move->division));
    }
  }

  // As many as are worth it: simulations of long and busy scenarios are dear.
  int worth_it(int most, double in_all) const {
    const double requests = requests_of_a_simulation(search_);
    return requests > 0 ? static_cast<int>(std::min<double>(most, in_all / requests)) : most;
  }

  struct Move {
    double saves = 0;  // the model says
    std::vector<Members> division;
  };

  // Of those that could save if neighbours cost nothing.
  std::optional<Move> best_move() {
    const std::vector<Members>& pools = found_.best();
    std::optional<Move> best;
    const auto price = [&](const Members& block, bool alone) -> std::optional<double> {
      if (block.empty()) return 0;
      return alone ? model_.price_alone(model_.room(block)) : model_.price(model_.room(block));
    };
    const auto weigh = [&](std::size_t a, std::size_t b, Members for_a, Members for_b) {
      const double is = costs_of(pools[a]) + (b < pools.size() ? costs_of(pools[b]) : 0);
      const auto least_a = price(for_a, true);
      const auto least_b = price(for_b, true);
      if (!least_a || !least_b || is - *least_a - *least_b <= kSamePrice) return;
      const auto price_a = price(for_a, false);
      const auto price_b = price(for_b, false);
      if (!price_a || !price_b) return;
      Move move{is - *price_a - *price_b, pools};
      if (best && move.saves <= best->saves) return;
      move.division.resize(std::max(pools.size(), b + 1));
      move.division[a] = std::move(for_a);
      move.division[b] = std::move(for_b);
      std::erase(move.division, Members{});
      std::ranges::sort(move.division);
      if (!moved_.contains(move.division)) best = std::move(move);
    };
    for (std::size_t a = 0; a < pools.size(); ++a) {
      for (std::size_t b = a + 1; b < pools.size(); ++b) weigh(a, b, joint(pools[a], pools[b]), {});
      for (const std::size_t g : pools[a]) {
        for (std::size_t b = 0; b <= pools.size(); ++b) {
          if (b == a || (b == pools.size() && pools[a].size() == 1)) continue;
          Members rest = pools[a];
          std::erase(rest, g);
          weigh(a, b, std::move(rest), joint(b < pools.size() ? pools[b] : Members{}, {g}));
        }
      }
    }
    return best;
  }

  static Members joint(Members a, const Members& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::ranges::sort(a);
    return a;
  }

  double costs_of(const Members& block) const { return *known_.find(block)->option->goal; }

  // What was simulated of the block against what the model thinks of it.
  void learn_from(const Members& block) {
    const KnownPools::Solved* solved = known_.find(block);
    const auto thought = model_.price(model_.room(block));
    if (solved == nullptr || !thought) return;
    const std::optional<PlanOption>& option = solved->option;
    const std::vector<std::string>& missed = solved->missed;
    const double is = option ? *option->goal : solved->cap;  // or more
    if (option ? std::abs(is - *thought) < kSamePrice : is < *thought) return;
    for (const std::size_t g : block) {
      const bool to_blame =
          missed.empty() || std::ranges::any_of(model_.names(g), [&](const std::string& name) {
            return contains(missed, name);
          });
      if (option && is < *thought) {
        model_.correct(g, kBearsMore);
      } else if (to_blame) {
        model_.correct(g, kBearsLess);
      }
    }
  }

  BlockSearch search_;
  FleetModel model_;
  KnownPools known_;
  double cap_;
  FoundDivisions found_;
  std::vector<double> least_worth_;       // by group: no pool costs less than its groups
  std::set<std::vector<Members>> moved_;  // divisions that were tried from another
};

}  // namespace

SplitResult split_pools(const BlockSearch& search, std::optional<double> cap) {
  return Splitter(search, cap).run();
}

std::optional<PlanOption> cheapest_plan(const BlockSearch& search, std::optional<double> cap) {
  if (search.space.max_monthly_cost) {
    const double most = to_dollars(*search.space.max_monthly_cost);
    cap = std::min(cap.value_or(most), most);
  }
  std::optional<PlanOption> best;
  if (!search.split || separable_groups(search.base).size() <= kExactGroups) {
    BlockResult one = search_block(search, workloads_with_pods(search.base), 1, cap, Depth::First);
    if (!one.options.empty()) best = std::move(one.options.front());
  }
  if (!search.split || search.probes.interrupted()) return best;
  std::optional<PlanOption> split = split_pools(search, best ? best->goal : cap).option;
  return split ? split : best;
}

}  // namespace slicewise::sim
