#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "cheapest_exchanges.hpp"
#include "fleet_model.hpp"
#include "known_pools.hpp"
#include "plan_sections.hpp"
#include "pod_counts.hpp"
#include "pool_split.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// Of the changes that a step may be, so many are simulated.
constexpr int kMostWeighed = 8;
// Steps of a path that nobody limits.
constexpr int kMostPathSteps = 40;

using WorkloadNames = std::vector<std::string>;

bool has_no_price(const PricedPool& pool) { return !pool.monthly; }

// Some of the present pools give way to pools for `blocks`, or to `known` ones.
struct PoolChange {
  std::vector<std::size_t> touched;
  std::vector<WorkloadNames> blocks = {};
  std::vector<PricedPool> known = {};
  double hoped = 0;  // that it saves, by closed forms

  int pools() const {
    return static_cast<int>(std::max(touched.size(), blocks.size() + known.size()));
  }
  double worth() const { return hoped / pools(); }
};

class PathSearch {
 public:
  PathSearch(const BlockSearch& search, std::vector<PoolChoice> now,
             const std::optional<PlanOption>& best, std::optional<int> most)
      : search_(search), best_(best), model_(search, atoms_of(search, now)) {
    for (std::size_t g = 0; g < model_.size(); ++g) {
      for (const std::string& name : model_.names(g)) atom_[name] = g;
    }
    for (PoolChoice& choice : now) add(std::move(choice));
    path_.max_changes = most;
    left_ = most.value_or(std::numeric_limits<int>::max());
  }

  PlanPath run() {
    const auto now = together(pools_);
    if (now) {
      path_.now = *now;
      stands_ = now->figures.stands();
      price_the_rest(now->figures);
    } else {
      path_.now.figures.monthly = from_dollars(cost_of(pools_));
      path_.now.figures.verdict.reasons = {
          {Verdict::Cause::NothingRan, "", "cannot run", "the present pools cannot run the pods"}};
    }
    path_.now.pools = choices(pools_);
    path_.kept = static_cast<int>(std::ranges::count_if(pools_, has_no_price));
    if (const auto exchanges = cheapest()) path_.is_cheapest = follow(*exchanges) && stands_;
    if (!stands_) mend();
    while (!path_.is_cheapest && path_.steps.size() < kMostPathSteps &&
           !search_.probes.interrupted() && take_best()) {
    }
    if (!path_.steps.empty()) path_.end = together(pools_);
    if (path_.is_cheapest) path_.ended_by_limit = path_.max_changes && is_short_of_best();
    return std::move(path_);
  }

 private:
  // Workloads that stay together and have one pool now.
  static std::vector<WorkloadNames> atoms_of(const BlockSearch& search,
                                             const std::vector<PoolChoice>& now) {
    std::vector<WorkloadNames> atoms;
    for (const WorkloadNames& group : separable_groups(search.base)) {
      for (const PoolChoice& pool : now) {
        WorkloadNames here;
        for (const std::string& name : group) {
          if (contains(pool.workloads, name)) here.push_back(name);
        }
        if (!here.empty()) atoms.push_back(std::move(here));
      }
    }
    return atoms;
  }

  void add(PoolChoice choice) {
    const auto monthly = monthly_of(search_, choice);
    pools_.push_back({std::move(choice), monthly});
  }

  // A pool without a price in closed form costs what all cost, less the others.
  void price_the_rest(const OptionFigures& all) {
    if (std::ranges::count_if(pools_, has_no_price) != 1) return;
    const auto rest = std::ranges::find_if(pools_, has_no_price);
    rest->monthly = to_dollars(all.monthly) - cost_of(pools_);
  }

  static std::vector<PoolChoice> choices(const std::vector<PricedPool>& pools) {
    std::vector<PoolChoice> all;
    all.reserve(pools.size());
    for (const PricedPool& pool : pools) all.push_back(pool.choice);
    return all;
  }

  // `judged`: what they cost is asked only of those that stand.
  std::optional<PlanOption> together(const std::vector<PricedPool>& pools, bool judged = false) {
    PlanProbe probe = search_.about(choices(pools));
    const PlanAnswer answer = judged ? search_.probes.ask_one(probe) : whole_answer(search_, probe);
    if (!answer.figures) return std::nullopt;
    OptionFigures figures = *answer.figures;
    if (stands(answer)) {
      if (auto against = fails_again(search_, probe, figures)) {
        figures = at_cost_of(*answer.figures, std::move(*against));
      }
    }
    if (figures.stands()) {
      if (auto left = fails_after_outage(search_, probe, figures)) {
        figures = std::move(*left);
      }
    }
    const auto goal = goal_of(search_.goal, figures);
    return PlanOption{std::move(probe.pools), std::move(figures), goal, false};
  }

  // In the order of the scenario.
  WorkloadNames joint(const WorkloadNames& a, const WorkloadNames& b) const {
    WorkloadNames all;
    for (const auto& workload : search_.base.workloads) {
      const std::string& name = workload.name.value;
      const auto has = [&](const WorkloadNames& names) { return contains(names, name); };
      if (has(a) || has(b)) all.push_back(name);
    }
    return all;
  }

  static WorkloadNames without(const WorkloadNames& all, const WorkloadNames& some) {
    WorkloadNames rest = all;
    std::erase_if(rest, [&](const auto& n) { return contains(some, n); });
    return rest;
  }

  std::optional<double> hoped_price(const WorkloadNames& names, bool alone) const {
    std::set<std::size_t> atoms;
    for (const std::string& name : names) atoms.insert(atom_.at(name));
    const Room room = model_.room({atoms.begin(), atoms.end()});
    return alone ? model_.price_alone(room) : model_.price(room);
  }

  // Adds the change if closed forms do not rule out that it saves. `alone`: as if neighbours cost
  // nothing.
  void weigh(PoolChange change, bool alone, std::vector<PoolChange>& changes) const {
    for (const std::size_t p : change.touched) {
      if (!pools_[p].monthly) return;
      change.hoped += *pools_[p].monthly;
    }
    for (const WorkloadNames& block : change.blocks) {
      const auto price = hoped_price(block, alone);
      if (!price) return;
      change.hoped -= *price;
    }
    for (const PricedPool& pool : change.known) {
      if (!pool.monthly) return;
      change.hoped -= *pool.monthly;
    }
    if (change.hoped >= kWorthAStep) changes.push_back(std::move(change));
  }

  std::vector<PoolChange> changes() const {
    std::vector<PoolChange> changes;
    for (std::size_t a = 0; a < pools_.size(); ++a) {
      const WorkloadNames& here = pools_[a].choice.workloads;
      weigh({{a}, {here}}, true, changes);
      std::set<std::size_t> atoms;
      for (const std::string& name : here) atoms.insert(atom_.at(name));
      for (std::size_t b = 0; b < pools_.size(); ++b) {
        const WorkloadNames& there = pools_[b].choice.workloads;
        if (b > a) weigh({{a, b}, {joint(here, there)}}, false, changes);
        if (b == a || atoms.size() < 2) continue;
        for (const std::size_t g : atoms) {
          const WorkloadNames& moved = model_.names(g);
          weigh({{a, b}, {without(here, moved), joint(there, moved)}}, false, changes);
        }
      }
      if (atoms.size() < 2) continue;
      for (const std::size_t g : atoms) {
        weigh({{a}, {without(here, model_.names(g)), model_.names(g)}}, false, changes);
      }
    }
    add_parts_of_best(changes);
    std::ranges::stable_sort(changes, std::greater<>(), &PoolChange::worth);
    return changes;
  }

  // Pools of the best option with the present ones that have workloads of them.
  void add_parts_of_best(std::vector<PoolChange>& changes) const {
    if (!best_) return;
    std::vector<std::size_t> part(best_->pools.size());
    for (std::size_t b = 0; b < part.size(); ++b) part[b] = b;
    std::vector<std::vector<std::size_t>> wants(pools_.size());
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      for (std::size_t b = 0; b < best_->pools.size(); ++b) {
        const WorkloadNames& names = best_->pools[b].workloads;
        if (without(names, pools_[p].choice.workloads).size() == names.size()) continue;
        wants[p].push_back(b);
        const std::size_t to = part[wants[p].front()];
        const std::size_t from = part[b];
        std::ranges::replace(part, from, to);
      }
    }
    for (const std::size_t root : std::set<std::size_t>(part.begin(), part.end())) {
      PoolChange change;
      for (std::size_t p = 0; p < pools_.size(); ++p) {
        if (!wants[p].empty() && part[wants[p].front()] == root) change.touched.push_back(p);
      }
      for (std::size_t b = 0; b < part.size(); ++b) {
        const PoolChoice& pool = best_->pools[b];
        if (part[b] == root) change.known.push_back({pool, monthly_of(search_, pool)});
      }
      // What is there already is no change.
      std::erase_if(change.known, [&](const PricedPool& pool) {
        const auto same = std::ranges::find_if(
            change.touched, [&](std::size_t p) { return pools_[p].choice == pool.choice; });
        if (same == change.touched.end()) return false;
        change.touched.erase(same);
        return true;
      });
      if (!change.touched.empty()) weigh(std::move(change), false, changes);
    }
  }

  std::string key_of(const PoolChange& change) const {
    PlanProbe probe;
    for (const std::size_t p : change.touched) probe.pools.push_back(pools_[p].choice);
    for (const PricedPool& pool : change.known) probe.pools.push_back(pool.choice);
    std::string key = probe_line(probe);
    for (const WorkloadNames& block : change.blocks) {
      key += " |";
      for (const std::string& name : block) key += " " + name;
    }
    return key;
  }

  // The pools after the change; nullopt: it saves nothing, or something does not stand then.
  // `most`: dollars a month that what it sets up may cost.
  std::optional<std::vector<PricedPool>> after(const PoolChange& change, double most,
                                               bool any_pods = false) {
    std::vector<PricedPool> pools;
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      if (!contains(change.touched, p)) pools.push_back(pools_[p]);
    }
    pools.insert(pools.end(), change.known.begin(), change.known.end());
    for (const WorkloadNames& block : change.blocks) {
      if (most <= 0) return std::nullopt;
      BlockResult found = search_block(search_, block, 1, most, Depth::First);
      std::optional<PricedPool> pool;
      if (!found.options.empty()) {
        pool = PricedPool{like_best(found.options.front()), found.options.front().goal};
      }
      if (any_pods) pool = with_other_pods(block, std::move(pool));
      if (!pool) return std::nullopt;
      most -= *pool->monthly;
      pools.push_back(std::move(*pool));
    }
    const auto all = together(pools, true);
    const bool fine = all && (all->figures.stands() || !stands_);
    return fine ? std::optional(std::move(pools)) : std::nullopt;
  }

  // --vary-pods: the block's pool with other numbers of them, where that costs less.
  std::optional<PricedPool> with_other_pods(const WorkloadNames& block,
                                            std::optional<PricedPool> pool) {
    if (search_.vary_pods == 0) return pool;
    Scenario alone = search_.base;
    for (Workload& workload : alone.workloads) {
      if (!contains(block, workload.name.value)) workload.count = 0;
    }
    BlockSearch there = search_within(search_, alone, search_.space);
    there.split = false;
    std::optional<PlanOption> best;
    if (pool) best = PlanOption{{pool->choice}, {}, pool->monthly, false};
    auto other = best_with_other_pods(there, best, search_.vary_pods);
    if (!other) return pool;
    return PricedPool{std::move(other->pools.front()), other->goal};
  }

  // Of what costs the same, the pool that is recommended.
  PoolChoice like_best(const PlanOption& option) const {
    const PoolChoice& found = option.pools.front();
    if (!best_) return found;
    for (const PoolChoice& pool : best_->pools) {
      const auto monthly = monthly_of(search_, pool);
      const bool same = monthly && std::abs(*monthly - *option.goal) < kSamePrice;
      if (same && pool.workloads == found.workloads) return pool;
    }
    return found;
  }

  static double cost_of(const std::vector<PricedPool>& pools) {
    double cost = 0;
    for (const PricedPool& pool : pools) cost += pool.monthly.value_or(0);
    return cost;
  }

  void take(const PoolChange& change, std::vector<PricedPool> pools) {
    std::vector<PoolChoice> from;
    for (const std::size_t p : change.touched) from.push_back(pools_[p].choice);
    std::vector<PoolChoice> to = choices(pools);
    to.erase(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(pools_.size() - from.size()));
    PathStep step = step_between(search_.base, std::move(from), std::move(to));
    step.saves = from_dollars(cost_of(pools_) - cost_of(pools));
    pools_ = std::move(pools);
    if (const auto all = together(pools_)) {
      step.monthly = all->figures.monthly;
      stands_ = all->figures.stands();
    }
    left_ -= step.changes;
    path_.steps.push_back(std::move(step));
  }

  // Of all ways within the limit; nullopt: there are too many, or it is not known what to mend.
  std::optional<std::vector<PricedExchange>> cheapest() {
    WorkloadNames missed;
    if (!stands_) {
      missed = missed_by(path_.now.figures);
      for (const Verdict::Reason& reason : path_.now.figures.verdict.reasons) {
        if (!reason.workload.empty()) missed.push_back(reason.workload);
      }
    }
    if (search_.vary_pods > 0 || (!stands_ && missed.empty())) return std::nullopt;
    std::vector<PresentPool> present;
    for (const PricedPool& pool : pools_) {
      PresentPool& each = present.emplace_back();
      std::set<std::size_t> atoms;
      for (const std::string& name : pool.choice.workloads) atoms.insert(atom_.at(name));
      each.groups.assign(atoms.begin(), atoms.end());
      each.monthly = pool.monthly;
      each.must_change = misses_some(pool, missed);
    }
    return cheapest_exchanges(search_, model_, present, left_, best_);
  }

  // Whether all of them stand beside the other pools.
  bool follow(const std::vector<PricedExchange>& exchanges) {
    const std::vector<PricedPool> before = pools_;
    for (const PricedExchange& exchange : exchanges) {
      PoolChange change;
      for (const std::size_t p : exchange.touched) {
        const auto there = std::ranges::find(pools_, before[p].choice, &PricedPool::choice);
        change.touched.push_back(static_cast<std::size_t>(there - pools_.begin()));
      }
      change.known = exchange.pools;
      auto pools = after(change, 0);
      if (!pools) return false;
      take(change, std::move(*pools));
    }
    return true;
  }

  bool is_short_of_best() const {
    const OptionFigures& figures = path_.end ? path_.end->figures : path_.now.figures;
    const Usd worth = from_dollars(kWorthAStep);
    return !figures.stands() || (best_ && best_->figures.monthly + worth < figures.monthly);
  }

  bool misses_some(const PricedPool& pool, const WorkloadNames& missed) const {
    return pool.monthly && without(missed, pool.choice.workloads).size() < missed.size();
  }

  // Pools whose workloads miss something are planned anew.
  void mend() {
    const auto now = together(pools_);
    const WorkloadNames missed = now ? missed_by(now->figures) : WorkloadNames{};
    for (std::size_t p = 0; p < pools_.size();) {
      const WorkloadNames& here = pools_[p].choice.workloads;
      const bool concerned =
          pools_[p].monthly && (missed.empty() || misses_some(pools_[p], missed));
      const PoolChange change{{p}, {here}};
      if (!concerned || left_ < 1) {
        path_.ended_by_limit = path_.ended_by_limit || concerned;
        ++p;
        continue;
      }
      auto pools = after(change, std::numeric_limits<double>::infinity(), true);
      if (!pools || pools->back().choice == pools_[p].choice) {
        ++p;
        continue;
      }
      take(change, std::move(*pools));
      if (stands_) return;
    }
  }

  // The change that saves most for each pool, of those that are likely to.
  bool take_best() {
    std::optional<std::pair<PoolChange, std::vector<PricedPool>>> best;
    int tried = 0;
    bool too_many = false;
    for (PoolChange& change : changes()) {
      if (tried == kMostWeighed || search_.probes.interrupted()) break;
      if (best && change.worth() <= best->first.worth()) break;
      if (change.pools() > left_) {
        too_many = true;
        continue;
      }
      const std::string key = key_of(change);
      if (failed_.contains(key)) continue;
      ++tried;
      double most = -kWorthAStep;
      for (const std::size_t p : change.touched) most += *pools_[p].monthly;
      auto pools = after(change, most);
      if (!pools) {
        failed_.insert(key);
        continue;
      }
      change.hoped = cost_of(pools_) - cost_of(*pools);
      if (!best || change.worth() > best->first.worth()) {
        best.emplace(std::move(change), std::move(*pools));
      }
    }
    if (best) {
      take(best->first, std::move(best->second));
    } else {
      path_.ended_by_limit = path_.ended_by_limit || too_many;
    }
    return best.has_value();
  }

  const BlockSearch& search_;
  const std::optional<PlanOption>& best_;
  FleetModel model_;  // of the atoms
  std::map<std::string, std::size_t> atom_;
  std::vector<PricedPool> pools_;
  std::set<std::string> failed_;
  PlanPath path_;
  int left_ = 0;
  bool stands_ = false;
};

}  // namespace

PlanPath path_from(const BlockSearch& search, std::vector<PoolChoice> now,
                   const std::optional<PlanOption>& best, std::optional<int> most) {
  return PathSearch(search, std::move(now), best, most).run();
}

}  // namespace slicewise::sim
