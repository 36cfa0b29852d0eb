#include "pool_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "../../result/merge.hpp"
#include "../probe/probe.hpp"
#include "blamed_groups.hpp"
#include "fleet_division.hpp"
#include "fleet_model.hpp"
#include "known_pools.hpp"
#include "pool_columns.hpp"

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
// A division that costs so many times what it must cost at the least will do, of more than a dozen
// groups so many times: the last percents take as long as all before.
constexpr double kCloseEnough = 1.02;
constexpr std::size_t kDozen = 12;
constexpr double kCloseEnoughOfMore = 1.03;
// What a group bears is put right by so much at a time.
constexpr double kBearsLess = 0.7;
constexpr double kBearsMore = 1.25;
// Times that the search begins anew because pools that stand alone do not stand together.
constexpr int kMostRefuted = 8;

class Splitter {
 public:
  Splitter(const BlockSearch& search, ProbeBatch& probes, std::optional<double> cap)
      : search_(search),
        probes_(probes),
        model_(search_, separable_groups(search.base)),
        known_(search_, model_, probes),
        blamed_(model_, known_, probes),
        cap_(cap.value_or(std::numeric_limits<double>::infinity())),
        best_cost_(cap_) {}

  SplitResult run() {
    if (model_.size() < 2) return {};
    auto least = model_.size() <= kExactGroups ? model_.least_worth() : model_.least_in_parts();
    if (!least) return {};
    least_worth_ = std::move(*least);
    search();
    for (int n = 0; n < kMostRefuted && refutes_best(); ++n) {
      forget_divisions();
      search();
    }
    SplitResult result = confirmed();
    if (result.pools.empty()) result.missed = known_.missed_alone();
    result.least_monthly = model_.as_bound(least_worth_);
    if (result.least_monthly && model_.size() <= kExactGroups && !probes_.interrupted()) {
      result.least_monthly = std::max(*result.least_monthly, all_tried_below(result));
    }
    return result;
  }

 private:
  void search() {
    if (model_.size() <= kExactGroups) {
      consider(best_division(model_));
      std::vector<Members> blocks;
      divide(0, blocks);
    } else {
      start_unshared();
      propose();
      if (const std::vector<PoolFamily> families = model_.families(); families.empty()) {
        refine();
        improve(worth_it(kMostMoves, kRequestsToSplit));
      } else {
        price_pools(PoolProgram(families, least_worth_));
      }
    }
  }

  // Of few groups every division that costs less was tried, or closed forms rule it out.
  double all_tried_below(const SplitResult& result) const {
    if (!result.pools.empty()) return result.goal;
    return std::isfinite(cap_) ? cap_ : 0;
  }

  // A GPU for every pod: an answer that is soon known, beyond whose price nothing is looked at.
  void start_unshared() {
    PlanSpace space = search_.space;
    std::erase_if(space.strategies, [](Strategy strategy) {
      return strategy != Strategy::Exclusive && strategy != Strategy::Vgpu;
    });
    BlockSearch alone = search_within(search_, search_.base, space);
    KnownPools unshared(alone, model_, probes_);
    look_for_lone(unshared);
    Found found;
    double cost = 0;
    for (std::size_t g = 0; g < model_.size(); ++g) {
      const std::optional<BlockOption>& own = unshared.find({g})->option;
      if (!own) return;
      found.division.push_back({g});
      cost += own->goal;
      add_pool(own->choice, found.pools);
    }
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    say_pools(search_, "best so far", found.pools, from_dollars(cost));
    found_.push_back(std::move(found));
  }

  // The best pool of each group by itself.
  void look_for_lone(KnownPools& known) const {
    std::vector<KnownPools::Question> questions;
    for (std::size_t g = 0; g < model_.size(); ++g) questions.push_back({{g}, best_cost_});
    known.look_for_best(std::move(questions));
  }

  void forget_divisions() {
    best_cost_ = cap_;
    best_.clear();
    moved_.clear();
    found_.clear();
  }

  struct Found {
    std::vector<Members> division;
    std::vector<PoolChoice> pools;
  };

  // Whether it is the best so far.
  bool consider(const std::vector<Members>& division) {
    if (division.size() < 2 && model_.size() <= kExactGroups) return false;
    std::vector<KnownPools::Question> questions = known_.questions_about(division, best_cost_);
    if (questions.empty()) return false;
    if (model_.size() > kExactGroups) known_.look_for_best(std::move(questions));
    double rest = 0;
    for (const Members& block : division) rest += *known_.hoped_of(block);
    double cost = 0;
    std::vector<BlockOption> options;
    for (const Members& block : division) {
      rest -= *known_.hoped_of(block);
      const double cap = best_cost_ - kSamePrice - cost - rest;
      if (cap <= 0) return false;
      const auto& option = known_.best_of(block, cap).option;
      if (!option) return false;
      cost += option->goal;
      options.push_back(*option);
    }
    if (cost >= best_cost_) return false;
    best_cost_ = cost;
    best_ = division;
    std::vector<PoolChoice> pools;
    for (BlockOption& option : options) add_pool(std::move(option.choice), pools);
    say_pools(search_, "best so far", pools, from_dollars(cost));
    found_.push_back({division, std::move(pools)});
    return true;
  }

  // Pods that share no GPU are as well off in one pool with others like them.
  void add_pool(PoolChoice choice, std::vector<PoolChoice>& pools) const {
    const auto like = std::ranges::find_if(pools, [&](const PoolChoice& other) {
      return choice.strategy == Strategy::Exclusive && other.strategy == choice.strategy &&
             other.instance_type == choice.instance_type && other.purchase == choice.purchase &&
             other.on_demand + choice.on_demand + other.unshared + choice.unshared == 0 &&
             !other.elastic && !choice.elastic &&
             other.nodes + choice.nodes <= search_.space.max_nodes &&
             labels_of(search_.base, other.workloads) == labels_of(search_.base, choice.workloads);
    });
    if (like == pools.end()) {
      pools.push_back(std::move(choice));
      return;
    }
    like->nodes += choice.nodes;
    const auto append = [&](auto PoolChoice::*of_each) {
      auto& values = (*like).*of_each;
      auto& more = choice.*of_each;
      if (values.empty() && more.empty()) return;
      values.resize(like->workloads.size());
      more.resize(choice.workloads.size());
      values.insert(values.end(), more.begin(), more.end());
    };
    append(&PoolChoice::pods);
    append(&PoolChoice::serving);
    like->workloads.insert(like->workloads.end(), choice.workloads.begin(), choice.workloads.end());
  }

  // Every way to put the groups from `next` on into pools.
  void divide(std::size_t next, std::vector<Members>& blocks) {
    if (probes_.interrupted()) return;
    if (next == model_.size()) {
      consider(blocks);
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
    for (int round = 0; round < kMostInVain && !probes_.interrupted(); ++round) {
      std::vector<std::vector<Members>> likely;  // each cheaper than the one before
      double least = best_cost_;
      int in_vain = 0;
      for (int n = 0; n < kMostDivisions && in_vain < kMostInVain && !probes_.interrupted(); ++n) {
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
      while (!likely.empty() && !consider(likely.back())) {
        for (const Members& block : likely.back()) learn_from(block);
        likely.pop_back();
      }
      if (!best_.empty()) return;
    }
  }

  // What is known of pools and what the model thinks of others names divisions that may be cheaper
  // than the best one; simulations say of those pools what they cost.
  void refine() {
    int in_vain = 0;
    for (int n = 0; n < kMostRefined && in_vain < kMostInVain; ++n) {
      if (best_.empty() || probes_.interrupted()) return;
      const std::vector<Members> division = better_division(
          model_, best_,
          [&](const Members& block, double thought) { return known_.price(block, thought); }, n);
      if (division.empty()) return;
      const bool is_new = moved_.insert(division).second;
      in_vain = is_new && consider(division) ? 0 : in_vain + 1;
      for (const Members& block : division) {
        if (is_new) learn_from(block);
      }
    }
  }

  // One group goes to another pool, or two pools become one.
  void improve(int most_moves) {
    for (int moves = 0; moves < most_moves; ++moves) {
      if (best_.empty() || probes_.interrupted()) return;
      std::optional<Move> move = best_move();
      if (!move) return;
      consider(move->division);
      for (const Members& block : move->division) learn_from(block);
      moved_.insert(std::move(move->division));
    }
  }

  // Pools that closed forms allow are as cheap as can be to the linear program. Simulations say
  // which of those that it takes do not stand, and which of their groups are to blame: that raises
  // it. Where all of them stand, no division costs less.
  void price_pools(PoolProgram program) {
    if (best_.empty()) {
      least_worth_ = program.solve();
      return;
    }
    look_for_lone(known_);
    const std::vector<KnownPool> apart = apart_by_labels();
    const double close_enough = model_.size() > kDozen ? kCloseEnoughOfMore : kCloseEnough;
    for (int looks = worth_it(kMostPricings, kRequestsToPrice);; --looks) {
      KnownColumns columns = choose_anew();
      columns.searched.insert(columns.searched.end(), apart.begin(), apart.end());
      program.learn(floors_of(columns.stand, columns.searched), columns.alone);
      const std::vector<double>& least = program.solve();
      // What is refuted beside some pools may stand beside others.
      if (search_.refuted.empty() && sum_of(least) > sum_of(least_worth_)) least_worth_ = least;
      if (best_cost_ <= sum_of(least_worth_) * close_enough) return;
      if (looks == 0 || program.is_tired() || !blamed_.look_at(program.taken(), least_worth_))
        return;
    }
  }

  // The cheapest division into pools that stand. What was only glanced at may not: then another.
  KnownColumns choose_anew() {
    constexpr int kMostDoubts = 16;
    for (int n = 0; n < kMostDoubts; ++n) {
      KnownColumns now = known_.columns(best_cost_);
      const std::vector<Members> choice = cheapest_choice(now.worth, now.stand, best_, best_cost_);
      const bool is_sure = std::ranges::all_of(
          choice, [&](const Members& block) { return known_.find(block)->is_sure; });
      if (choice.empty() || (!consider(choice) && is_sure)) return now;
    }
    return known_.columns(best_cost_);
  }

  // Two groups whose nodes have different labels have no pool.
  std::vector<KnownPool> apart_by_labels() const {
    std::vector<KnownPool> apart;
    for (std::size_t a = 0; a < model_.size(); ++a) {
      for (std::size_t b = a + 1; b < model_.size(); ++b) {
        if (model_.room({a, b}).possible) continue;
        apart.push_back({{a, b}, std::numeric_limits<double>::infinity()});
      }
    }
    return apart;
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
    std::optional<Move> best;
    const auto price = [&](const Members& block, bool alone) -> std::optional<double> {
      if (block.empty()) return 0;
      return alone ? model_.price_alone(model_.room(block)) : model_.price(model_.room(block));
    };
    const auto weigh = [&](std::size_t a, std::size_t b, Members for_a, Members for_b) {
      const double is = costs_of(best_[a]) + (b < best_.size() ? costs_of(best_[b]) : 0);
      const auto least_a = price(for_a, true);
      const auto least_b = price(for_b, true);
      if (!least_a || !least_b || is - *least_a - *least_b <= kSamePrice) return;
      const auto price_a = price(for_a, false);
      const auto price_b = price(for_b, false);
      if (!price_a || !price_b) return;
      Move move{is - *price_a - *price_b, best_};
      if (best && move.saves <= best->saves) return;
      move.division.resize(std::max(best_.size(), b + 1));
      move.division[a] = std::move(for_a);
      move.division[b] = std::move(for_b);
      std::erase(move.division, Members{});
      std::ranges::sort(move.division);
      if (!moved_.contains(move.division)) best = std::move(move);
    };
    for (std::size_t a = 0; a < best_.size(); ++a) {
      for (std::size_t b = a + 1; b < best_.size(); ++b) weigh(a, b, joint(best_[a], best_[b]), {});
      for (const std::size_t g : best_[a]) {
        for (std::size_t b = 0; b <= best_.size(); ++b) {
          if (b == a || (b == best_.size() && best_[a].size() == 1)) continue;
          Members rest = best_[a];
          std::erase(rest, g);
          weigh(a, b, std::move(rest), joint(b < best_.size() ? best_[b] : Members{}, {g}));
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

  double costs_of(const Members& block) const { return known_.find(block)->option->goal; }

  // What was simulated of the block against what the model thinks of it.
  void learn_from(const Members& block) {
    const KnownPools::Solved* solved = known_.find(block);
    const auto thought = model_.price(model_.room(block));
    if (solved == nullptr || !thought) return;
    const std::optional<BlockOption>& option = solved->option;
    const std::vector<std::string>& missed = solved->missed;
    const double is = option ? option->goal : solved->cap;  // or more
    if (option ? std::abs(is - *thought) < kSamePrice : is < *thought) return;
    for (const std::size_t g : block) {
      const bool to_blame =
          missed.empty() || std::ranges::any_of(model_.names(g), [&](const std::string& name) {
            return std::ranges::find(missed, name) != missed.end();
          });
      if (option && is < *thought) {
        model_.correct(g, kBearsMore);
      } else if (to_blame) {
        model_.correct(g, kBearsLess);
      }
    }
  }

  PlanProbe together(const Found& found) const {
    PlanProbe probe;
    probe.pools = found.pools;
    probe.replications = search_.replications;
    probe.input = search_.input;
    probe.factor = search_.factor;
    probe.until_clear = true;
    return probe;
  }

  // Pools that stand alone may not stand together: the scheduler and the controllers see all. Those
  // of the best division that miss something then are no options any more; whether there are any.
  bool refutes_best() {
    if (found_.empty() || probes_.interrupted()) return false;
    const Found& best = found_.back();
    std::vector<std::string> missed;
    if (stands_together(together(best), &missed) || missed.empty()) return false;
    bool any = false;
    for (const Members& block : best.division) {
      const KnownPools::Solved* solved = known_.find(block);
      const bool to_blame =
          solved != nullptr && solved->option &&
          std::ranges::any_of(solved->option->choice.workloads, [&](const auto& name) {
            return std::ranges::find(missed, name) != missed.end();
          });
      if (!to_blame) continue;
      known_.refute(block);
      any = true;
    }
    return any;
  }

  // nullopt: they do not. `missed`: workloads that keep them from it.
  std::optional<PlanAnswer> stands_together(const PlanProbe& probe,
                                            std::vector<std::string>* missed = nullptr) {
    PlanAnswer answer = probes_.ask_one(probe);
    if (!answer.figures) return std::nullopt;
    std::optional<OptionFigures> against;
    if (answer.partial || !answer.figures->stands()) {
      against = answer.figures;
    } else {
      against = fails_again(search_, probe, *answer.figures, probes_);
    }
    if (!against) return answer;
    if (missed != nullptr) *missed = missed_by(*against);
    return std::nullopt;
  }

  SplitResult confirmed() {
    SplitResult result;
    result.configurations = known_.configurations();
    result.exhaustive = known_.exhaustive();
    for (auto found = found_.rbegin(); found != found_.rend(); ++found) {
      auto answer = stands_together(together(*found));
      if (!answer) continue;
      const auto goal = goal_of(search_.goal, *answer->figures);
      if (!goal) continue;
      result.pools = std::move(found->pools);
      result.figures = std::move(*answer->figures);
      result.goal = *goal;
      return result;
    }
    return result;
  }

  BlockSearch search_;
  ProbeBatch& probes_;
  FleetModel model_;
  KnownPools known_;
  BlamedGroups blamed_;
  double cap_;
  double best_cost_;
  std::vector<double> least_worth_;       // by group: no pool costs less than its groups
  std::vector<Members> best_;             // what costs so much; empty: nothing does yet
  std::set<std::vector<Members>> moved_;  // divisions that were tried from another
  std::vector<Found> found_;              // each cheaper than the one before
};

}  // namespace

SplitResult split_pools(const BlockSearch& search, std::optional<double> cap, ProbeBatch& probes) {
  return Splitter(search, probes, cap).run();
}

std::optional<PlanOption> cheapest_plan(const BlockSearch& search, std::optional<double> cap,
                                        ProbeBatch& probes) {
  if (search.space.max_monthly_cost) {
    const double most = to_dollars(*search.space.max_monthly_cost);
    cap = std::min(cap.value_or(most), most);
  }
  std::optional<PlanOption> best;
  if (!search.split || separable_groups(search.base).size() <= kExactGroups) {
    BlockResult one =
        search_block(search, workloads_with_pods(search.base), 1, cap, Depth::First, probes);
    if (!one.options.empty()) {
      BlockOption& option = one.options.front();
      best = PlanOption{{std::move(option.choice)}, std::move(option.figures), option.goal, false};
    }
  }
  if (!search.split || probes.interrupted()) return best;
  SplitResult split = split_pools(search, best ? best->goal : cap, probes);
  if (split.pools.empty()) return best;
  return PlanOption{std::move(split.pools), std::move(split.figures), split.goal, false};
}

}  // namespace slicewise::sim
