#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/world.hpp"

#include "probe.hpp"

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
  // `by_far`: latencies that a replication tells well are missed by far at so many times their
  // limits. REQUIRES: the world outlives this.
  SureMisses(const World& world, std::uint32_t replication, double by_far = kClearFactor);

  // Objectives about latency or availability that will be missed by far.
  std::vector<SureMiss> in(const Replication& so_far);

 private:
  struct Source {
    SureMiss whose;  // its objective says nothing
    const Traffic* traffic = nullptr;
    const std::vector<scenarios::Objective>* objectives = nullptr;
    std::uint32_t entity = 0;
    std::optional<std::int64_t> requests = {};  // after the warm-up; nobody needed it yet
  };

  std::int64_t requests_of(Source& source) const;
  bool is_told(Source& source, const scenarios::Objective& objective) const;

  const World& world_;
  std::uint32_t replication_;
  double by_far_;
  std::vector<Source> sources_;
};

// Whether every latency is likely to be kept in the end: the share of requests that were too slow
// so far lies so far below the share that may be that chance hardly brings it there. false where
// traffic changes or something else is asked for.
bool is_likely_to_hold(const World& world, const Replication& so_far);

// Nothing but these objectives, as far as the record goes, and the verdict on them.
VariantResult result_of_misses(const World& world, std::span<const SureMiss> misses,
                               std::span<const Replication> records);

}  // namespace slicewise::sim
