#include "domain_tallies.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {

DomainTallies::DomainTallies(const ClusterState& cluster)
    : cluster_(cluster), shares_(cluster.world->workloads.size()) {}

std::size_t DomainTallies::add(std::string_view label, const std::vector<char>& counted) {
  Tally tally;
  tally.counted = counted;
  if (label == scenarios::kHostname) {
    tally.sums.resize(cluster_.nodes.size());
    tallies_.push_back(std::move(tally));
    return tallies_.size() - 1;
  }
  const auto value_of = [key = std::string(label)](const PoolModel& pool) {
    const auto found = pool.labels.find(key);
    return found == pool.labels.end() ? nullptr : &found->second;
  };
  std::vector<std::string> values;
  for (const PoolModel& pool : cluster_.world->pools) {
    const std::string* value = value_of(pool);
    const bool first = value != nullptr && !contains(values, *value);
    if (first) values.push_back(*value);
  }
  for (const PoolModel& pool : cluster_.world->pools) {
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

void DomainTallies::count(std::uint32_t p, int change) {
  const Pod& pod = cluster_.pods[p];
  const auto node = static_cast<std::uint32_t>(index(pod.node));
  for (const Share& share : shares_[index(pod.workload)]) {
    Tally& tally = tallies_[share.tally];
    if (tally.counted[pool_of(node)] == 0) continue;
    tally.sums[domain(share.tally, node)] += change * share.weight;
  }
}

}  // namespace slicewise::sim
