#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/world.hpp"

// Which pods may meet on a GPU, and what then stands between them.
namespace slicewise::sim {

// What the pool's way of sharing leaves between two pods on one GPU; as of a Strategy.
Isolation isolation_of(const NodePoolResult& pool);

// "none", "processLimit", "cap", "process", "shared", "hardware": as policies and reports spell it.
std::string_view level_name(Isolation::Memory level);
std::string_view level_name(Isolation::Compute level);
std::string_view level_name(Isolation::Fault level);

// Whether two pods may be on one GPU at a time, by what pods ask for and pools offer; on the same
// GPU they are also in two MIG instances of it.
struct GpuNeighbours {
  bool pods = false;
  bool namespaces = false;  // two pods of different namespaces
};
GpuNeighbours gpu_neighbours(const World& world);

// Why pods that may share a GPU, or a MIG instance, of the pool have less between them than
// World::isolation requires, one sentence without a full stop; nullopt when nothing is missing.
// REQUIRES: pool < world.pools.size().
std::optional<std::string> isolation_gap(const World& world, std::size_t pool);

}  // namespace slicewise::sim
