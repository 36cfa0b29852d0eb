#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/world.hpp"

// Whose random stream is whose.
namespace slicewise::sim {

// Random streams go by name: listing workloads in another order, or one more of them, moves nobody
// else's numbers. FNV-1a.
constexpr std::uint32_t entity_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// The nth of its pods, or nodes. The step is odd, so that two of them never meet. Source: 2^32 over
// the golden ratio.
constexpr std::uint32_t entity_of(std::string_view name, std::uint32_t nth) {
  return entity_of(name) + nth * 0x9E3779B9U;
}

// Calls `use` with the entity of each pod of the world, in the order of ClusterState::pods.
template <class Use>
void for_each_entity(const World& world, Use&& use) {
  for (const WorkloadModel& workload : world.workloads) {
    for (int nth = 0; nth < workload.spec.count; ++nth) {
      use(entity_of(workload.name, static_cast<std::uint32_t>(nth)));
    }
  }
}

// Lognormal with mean 1 and the given coefficient of variation.
inline double random_size(RandomStream& random, double variation) {
  if (variation <= 0) return 1;
  const double sigma2 = portable_log(1 + variation * variation);
  return portable_exp(std::sqrt(sigma2) * random.normal() - sigma2 / 2);
}

}  // namespace slicewise::sim
