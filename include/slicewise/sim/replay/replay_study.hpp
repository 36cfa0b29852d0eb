#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slicewise/sim/replay/inflation.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/run.hpp"

// One trace on one cluster under several schedulers, side by side.
namespace slicewise::sim {

struct Scheduling {
  QueuePolicy queue = QueuePolicy::Fifo;
  NodePolicy placement = NodePolicy::BestFit;
};

// What reports say about where the figures come from.
struct ReplayOrigin {
  std::string trace;                // file
  std::string trace_sha256;         // of its bytes
  std::string cluster;              // "one pool of 2,000 GPUs", "250 x p3.16xlarge"
  std::string price_date;           // "" without prices
  std::optional<UsdPerHour> price;  // of all nodes together
};

struct ReplayOutcome {
  Scheduling scheduling;
  ReplayResult result;
  std::optional<Usd> cost;  // of all nodes from the first arrival to the last end
};

struct ReplayStudy {
  ReplayOrigin origin;
  bool on_nodes = false;  // else one pool: placement means nothing
  std::uint64_t seed = 0;
  int repeat = 1;
  Duration shift;
  bool restart_preempted = false;
  bool run_under_sharing = false;  // the trace's run times are longer than the work
  std::vector<ReplayOutcome> outcomes;
  bool interrupted = false;
  Diagnostics findings;
};

// Replays under each scheduling, in parallel; the number of threads changes no byte. When
// interrupted, schedulings that had not started are missing.
Expected<ReplayStudy> replay_each(const scenarios::JobTrace& trace, const ReplaySettings& settings,
                                  std::span<const Scheduling> schedulings,
                                  const ReplayOrigin& origin, const RunOptions& options);

struct InflationOutcome {
  NodePolicy placement = NodePolicy::BestFit;
  std::vector<InflationResult> by_seed;

  double mean_allocated_percent() const;
  std::optional<double> standard_deviation() const;  // of the seeds; nullopt with one
};

struct InflationStudy {
  ReplayOrigin origin;
  int target_percent = 0;
  std::uint64_t seed = 0;  // of the first; the others follow
  int seeds = 1;
  std::vector<InflationOutcome> outcomes;
  bool interrupted = false;
};

// The inflation experiment under each placement with `seeds` seeds, in parallel. Errors: no job
// that asks for a GPU, no node with one.
Expected<InflationStudy> inflate_each(const scenarios::JobTrace& trace,
                                      const ReplayCluster& cluster,
                                      std::span<const NodePolicy> placements, int target_percent,
                                      std::uint64_t seed, int seeds, const ReplayOrigin& origin,
                                      const RunOptions& options);

}  // namespace slicewise::sim
