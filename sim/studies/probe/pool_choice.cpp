#include "slicewise/sim/pool_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string describe(const PoolChoice& choice) {
  std::string text = choice.nodes > 0 ? fmt::format("{} x {}", choice.nodes, choice.instance_type)
                                      : choice.instance_type;
  if (!choice.purchase.empty() && choice.purchase != "on-demand") text += " " + choice.purchase;
  std::vector<std::string> layout;
  for (const models::MigCount& count : choice.mig) {
    layout.push_back(fmt::format("{}x{}", count.count, count.profile));
  }
  switch (choice.strategy) {
    case Strategy::Exclusive:
      return text + ", exclusive";
    case Strategy::TimeSlicing:
      return text + fmt::format(", time-slicing x{}", choice.replicas);
    case Strategy::Mps:
      return text + fmt::format(", MPS x{}", choice.replicas);
    case Strategy::MpsUncapped:
      return text + fmt::format(", MPS x{} uncapped", choice.replicas);
    case Strategy::Mig:
      return text + (layout.empty() ? ", MIG" : fmt::format(", MIG {}", fmt::join(layout, "+")));
    case Strategy::MigTimeSlicing:
      return text +
             fmt::format(", MIG {} time-slicing x{}", fmt::join(layout, "+"), choice.replicas);
    case Strategy::MigMps:
      return text + fmt::format(", MIG {} MPS x{}", fmt::join(layout, "+"), choice.replicas);
    case Strategy::Vgpu:
      return text + ", vGPU";
  }
  return text;
}

}  // namespace slicewise::sim
