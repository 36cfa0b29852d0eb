#include "known_pools.hpp"

#include <algorithm>
#include <utility>

#include "pool_split.hpp"

namespace slicewise::sim {

std::vector<std::string> KnownPools::names_of(const Members& block) const {
  std::vector<std::string> names;
  for (const auto& workload : search_.base.workloads) {
    const bool inside = std::ranges::any_of(block, [&](std::size_t g) {
      return std::ranges::find(model_.names(g), workload.name.value) != model_.names(g).end();
    });
    if (inside) names.push_back(workload.name.value);
  }
  return names;
}

std::optional<double> KnownPools::bound_of(const Members& block) {
  const auto known = bounds_.find(block);
  if (known != bounds_.end()) return known->second;
  return bounds_[block] = least_monthly(search_, names_of(block));
}

std::optional<double> KnownPools::hoped_of(const Members& block) {
  const auto bound = bound_of(block);
  if (!bound || model_.size() <= kExactGroups) return bound;
  const Solved* solved = find(block);
  if (solved != nullptr && solved->option) return solved->option->goal;
  constexpr double kHope = 0.9;  // of what the model says
  return std::max(*bound, kHope * model_.price(model_.room(block)).value_or(0));
}

const KnownPools::Solved& KnownPools::best_of(const Members& block, double cap) {
  const Solved* known = find(block);
  if (known != nullptr && (known->option || known->cap >= cap)) return *known;
  const Depth depth = model_.size() > kExactGroups ? Depth::First : Depth::Ranked;
  BlockResult result = search_block(search_, names_of(block), 1, cap, depth, probes_);
  configurations_ += result.configurations;
  exhaustive_ += result.exhaustive;
  Solved& solved = solved_[block];
  solved.cap = cap;
  solved.missed = std::move(result.missed);
  solved.option.reset();
  if (!result.options.empty()) solved.option = std::move(result.options.front());
  return solved;
}

void KnownPools::refute(const Members& block) {
  const auto solved = solved_.find(block);
  search_.refuted.push_back(std::move(solved->second.option->choice));
  solved_.erase(solved);
}

const KnownPools::Solved* KnownPools::find(const Members& block) const {
  const auto solved = solved_.find(block);
  return solved == solved_.end() ? nullptr : &solved->second;
}

double KnownPools::price(const Members& block, double thought) const {
  const Solved* solved = find(block);
  if (solved == nullptr) return thought;
  if (solved->option) return solved->option->goal;
  return std::max(thought, solved->cap + kSamePrice);
}

}  // namespace slicewise::sim
