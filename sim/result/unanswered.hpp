#pragma once

#include <cstdint>

#include "slicewise/sim/metrics/replication.hpp"

// Queues that only grow.
namespace slicewise::sim {

// Requests still in a queue or on a GPU when the run ended.
std::int64_t unanswered(const RequestRecord& requests);

// A stable queue is a handful of requests; one that holds a fiftieth of all that came only grows:
// latencies then only tell how long the run was. Both are sums over `runs`.
bool queue_only_grows(std::int64_t open, std::int64_t arrived, std::int64_t runs);

}  // namespace slicewise::sim
