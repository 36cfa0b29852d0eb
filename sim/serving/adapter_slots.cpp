#include "slicewise/sim/serving/adapter_slots.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {

AdapterChoice::AdapterChoice(const scenarios::LoraAdapters& adapters) : share_(adapters.share) {
  const bool even = adapters.popularity == scenarios::LoraAdapters::Popularity::Even;
  double sum = 0;
  for (int n = 1; n <= adapters.count; ++n) up_to_.push_back(sum += even ? 1.0 : 1.0 / n);
  for (double& part : up_to_) part /= sum;
}

std::uint32_t AdapterChoice::of(double drawn) const {
  if (drawn >= share_) return 0;
  const auto found = std::ranges::upper_bound(up_to_, drawn / share_);
  const auto before = static_cast<std::size_t>(found - up_to_.begin());
  return static_cast<std::uint32_t>(std::min(before, up_to_.size() - 1) + 1);
}

AdapterSlots::AdapterSlots(const AdapterLimits& limits)
    : limits_(limits),
      users_(static_cast<std::size_t>(limits.count) + 1),
      waiting_(static_cast<std::size_t>(limits.count) + 1) {
  assert(limits.places >= 1 && limits.count >= 1);
  there_.reserve(std::min(places(), users_.size()));
}

bool AdapterSlots::takes_one_that_waits() const {
  if (waiting_[0] > 0) return true;
  if (in_use_ < places()) return true;
  return std::ranges::any_of(there_, [this](std::uint32_t adapter) {
    return users_[adapter] > 0 && waiting_[adapter] > 0;
  });
}

void AdapterSlots::enter(std::uint32_t adapter) {
  assert(takes(adapter));
  if (adapter == 0 || users_[adapter]++ > 0) return;
  ++in_use_;
  if (contains(there_, adapter)) return;
  ++loads_;
  if (there_.size() == places()) {
    there_.erase(
        std::ranges::find_if(there_, [this](std::uint32_t other) { return users_[other] == 0; }));
  }
  there_.push_back(adapter);
}

void AdapterSlots::leave(std::uint32_t adapter) {
  if (adapter == 0 || --users_[adapter] > 0) return;
  --in_use_;
  const auto at = std::ranges::find(there_, adapter);
  std::rotate(at, at + 1, there_.end());
}

AdapterSlots::StepTime AdapterSlots::next_step() {
  const std::int64_t loads = loads_ - std::exchange(charged_, loads_);
  StepTime time{static_cast<double>(loads) * limits_.load_s, 0};
  if (in_use_ > 0) time.read_s = limits_.step_s + static_cast<double>(in_use_) * limits_.read_s;
  return time;
}

void AdapterSlots::clear() {
  std::ranges::fill(users_, 0U);
  std::ranges::fill(waiting_, 0U);
  there_.clear();
  in_use_ = 0;
}

}  // namespace slicewise::sim
