#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/sensitivity.hpp"
#include "slicewise/sim/world.hpp"

// Where the inputs of workloads and node pools stand in a scenario.
namespace slicewise::sim {

// An input of a workload. `resolved` has what the catalogue filled in.
struct WorkloadField {
  scenarios::InputKind kind;
  std::string_view path;  // below the workload
  AmountUnit unit;
  std::optional<double> (*read)(const scenarios::Workload& resolved);
  void (*write)(scenarios::Workload& workload, double value);
  bool measured;  // known as well as the block `measured`; else the scenario decides it
};

std::span<const WorkloadField> workload_fields();

// Lays a value over a workload of a scenario, beside the figures that the catalogue filled in.
void write_field(const WorkloadField& field, const scenarios::Workload& resolved, double value,
                 scenarios::Workload& workload);

// How well the field is known.
std::optional<scenarios::Provenance> basis_of(const WorkloadField& field,
                                              const scenarios::Workload& resolved);

// Whether the field can matter: the laws of sharing inputs only where there is MPS or MIG.
bool matters(const WorkloadField& field, const World& world);

// An input of a node pool. nullopt where it cannot matter.
struct PoolField {
  scenarios::InputKind kind;
  std::string_view path;
  AmountUnit unit;
  std::optional<double> (*read)(const scenarios::NodePool& given, const PoolModel& pool,
                                const World& world);
  void (*write)(scenarios::NodePool& pool,
                double value);  // nullptr: of the world, not the scenario
  std::optional<scenarios::Provenance> (*basis)(const scenarios::NodePool& given,
                                                const PoolModel& pool);
};

std::span<const PoolField> pool_fields();

}  // namespace slicewise::sim
