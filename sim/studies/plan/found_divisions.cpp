#include "found_divisions.hpp"

#include <algorithm>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "block_outcome.hpp"

namespace slicewise::sim {
namespace {

// To ask about a division takes a part of the time that finding it took: it is worth it where it
// costs so many times what the last one did that stood.
constexpr double kSavesEnough = 0.95;
// Of more groups to ask takes longer than to find: each replication of one counts for all of them.
constexpr std::size_t kMostAsked = 128;
// Of more groups a search takes much longer than to find other pools for those of a division.
constexpr std::size_t kSoonSearched = 32;
constexpr int kMostMended = 32;

}  // namespace

bool FoundDivisions::consider(const std::vector<Members>& division) {
  const bool is_fleet = model_.size() > kExactGroups;
  if (division.size() < 2 && !is_fleet) return false;
  std::vector<KnownPools::Question> questions = known_.questions_about(division, cost_);
  if (questions.empty()) return false;
  if (is_fleet) known_.look_for_best(std::move(questions));
  double rest = 0;
  for (const Members& block : division) rest += *known_.hoped_of(block);
  double cost = 0;
  Found found{division, {}};
  for (const Members& block : division) {
    rest -= *known_.hoped_of(block);
    const double cap = cost_ - kSamePrice - cost - rest;
    if (cap <= 0) return false;
    const auto& option = known_.best_of(block, cap).option;
    if (!option) return false;
    cost += *option->goal;
    found.pools.push_back(option->pools.front());
  }
  if (cost >= cost_) return false;
  best_ = division;
  add(std::move(found), cost);
  return true;
}

void FoundDivisions::begin_with(std::vector<PlanOption> own) {
  double cost = 0;
  Found found;
  for (PlanOption& option : own) {
    cost += *option.goal;
    found.division.push_back({found.division.size()});
    found.pools.push_back(std::move(option.pools.front()));
  }
  if (cost < cost_) add(std::move(found), cost);
}

// Asked about as each pool was: what is known of them answers.
void FoundDivisions::add(Found found, double cost) {
  cost_ = found.cost = cost;
  const std::vector<PoolChoice>& pools = found_.emplace_back(std::move(found)).pools;
  const bool is_fleet = model_.size() > kExactGroups;
  const bool is_asked =
      is_fleet && model_.size() <= kMostAsked && (!stood_ || cost < kSavesEnough * *stood_->goal);
  if (is_asked) {
    // With other random numbers each of them stood alone.
    auto option = standing(pools, Numbers::AsGiven);
    if (!option) return;
    stood_ = std::move(option);
  }
  say_pools(search_, is_fleet && !is_asked ? "stands, to be confirmed" : "best so far",
            merged(pools), from_dollars(cost));
}

// Pods that share no GPU are as well off in one pool with others like them.
void FoundDivisions::add_pool(PoolChoice choice, std::vector<PoolChoice>& pools) const {
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

std::vector<PoolChoice> FoundDivisions::merged(const std::vector<PoolChoice>& pools) const {
  std::vector<PoolChoice> fewer;
  for (const PoolChoice& pool : pools) add_pool(pool, fewer);
  return fewer;
}

// nullopt: they do not. `missed`: workloads that keep them from it.
std::optional<PlanAnswer> FoundDivisions::stand_together(const std::vector<PoolChoice>& pools,
                                                         Numbers numbers,
                                                         std::vector<std::string>* missed) {
  const PlanProbe probe = search_.about(pools);
  PlanAnswer answer = search_.probes.ask_one(probe);
  if (!answer.figures) return std::nullopt;
  std::optional<OptionFigures> against;
  if (answer.partial || !answer.figures->stands()) {
    against = answer.figures;
  } else if (numbers == Numbers::OthersToo) {
    against = fails_again(search_, probe, *answer.figures);
    // Of changed inputs only what comes out of the search is relied upon.
    auto look = against || !search_.input.empty() ? std::nullopt : confirmation(search_, pools);
    if (look && !look->found.holds) against = std::move(look->figures);
  }
  if (!against) return answer;
  if (missed != nullptr) *missed = missed_by(*against);
  return std::nullopt;
}

bool FoundDivisions::refutes_best() {
  const bool is_soon_searched = model_.size() <= kSoonSearched;
  for (int n = 0; n < kMostMended; ++n) {
    if (found_.empty() || search_.probes.interrupted()) return false;
    std::vector<std::string> missed;
    if (stand_together(merged(found_.back().pools), Numbers::OthersToo, &missed)) return false;
    const std::vector<PoolChoice> refuted = refute_pools_of(missed);
    if (refuted.empty()) return false;
    if (!is_soon_searched) mend(found_.back().division, refuted);
    if (is_soon_searched || found_.empty()) {
      cost_ = cap_;
      best_.clear();
      found_.clear();
      return true;
    }
  }
  return false;
}

std::vector<PoolChoice> FoundDivisions::refute_pools_of(const std::vector<std::string>& missed) {
  std::vector<PoolChoice> refuted;
  for (const Members& block : found_.back().division) {
    const KnownPools::Solved* solved = known_.find(block);
    const bool to_blame =
        solved != nullptr && solved->option &&
        std::ranges::any_of(solved->option->pools.front().workloads,
                            [&](const auto& name) { return contains(missed, name); });
    if (!to_blame) continue;
    refuted.push_back(solved->option->pools.front());
    known_.refute(block);
  }
  return refuted;
}

void FoundDivisions::mend(std::vector<Members> division, const std::vector<PoolChoice>& refuted) {
  std::erase_if(found_, [&](const Found& found) {
    return std::ranges::any_of(found.pools,
                               [&](const auto& pool) { return contains(refuted, pool); });
  });
  Found mended{std::move(division), {}};
  for (const Members& block : mended.division) {
    const auto& option = known_.best_of(block, cap_).option;
    if (!option) break;
    mended.cost += *option->goal;
    mended.pools.push_back(option->pools.front());
  }
  if (mended.pools.size() == mended.division.size() && mended.cost < cap_) {
    const auto dearer = std::ranges::partition_point(
        found_, [&](const Found& found) { return found.cost > mended.cost; });
    found_.insert(dearer, std::move(mended));
  }
  if (found_.empty()) return;
  cost_ = found_.back().cost;
  best_ = found_.back().division;
}

std::optional<PlanOption> FoundDivisions::standing(std::vector<PoolChoice> pools, Numbers numbers) {
  auto answer = stand_together(pools, numbers);
  const auto goal = answer ? goal_of(search_.goal, *answer->figures) : std::nullopt;
  if (!goal) return std::nullopt;
  return PlanOption{std::move(pools), std::move(*answer->figures), goal, false};
}

std::optional<PlanOption> FoundDivisions::confirmed() {
  for (auto found = found_.rbegin(); found != found_.rend(); ++found) {
    if (auto option = standing(merged(found->pools), Numbers::OthersToo)) return option;
  }
  return std::move(stood_);
}

}  // namespace slicewise::sim
