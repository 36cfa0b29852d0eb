#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/pool_choice.hpp"

namespace slicewise::sim {

const scenarios::SharingStrategy& described(Strategy strategy) {
  return scenarios::kSharingStrategies[static_cast<std::size_t>(strategy)];
}

std::string_view strategy_name(Strategy strategy) { return described(strategy).key; }

std::optional<Strategy> strategy_of(std::string_view key) {
  const scenarios::SharingStrategy* const found = scenarios::sharing_strategy(key);
  if (found == nullptr) return std::nullopt;
  return static_cast<Strategy>(found - std::begin(scenarios::kSharingStrategies));
}

bool is_planned(Strategy strategy) { return contains(kStrategies, strategy); }

bool is_mig(Strategy strategy) {
  return strategy == Strategy::Mig || strategy == Strategy::MigTimeSlicing ||
         strategy == Strategy::MigMps;
}

bool is_stock(Strategy strategy) { return strategy != Strategy::MpsUncapped; }

Isolation isolation_of(Strategy strategy) {
  using Memory = Isolation::Memory;
  using Compute = Isolation::Compute;
  using Fault = Isolation::Fault;
  switch (strategy) {
    case Strategy::Exclusive:
    case Strategy::Mig:
      return {Memory::Hardware, Compute::Hardware, Fault::Hardware};
    case Strategy::TimeSlicing:
    case Strategy::MigTimeSlicing:
    case Strategy::Kai:
    case Strategy::Nos:  // these two without what their MPS is known to limit
    case Strategy::AwsVirtualGpu:
      return {Memory::None, Compute::None, Fault::Process};
    case Strategy::Mps:
    case Strategy::MigMps:
      return {Memory::ProcessLimit, Compute::Cap, Fault::Shared};
    case Strategy::MpsUncapped:
      return {Memory::ProcessLimit, Compute::None, Fault::Shared};
    case Strategy::Vgpu:
      return {Memory::Hardware, Compute::Cap, Fault::Process};
    case Strategy::Hami:
      return {Memory::ProcessLimit, Compute::None, Fault::Process};
  }
  return {};
}

}  // namespace slicewise::sim
