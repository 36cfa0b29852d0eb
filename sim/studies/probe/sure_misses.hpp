#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/world.hpp"

// What a replication misses by far whatever is still to come, long before it is over. The requests
// of an open loop are the same whoever answers them, so it is known how many there will be: a limit
// of the 95th percentile is missed as soon as more than 5 % of them were answered too late.
namespace slicewise::sim {

// An objective, by places in the world.
struct SureMiss {
  bool of_pipeline = false;  // else of a workload
  std::size_t of = 0;
  std::size_t objective = 0;
};

class SureMisses {
 public:
  // REQUIRES: the world outlives this.
  SureMisses(const World& world, std::uint32_t replication);

  // Objectives about latency or availability that will be missed by kClearFactor or more.
  std::vector<SureMiss> in(const Replication& so_far);

 private:
  struct Source {
    SureMiss whose;  // its objective says nothing
    const scenarios::Traffic* traffic = nullptr;
    const std::vector<scenarios::Objective>* objectives = nullptr;
    std::uint32_t entity = 0;
    std::optional<std::int64_t> requests = {};  // after the warm-up; nobody needed it yet
  };

  std::int64_t requests_of(Source& source) const;

  const World& world_;
  std::uint32_t replication_;
  std::vector<Source> sources_;
};

// Nothing but these objectives, as far as the record goes, and the verdict on them.
VariantResult result_of_misses(const World& world, std::span<const SureMiss> misses,
                               std::span<const Replication> records);

}  // namespace slicewise::sim
