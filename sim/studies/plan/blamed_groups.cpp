#include "blamed_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {

std::optional<Members> Blame::next() const {
  if (done_) return std::nullopt;
  Members some = needed_;
  if (looks_ != Looks::AtNeeded) {
    const std::size_t first = looks_ == Looks::AtAll ? rest_.size() : few_ + (enough_ - few_) / 2;
    some.insert(some.end(), rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  std::ranges::sort(some);
  return some;
}

void Blame::record(bool cost_more, std::optional<std::size_t> missed) {
  if (looks_ == Looks::Between) {
    (cost_more ? enough_ : few_) = few_ + (enough_ - few_) / 2;
    if (enough_ - few_ <= 1) found();
    return;
  }
  if (looks_ == Looks::AtAll) {
    done_ = !cost_more || rest_.size() < 2;
    if (done_) return;
    if (missed) {
      needed_.push_back(*missed);
      std::erase(rest_, *missed);
      looks_ = Looks::AtNeeded;
      return;
    }
  } else if (cost_more) {
    done_ = true;
    return;
  }
  look_between();
}

void Blame::look_between() {
  looks_ = Looks::Between;
  few_ = 0;
  enough_ = rest_.size();
  if (enough_ <= 1) found();
}

// The last one that is needed beside what comes before it.
void Blame::found() {
  needed_.push_back(rest_[enough_ - 1]);
  rest_.resize(enough_ - 1);
  done_ = rest_.empty();
  looks_ = Looks::AtNeeded;
}

bool BlamedGroups::look_at(const std::vector<PoolPricing::Offer>& pools,
                           const std::vector<double>& worth) {
  const std::int64_t before = known_.configurations();
  std::vector<Blame> open;
  for (const PoolPricing::Offer& pool : pools) {
    Members order = pool.members;
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t g) { return worth[g]; });
    open.emplace_back(order, pool.monthly);
  }
  while (!open.empty() && !search_.probes.interrupted()) {
    std::vector<KnownPools::Question> questions;
    questions.reserve(open.size());
    for (const Blame& blame : open) {
      questions.push_back({*blame.next(), blame.offered() + 2 * kSamePrice});
    }
    known_.glance_at_all(std::move(questions));
    for (Blame& blame : open) record(blame);
    std::erase_if(open, [](const Blame& blame) { return !blame.next(); });
  }
  return known_.configurations() > before;
}

void BlamedGroups::record(Blame& blame) {
  const Members looked_at = *blame.next();
  const KnownPools::Solved& solved = *known_.find(looked_at);
  const bool cost_more = !solved.option || *solved.option->goal > blame.offered() + kSamePrice;
  const auto misses = [&](std::size_t g) {
    return std::ranges::any_of(
        model_.names(g), [&](const std::string& name) { return contains(solved.missed, name); });
  };
  const auto missed = std::ranges::find_if(looked_at, misses);
  blame.record(cost_more, missed == looked_at.end() ? std::nullopt : std::optional(*missed));
}

}  // namespace slicewise::sim
