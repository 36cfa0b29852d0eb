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
  if (known != nullptr && known->is_sure && (known->option || known->cap >= cap)) return *known;
  return search(block, cap, model_.size() > kExactGroups ? Depth::First : Depth::Ranked);
}

const KnownPools::Solved& KnownPools::glance_at(const Members& block, double cap) {
  const Solved* known = find(block);
  if (known != nullptr && (known->option || known->cap >= cap)) return *known;
  return search(block, cap, Depth::Glance);
}

const KnownPools::Solved& KnownPools::search(const Members& block, double cap, Depth depth) {
  BlockResult result = search_block(search_, names_of(block), 1, cap, depth, probes_);
  configurations_ += result.configurations;
  exhaustive_ += result.exhaustive;
  Solved& solved = solved_[block];
  // What stands at first sight only is the cheapest that may.
  solved.cap = solved.option ? std::max(cap, solved.option->goal) : cap;
  solved.missed = std::move(result.missed);
  solved.option.reset();
  solved.is_sure = depth != Depth::Glance || result.options.empty();
  if (!result.options.empty()) solved.option = std::move(result.options.front());
  return solved;
}

KnownColumns KnownPools::columns(double most) const {
  KnownColumns columns;
  columns.alone.assign(model_.size(), most);
  for (const auto& [block, solved] : solved_) {
    if (!solved.option) {
      columns.searched.push_back({block, solved.cap});
      continue;
    }
    columns.stand.push_back({block, solved.option->goal});
    if (block.size() == 1) columns.alone[block.front()] = solved.option->goal;
  }
  columns.worth = worth_of_groups(columns.alone, columns.stand);
  return columns;
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
