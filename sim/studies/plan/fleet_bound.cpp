#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "block_outcome.hpp"
#include "fleet_model.hpp"

namespace slicewise::sim {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

// Numbers of pods per GPU that are looked at as one: as much memory as the least takes, as many
// pods as the most has.
struct Replicas {
  int least = 2;
  int most = 2;
};

std::vector<Replicas> replicas_up_to(const std::vector<int>& asked, int pods) {
  std::vector<Replicas> all;
  if (!asked.empty()) {
    for (const int r : asked) {
      if (r >= 2) all.push_back({r, r});
    }
    return all;
  }
  constexpr int kEnds[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48};
  int least = 2;
  for (const int most : kEnds) {
    if (least <= std::max(2, pods)) all.push_back({least, most});
    least = most + 1;
  }
  if (least <= pods) all.push_back({least, pods});
  return all;
}

// The size of the smallest of the pods that may meet, from .. to.
struct Sizes {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

std::vector<Sizes> few_of(const std::set<std::int64_t>& sizes) {
  constexpr std::size_t kMost = 12;
  const std::vector<std::int64_t> sorted(sizes.begin(), sizes.end());
  const std::size_t step = (sorted.size() + kMost - 1) / kMost;
  std::vector<Sizes> few;
  for (std::size_t n = 0; n < sorted.size(); n += step) {
    few.push_back({sorted[n], sorted[std::min(n + step, sorted.size()) - 1]});
  }
  return few;
}

double gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

// What there is of each group, of some of them.
template <typename Value>
std::vector<Value> of_members(const std::vector<Value>& of_all, const Members& members) {
  std::vector<Value> some;
  for (const std::size_t member : members) some.push_back(of_all[member]);
  return some;
}

// The families as they are for some of the groups.
std::vector<PoolFamily> families_of(std::vector<PoolFamily> families, const Members& members) {
  for (PoolFamily& family : families) {
    for (PoolFamily::Row& row : family.rows) row.takes = of_members(row.takes, members);
    if (family.further_nodes.empty()) continue;
    family.further_nodes = of_members(family.further_nodes, members);
  }
  return families;
}

}  // namespace

PoolFamily::Row FleetModel::row(std::size_t t, double per_node,
                                const std::function<double(const Need&)>& takes) const {
  PoolFamily::Row row{{}, per_node, 0};
  for (const auto& needs : needs_) row.takes.push_back(needs[t] ? takes(*needs[t]) : kNowhere);
  return row;
}

// With what every way of sharing needs of a node. Spares are bought for each pool: two for two.
PoolFamily FleetModel::family(std::size_t t, int least_nodes) const {
  PoolFamily family;
  if (search_.space.survive == Outage::None) family.further_nodes = further_nodes();
  family.least_nodes = least_nodes;
  const int most = survivors(search_.space.survive, search_.space.max_nodes);
  for (int nodes = least_nodes; nodes <= most; ++nodes) {
    family.monthly.push_back(types_[t].cheapest * with_spares(search_.space.survive, nodes));
  }
  family.rows = {row(t, 1, [](const Need& need) { return need.room.cpu; }),
                 row(t, 1, [](const Need& need) { return need.room.memory; }),
                 row(t, 1, [](const Need& need) { return need.room.slots; })};
  return family;
}

// Pods have their GPUs to themselves, all of them on one node. One family for each number of nodes
// from which on pools hold a gang that smaller ones do not.
void FleetModel::add_unshared(std::size_t t, std::vector<PoolFamily>& families) const {
  const double gpus = types_[t].gpus;
  std::set<int> numbers{1};
  for (const auto& needs : needs_) {
    if (needs[t]) numbers.insert(needs[t]->room.least_nodes);
  }
  for (auto least = numbers.begin(); least != numbers.end(); ++least) {
    PoolFamily next = family(t, *least);
    if (const auto above = std::next(least); above != numbers.end()) {
      const auto most = static_cast<std::size_t>(*above - *least);
      next.monthly.resize(std::min(most, next.monthly.size()));
    }
    next.rows.push_back(row(t, gpus, [&](const Need& need) {
      if (need.room.least_nodes > *least) return kNowhere;
      return need.room.tickets;
    }));
    for (std::size_t k = 0; k < kPackings.size(); ++k) {
      const bool tells = std::ranges::any_of(needs_, [&](const auto& needs) {
        return needs[t] && needs[t]->room.packed[k] * gpus > needs[t]->room.tickets + 1e-9;
      });
      if (!tells) continue;
      next.rows.push_back(row(t, 1, [k](const Need& need) { return need.room.packed[k]; }));
    }
    families.push_back(std::move(next));
  }
}

// As many pods as a GPU has replicas must fit together, whichever meet. The largest r of them take
// the least over s of r s + the sum of what each has above s: one family for each r and s.
void FleetModel::add_time_slicing(std::size_t t, std::vector<PoolFamily>& families) const {
  const Type& type = types_[t];
  const double gpus = type.gpus;
  const auto& asked = search_.space.replicas;
  const double pods_per_gpu = asked.empty() ? kNowhere : asked.back();
  int pods = 0;
  std::set<std::int64_t> sizes;
  for (const auto& needs : needs_) {
    if (!needs[t] || needs[t]->room.several_gpus) continue;
    for (const Bytes size : needs[t]->room.largest_pods) sizes.insert(size.count);
    pods += static_cast<int>(needs[t]->room.pods);
  }
  const double most_memory = static_cast<double>(std::max(type.memory, type.memory_total).count);
  const double memory_of = gpus * most_memory / static_cast<double>(type.memory.count);
  const auto shared = [&](int least_nodes, double replicas) {
    PoolFamily next = family(t, least_nodes);
    next.rows.push_back(row(t, gpus, [](const Need& need) { return need.busy; }));
    next.rows.push_back(row(t, gpus, [&](const Need& need) {
      return need.room.several_gpus ? kNowhere : need.least[kGpuMemory] * memory_of;
    }));
    if (std::isfinite(replicas)) {
      next.rows.push_back(row(t, replicas * gpus, [](const Need& need) { return need.room.pods; }));
    }
    return next;
  };
  if (search_.space.keeps_apart) {
    families.push_back(shared(1, pods_per_gpu));
    return;
  }
  int nodes = 1;
  if (type.gpus == 1) {
    // All of them meet.
    PoolFamily one = shared(1, pods_per_gpu);
    one.monthly.resize(std::min<std::size_t>(1, one.monthly.size()));
    families.push_back(std::move(one));
    nodes = 2;
  }
  const auto add = [&](const Replicas& replicas, const Sizes& size) {
    const double left = gigabytes(type.memory.count - replicas.least * size.least);
    if (left < 0) return;
    PoolFamily next = shared(nodes, replicas.most);
    PoolFamily::Row above = row(t, 0, [&](const Need& need) {
      double sum = 0;
      for (const Bytes pod : need.room.largest_pods) {
        sum += gigabytes(std::max<std::int64_t>(0, pod.count - size.most));
      }
      return sum;
    });
    above.however_many = left;
    next.rows.push_back(std::move(above));
    families.push_back(std::move(next));
  };
  const std::vector<Replicas> all = replicas_up_to(asked, pods);
  for (const Replicas& replicas : all) {
    for (const Sizes& size : few_of(sizes)) add(replicas, size);
  }
  if (!all.empty()) add(all.back(), {});  // fewer pods than a GPU has replicas: all of them meet
}

// Each process gets an equal share of the memory, one family for each number of shares.
void FleetModel::add_mps(std::size_t t, std::vector<PoolFamily>& families) const {
  const Type& type = types_[t];
  constexpr std::int64_t kMany = 1'000;
  const auto shares_of = [&](const Need& need) {
    const std::int64_t process = need.room.largest_process.count;
    return process == 0 ? kMany : std::min(kMany, type.memory_total.count / process);
  };
  std::set<std::int64_t> numbers;
  for (const auto& needs : needs_) {
    if (needs[t] && !needs[t]->room.several_gpus) numbers.insert(shares_of(*needs[t]));
  }
  for (const std::int64_t shares : numbers) {
    if (shares < 2) continue;
    PoolFamily next = family(t, 1);
    next.rows.push_back(row(t, type.gpus, [](const Need& need) { return need.sm_busy; }));
    next.rows.push_back(row(t, static_cast<double>(shares) * type.gpus, [&](const Need& need) {
      const bool may = !need.room.several_gpus && shares_of(need) >= shares;
      if (!may) return kNowhere;
      return need.room.pods;
    }));
    families.push_back(std::move(next));
  }
}

// By group: each of its pods but one may be on a node more. Those that come and go, any number.
std::vector<int> FleetModel::further_nodes() const {
  constexpr int kAny = 1'000'000;
  std::vector<int> further;
  for (const auto& names : groups_) {
    int pods = 0;
    for (const auto& workload : search_.base.workloads) {
      if (!contains(names, workload.name.value)) continue;
      const bool stays = workload.kind == WorkloadKind::Service && !workload.autoscaling;
      pods = std::min(kAny, pods + (stays ? workload.count : kAny));
    }
    further.push_back(std::max(0, pods - 1));
  }
  return further;
}

std::vector<PoolFamily> FleetModel::families() const {
  std::vector<PoolFamily> all;
  // Nodes of recorded jobs come and go.
  const bool whole_nodes = std::ranges::none_of(
      search_.base.workloads, [](const auto& workload) { return workload.trace.has_value(); });
  if (!whole_nodes || size() > kMostPricedGroups) return all;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const Type& type = types_[t];
    if (type.monthly == 0) continue;
    const double gpus = type.gpus;
    if (type.alone) add_unshared(t, all);
    if (type.turns) add_time_slicing(t, all);
    if (type.mps) add_mps(t, all);
    if (!type.mig && !type.shares_cut) continue;
    PoolFamily cut = family(t, 1);
    for (std::size_t k = kGpuMemory; k < kResources; ++k) {
      cut.rows.push_back(row(t, 1, [&](const Need& need) {
        if (need.room.several_gpus) return kNowhere;
        return need.least[k];
      }));
    }
    if (!type.shares_cut) {
      cut.rows.push_back(row(t, gpus, [](const Need& need) { return need.room.mig.memory; }));
      cut.rows.push_back(row(t, gpus, [](const Need& need) { return need.room.mig.compute; }));
    }
    all.push_back(std::move(cut));
  }
  return all;
}

// No pool holds groups of two of these: what they select differs.
std::vector<Members> FleetModel::apart_by_labels() const {
  const auto agree = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(labels_[a], [&](const auto& label) {
      const auto other = labels_[b].find(label.first);
      return other == labels_[b].end() || other->second == label.second;
    });
  };
  std::vector<Members> apart;
  for (std::size_t g = 0; g < size(); ++g) {
    Members together{g};
    std::erase_if(apart, [&](const Members& others) {
      const bool meets =
          std::ranges::any_of(others, [&](std::size_t other) { return agree(g, other); });
      if (meets) together.insert(together.end(), others.begin(), others.end());
      return meets;
    });
    apart.push_back(std::move(together));
  }
  return apart;
}

std::optional<std::vector<double>> FleetModel::least_worth() const {
  std::optional<std::vector<double>> in_parts = least_in_parts();
  const std::vector<PoolFamily> all = families();
  if (!in_parts || all.empty()) return in_parts;
  std::vector<double> of_pools(size(), 0.0);
  for (const Members& members : apart_by_labels()) {
    const auto worth = sim::least_worth(families_of(all, members), of_members(*in_parts, members));
    for (std::size_t m = 0; worth && m < members.size(); ++m) of_pools[members[m]] = (*worth)[m];
  }
  leave_out_those_that_go(search_, *this, of_pools);
  return sum_of(of_pools) > sum_of(*in_parts) ? of_pools : in_parts;
}

std::optional<double> FleetModel::as_bound(const std::optional<std::vector<double>>& worth) const {
  // Jobs may all wait. Prices are rounded down, to nano-dollars.
  constexpr double kRounded = 1 - 1e-7;
  if (!worth || sum_of(*worth) <= 0 || search_.base.allow_pending) return std::nullopt;
  double least = sum_of(*worth);
  // Nodes of one type are whole; the linear program is not that exact.
  constexpr double kInexact = 1e-4;
  const double each = types_.front().cheapest;
  if (types_.size() == 1 && each > 0 &&
      !may_come_and_go(search_, workloads_with_pods(search_.base))) {
    least = std::max(least, std::ceil(least / each - kInexact) * each);
  }
  return least * kRounded;
}

void leave_out_those_that_go(const BlockSearch& search, const FleetModel& model,
                             std::vector<double>& worth) {
  for (std::size_t g = 0; g < worth.size(); ++g) {
    if (!need_nodes_always(search, model.names(g))) worth[g] = 0;
  }
}

double FleetModel::least_on(std::size_t t, const Members& members) const {
  Shares takes{};
  for (const std::size_t g : members) {
    if (!needs_[g][t]) return 0;
    for (std::size_t k = 0; k < kResources; ++k) takes[k] += needs_[g][t]->least[k];
  }
  const double nodes = std::max(1.0, std::ceil(std::ranges::max(takes) * (1 - 1e-9)));
  if (nodes > search_.space.max_nodes) return kNowhere;
  return types_[t].cheapest * with_spares(search_.space.survive, static_cast<int>(nodes));
}

std::optional<std::vector<double>> FleetModel::least_in_parts() const {
  // The dual of the linear program: of each type the price of a node is spread over what it has, a
  // group pays for what it takes where that is cheapest. Any spread is a bound; weights go to what
  // runs out.
  constexpr int kRounds = 400;
  std::vector<Shares> weights(types_.size());
  for (Shares& weight : weights) weight.fill(1.0 / kResources);
  std::vector<double> best;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Shares> used(types_.size());
    std::vector<double> worth;
    for (const auto& needs : needs_) {
      double least = std::numeric_limits<double>::infinity();
      std::size_t at = 0;
      for (std::size_t t = 0; t < types_.size(); ++t) {
        if (!needs[t]) continue;
        double pays = 0;
        for (std::size_t k = 0; k < kResources; ++k) pays += weights[t][k] * needs[t]->least[k];
        pays *= types_[t].cheapest;
        if (pays < least) {
          least = pays;
          at = t;
        }
      }
      if (least == std::numeric_limits<double>::infinity()) return std::nullopt;
      worth.push_back(least);
      for (std::size_t k = 0; k < kResources; ++k) used[at][k] += needs[at]->least[k];
    }
    if (sum_of(worth) >= sum_of(best)) best = std::move(worth);
    const double step = 0.5 / std::sqrt(1.0 + round);
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const double most = std::ranges::max(used[t]);
      if (most <= 0) continue;
      double sum = 0;
      for (std::size_t k = 0; k < kResources; ++k) {
        weights[t][k] *= 1 + step * (used[t][k] / most - 1);
        sum += weights[t][k];
      }
      for (double& weight : weights[t]) weight /= sum;
    }
  }
  leave_out_those_that_go(search_, *this, best);
  return best;
}

}  // namespace slicewise::sim
