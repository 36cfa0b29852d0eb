#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

bool is_interrupted(const RunOptions& options);

// Calls work(0) .. work(count - 1) on options.threads threads, started in order, until it is
// interrupted. Each call writes to a place of its own, so that the number of threads cannot change
// a result.
void run_in_parallel(std::size_t count, const RunOptions& options,
                     const std::function<void(std::size_t)>& work);

// One replication; nullopt when it was interrupted before its end.
std::optional<Replication> whole_replication(const World& world, std::size_t replication,
                                             const RunOptions& options);

}  // namespace slicewise::sim
