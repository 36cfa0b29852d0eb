#include "slicewise/sim/comparison.hpp"

namespace slicewise::sim {

std::string_view strategy_name(Strategy strategy) {
  switch (strategy) {
    case Strategy::Exclusive:
      return "exclusive";
    case Strategy::TimeSlicing:
      return "timeSlicing";
    case Strategy::Mps:
      return "mps";
    case Strategy::MpsUncapped:
      return "mpsUncapped";
    case Strategy::Mig:
      return "mig";
    case Strategy::MigTimeSlicing:
      return "mig+timeSlicing";
    case Strategy::MigMps:
      return "mig+mps";
    case Strategy::Vgpu:
      return "vgpu";
  }
  return "exclusive";
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
      return {Memory::None, Compute::None, Fault::Process};
    case Strategy::Mps:
    case Strategy::MigMps:
      return {Memory::ProcessLimit, Compute::Cap, Fault::Shared};
    case Strategy::MpsUncapped:
      return {Memory::ProcessLimit, Compute::None, Fault::Shared};
    case Strategy::Vgpu:
      return {Memory::Hardware, Compute::Cap, Fault::Process};
  }
  return {};
}

}  // namespace slicewise::sim
