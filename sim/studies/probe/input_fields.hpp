#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/sensitivity.hpp"
#include "slicewise/sim/world.hpp"

// The inputs of workloads and node pools: fields of a scenario, by their paths.
namespace slicewise::sim {

// An input of a workload.
struct WorkloadField {
  scenarios::InputKind kind;
  std::string_view path;  // below the workload
  bool measured;          // known as well as the block `measured`; else the scenario decides it
  // Whether the input means something to a workload; nullptr: to all that say it.
  bool (*applies)(const Workload& resolved) = nullptr;
  // What holds where nobody says it; nullptr: then there is no such input.
  std::optional<double> (*assumed)(const Workload& resolved) = nullptr;
};

std::span<const WorkloadField> workload_fields();

// What the workload says of the field, or what holds where it says nothing; nullopt where it has no
// such input. `resolved` has what the catalogue filled in.
std::optional<double> stated_value(const WorkloadField& field, const Workload& resolved);

// The same in `world`; nullopt also where it cannot matter: the laws of sharing are inputs only
// where there is MPS or MIG.
std::optional<double> value_of(const WorkloadField& field, const Workload& resolved,
                               const World& world);

// Gives the input of a workload another value, and what goes with it: each further request of a
// batch takes as many times as long as one alone, memory at its peak is no less than what stays.
void set_input(Workload& workload, std::string_view path, double value);

// Lays the figures that the catalogue filled in over the workload of a scenario.
void lay_figures(const Workload& resolved, Workload& workload);

// How well the field is known.
std::optional<scenarios::Provenance> basis_of(const WorkloadField& field, const Workload& resolved);

// An input of a node pool: a field of the scenario, but for the price, which the world has. nullopt
// where it cannot matter.
struct PoolField {
  scenarios::InputKind kind;
  std::string_view path;
  std::optional<double> (*read)(const NodePool& given, const PoolModel& pool, const World& world);
  std::optional<scenarios::Provenance> (*basis)(const NodePool& given, const PoolModel& pool);
};

std::span<const PoolField> pool_fields();
AmountUnit unit_of(const PoolField& field);

}  // namespace slicewise::sim
