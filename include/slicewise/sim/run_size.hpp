#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

namespace slicewise::scenarios {
struct JobTrace;
}

// How large a replication or a replay becomes, known before it runs.
namespace slicewise::sim {

struct ReplayCluster;
struct ReplaySettings;

// A term of the estimate and how it came about: "requests of api: 200/s x 3600 s x 4 events".
struct SizePart {
  std::string words;
  double amount = 0;
  SourceLocation where;
};

struct RunSize {
  std::string of;                // "a replication"
  std::vector<SizePart> events;  // of the event loop
  std::vector<SizePart> memory;  // bytes at once
  std::vector<SizePart> bill;    // dollars, if all nodes were there all the time
};

// To within a factor of a few: traffic at its mean, and no pod that fails.
RunSize estimate_size(const World& world);

// Likewise of a replay under one scheduler: jobs that wait or run at once from what all GPUs can do
// with the GPU time that is asked for.
RunSize estimate_size(const scenarios::JobTrace& trace, const ReplaySettings& settings);

// Of the inflation experiment with one seed.
RunSize estimate_inflation(const scenarios::JobTrace& trace, const ReplayCluster& cluster,
                           int target_percent);

// Of one of them. A million events take about a tenth of a second of one CPU.
struct SizeLimits {
  double events = 1e10;
  Bytes memory = gibibytes(8);
};

// Dollars: what an amount of money can hold.
inline constexpr double kMostBill = 9e9;

// RUN_TOO_LARGE at the largest part, with the arithmetic of the estimate and the flag that lifts
// the limit; empty when it stays below both. No flag makes a bill larger than an amount of money
// may be.
Diagnostics beyond_limits(const RunSize& size, const SizeLimits& limits);

}  // namespace slicewise::sim
