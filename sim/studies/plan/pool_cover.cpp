#include "pool_cover.hpp"

#include <algorithm>
#include <limits>

namespace slicewise::sim {
namespace {

constexpr double kTiny = 1e-9;
// A pool that gains less is not worth a change of the basis.
constexpr double kLeastGain = 1e-7;
// Of more pools those are looked at first that gained something the last time.
constexpr std::size_t kManyPools = 1'000;

}  // namespace

PoolCover::PoolCover(const std::vector<double>& alone)
    : groups_(alone.size()), inverse_(groups_, std::vector<double>(groups_)) {
  for (std::size_t g = 0; g < groups_; ++g) {
    add({g}, alone[g]);
    basis_.push_back({{g}, alone[g], 0});
    // Each a little more than once, none as much as another: ties would go round in circles.
    amount_.push_back(1 + 1e-4 * static_cast<double>(g + 1) / static_cast<double>(groups_));
    inverse_[g][g] = 1;
  }
}

bool PoolCover::add(std::vector<std::size_t> members, double cost) {
  std::ranges::sort(members);
  if (!known_.emplace(members, cost).second) return false;
  members_.insert(members_.end(), members.begin(), members.end());
  ends_.push_back(members_.size());
  costs_.push_back(cost);
  promising_.clear();
  return true;
}

double PoolCover::gain_of(std::size_t column, const std::vector<double>& worth) const {
  double gain = -costs_[column];
  for (std::size_t m = column == 0 ? 0 : ends_[column - 1]; m < ends_[column]; ++m) {
    gain += worth[members_[m]];
  }
  return gain;
}

// nullopt: none gains more.
std::optional<std::size_t> PoolCover::best_column(const std::vector<double>& worth,
                                                  double more_than) {
  std::optional<std::size_t> best;
  double most = more_than;
  const auto look_at = [&](std::size_t column) {
    const double gain = gain_of(column, worth);
    if (gain > most * (1 + kTiny)) {
      most = gain;
      best = column;
    }
    return gain > more_than;
  };
  for (const std::size_t column : promising_) look_at(column);
  if (best) return best;
  promising_.clear();
  const bool many = costs_.size() > kManyPools;
  for (std::size_t column = 0; column < costs_.size(); ++column) {
    if (look_at(column) && many) promising_.push_back(column);
  }
  return best;
}

std::vector<double> PoolCover::duals() const {
  std::vector<double> worth(groups_, 0.0);
  for (std::size_t b = 0; b < groups_; ++b) {
    if (basis_[b].cost == 0) continue;
    for (std::size_t g = 0; g < groups_; ++g) worth[g] += basis_[b].cost * inverse_[b][g];
  }
  return worth;
}

// false: nothing makes it cheaper.
bool PoolCover::pivot() {
  const std::vector<double> worth = duals();
  double most = kLeastGain;
  std::vector<std::size_t> enters;
  double cost = 0;
  double sign = 1;
  if (const auto column = best_column(worth, most)) {
    most = gain_of(*column, worth);
    const std::size_t first = *column == 0 ? 0 : ends_[*column - 1];
    enters.assign(members_.begin() + static_cast<std::ptrdiff_t>(first),
                  members_.begin() + static_cast<std::ptrdiff_t>(ends_[*column]));
    cost = costs_[*column];
  }
  for (std::size_t g = 0; g < groups_; ++g) {
    // Less of the group than it is covered by.
    if (-worth[g] > most * (1 + kTiny)) {
      most = -worth[g];
      enters = {g};
      cost = 0;
      sign = -1;
    }
  }
  if (enters.empty()) return false;
  std::vector<double> direction(groups_, 0.0);
  for (std::size_t b = 0; b < groups_; ++b) {
    for (const std::size_t g : enters) direction[b] += sign * inverse_[b][g];
  }
  std::optional<std::size_t> leaves;
  double amount = std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < groups_; ++b) {
    if (direction[b] <= kTiny) continue;
    const double until = amount_[b] / direction[b];
    if (until < amount) {
      amount = until;
      leaves = b;
    }
  }
  if (!leaves) return false;
  const std::size_t out = *leaves;
  const double pivot = direction[out];
  for (double& value : inverse_[out]) value /= pivot;
  for (std::size_t b = 0; b < groups_; ++b) {
    if (b == out || direction[b] == 0) continue;
    amount_[b] = std::max(0.0, amount_[b] - direction[b] * amount);
    for (std::size_t g = 0; g < groups_; ++g) inverse_[b][g] -= direction[b] * inverse_[out][g];
  }
  amount_[out] = amount;
  basis_[out] = {std::move(enters), cost, 0};
  return true;
}

std::vector<PoolCover::Column> PoolCover::taken() const {
  constexpr double kNone = 1e-6;
  std::vector<Column> taken;
  for (std::size_t b = 0; b < groups_; ++b) {
    if (basis_[b].cost <= 0 || amount_[b] <= kNone) continue;
    taken.push_back(basis_[b]);
    taken.back().amount = amount_[b];
  }
  return taken;
}

std::vector<double> PoolCover::worth() {
  constexpr std::size_t kMostPivots = 50;  // for each group
  for (std::size_t n = 0; n < kMostPivots * groups_ && pivot(); ++n) {
  }
  std::vector<double> worth = duals();
  for (double& each : worth) each = std::max(0.0, each);
  return worth;
}

}  // namespace slicewise::sim
