#include "domain_tallies.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {

DomainTallies::DomainTallies(const World& world, std::vector<std::size_t> pool_of)
    : world_(&world), pool_of_(std::move(pool_of)), shares_(world.workloads.size()) {}

std::size_t DomainTallies::add(std::string_view label, const std::vector<char>& counted) {
  Tally tally;
  tally.counted = counted;
  if (label == scenarios::kHostname) {
    tally.sums.resize(pool_of_.size());
    tallies_.push_back(std::move(tally));
    return tallies_.size() - 1;
  }
  const auto value_of = [key = std::string(label)](const PoolModel& pool) {
    const auto found = pool.labels.find(key);
    return found == pool.labels.end() ? nullptr : &found->second;
  };
  std::vector<std::string> values;
  for (const PoolModel& pool : world_->pools) {
    const std::string* value = value_of(pool);
    const bool first = value != nullptr && !contains(values, *value);
    if (first) values.push_back(*value);
  }
  for (const PoolModel& pool : world_->pools) {
    const std::string* value = value_of(pool);
    const auto at = value == nullptr ? values.end() : std::ranges::find(values, *value);
    tally.of_pool.push_back(static_cast<std::size_t>(at - values.begin()));
  }
  tally.sums.resize(values.size() + 1);
  tallies_.push_back(std::move(tally));
  return tallies_.size() - 1;
}

void DomainTallies::take(std::size_t tally, std::size_t workload, std::int64_t weight) {
  shares_[workload].push_back({tally, weight});
}

void DomainTallies::count(std::size_t node, std::size_t workload, std::int64_t pods) {
  for (const Share& share : shares_[workload]) {
    Tally& tally = tallies_[share.tally];
    if (tally.counted[pool_of_[node]] == 0) continue;
    tally.sums[domain(share.tally, node)] += pods * share.weight;
    if (has_label(share.tally, node)) tally.total += pods * share.weight;
  }
}

}  // namespace slicewise::sim
