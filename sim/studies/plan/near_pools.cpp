#include "near_pools.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace slicewise::sim {
namespace {

class NearPools {
 public:
  NearPools(const KnownColumns& known, const KnownPools& pools, const FleetModel& model)
      : known_(known),
        pools_(pools),
        model_(model),
        floors_(floors_of(known.stand, known.searched)),
        of_group_(model.size()) {
    for (const PoolFloor& floor : floors_) {
      for (std::size_t g = 0; g < model.size(); ++g) {
        if (floor.groups[g]) of_group_[g].push_back(&floor);
      }
    }
  }

  std::vector<KnownPools::Question> best() {
    constexpr double kTaken = 1.001;  // costs no more than so many times what it is worth
    for (const KnownPool& pool : known_.stand) {
      if (pool.cost < kTaken * worth_of(pool.members)) look_beside(pool);
    }
    std::vector<std::pair<Likely, const Members*>> order;
    for (const auto& [members, likely] : near_) order.emplace_back(likely, &members);
    std::ranges::stable_sort(order, std::greater<>(), [](const auto& one) { return one.first; });
    if (order.size() > model_.size()) order.resize(model_.size());
    std::vector<KnownPools::Question> questions;
    questions.reserve(order.size());
    for (const auto& [likely, members] : order) questions.push_back({*members, worth_of(*members)});
    return questions;
  }

 private:
  using Likely = std::pair<bool, double>;  // whether the model expects it; worth for what it costs

  double worth_of(const Members& members) const {
    double sum = 0;
    for (const std::size_t g : members) sum += known_.worth[g];
    return sum;
  }

  void look_beside(const KnownPool& pool) {
    for (std::size_t out = 0; out <= pool.members.size(); ++out) {
      Members rest = pool.members;
      if (out < rest.size()) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(out));
      for (std::size_t g = 0; g < model_.size(); ++g) {
        if (std::ranges::binary_search(pool.members, g)) continue;
        Members members = rest;
        members.insert(std::ranges::upper_bound(members, g), g);
        look_at(std::move(members), g, pool.cost);
      }
    }
  }

  // `added`: of the members, the one that makes them differ from those of a pool that stands.
  void look_at(Members members, std::size_t added, double cost) {
    constexpr double kLeastGain = 1.0001;
    const double ratio = worth_of(members) / cost;
    if (ratio < kLeastGain || pools_.find(members) != nullptr) return;
    const GroupSet groups = set_of(members);
    const bool costs_more = std::ranges::any_of(of_group_[added], [&](const PoolFloor* floor) {
      return floor->monthly > cost + kSamePrice && (floor->groups & ~groups).none();
    });
    if (costs_more) return;
    const Room room = model_.room(members);
    const auto least = model_.price_alone(room);
    if (!least || *least > cost + kSamePrice) return;
    const auto thought = model_.price(room);
    const Likely likely{thought && *thought <= cost + kSamePrice, ratio};
    Likely& best = near_[std::move(members)];
    best = std::max(best, likely);
  }

  const KnownColumns& known_;
  const KnownPools& pools_;
  const FleetModel& model_;
  std::vector<PoolFloor> floors_;
  std::vector<std::vector<const PoolFloor*>> of_group_;
  std::map<Members, Likely> near_;
};

}  // namespace

std::vector<KnownPools::Question> near_pools(const KnownColumns& known, const KnownPools& pools,
                                             const FleetModel& model) {
  return NearPools(known, pools, model).best();
}

}  // namespace slicewise::sim
