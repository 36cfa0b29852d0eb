#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/stamp.hpp"

// Who slows whom down: every workload beside every other one, against itself alone.
namespace slicewise::sim {

enum class NeighbourFigure : std::uint8_t {
  LatencyP99,   // Service: arrival -> response
  LatencyMean,  // Service
  TimePerUnit,  // Job, Deployment: container time over units done, with what was done of those
                // under way; waiting for a GPU is not in it
  CellTime,     // Notebook: mean time of a cell over its time on a free GPU
};

// As reports spell it: "latencyP99", "timePerUnit".
std::string_view figure_name(NeighbourFigure figure);

// What one company does to one workload.
struct NeighbourEffect {
  // The figure over the figure alone: mean of the replications' own ratios. Absent where nothing
  // was observed, beside the neighbour or alone.
  std::optional<double> slowdown;
  std::optional<double> ci95;  // half width over the replications, paired by their random numbers
  bool shares_gpu = false;     // their containers were on one GPU (or MIG instance) at once
  // One pod of each on one GPU, where the scheduler keeps the two workloads apart in some run.
  bool put_together = false;
};

struct NeighbourRow {
  std::size_t workload = 0;  // into NeighbourMatrix::workloads
  NeighbourFigure figure = NeighbourFigure::LatencyP99;
  std::optional<double> alone;          // seconds; CellTime: a ratio
  std::vector<NeighbourEffect> beside;  // by workload; that of itself is empty
  NeighbourEffect beside_all;
};

struct NeighbourMatrix {
  Stamp stamp;                         // without prices: nothing here costs
  Verdict verdict;                     // on all of them together
  bool interrupted = false;            // cells without a finished replication are empty
  std::vector<std::string> workloads;  // those that have pods, in the order of the scenario
  std::vector<NeighbourRow> rows;      // who suffers; a Service has two
  Diagnostics notes;
};

struct NeighbourOptions {
  RunOptions run;
};

// Simulates each workload alone, with each other one and with all others, on the pools of the
// scenario as they are, with one seed, so that a workload meets the same random numbers in every
// company. Where there is a Service all is simulated request by request. Pipelines are taken apart:
// a stage gets their requests as its own. A company without a Job lasts as long as the scenario.
// Where a pair does not meet in every run, one pod of each with its part of the requests is put on
// one GPU instead, against the same pod alone there; if no GPU takes both, it stays apart.
// Errors: fewer than two workloads, and what is wrong with the scenario. REQUIRES: variant <
// set.variants.size().
Expected<NeighbourMatrix> find_neighbours(const scenarios::ScenarioSet& set, std::size_t variant,
                                          const models::Catalogue& catalogue,
                                          const NeighbourOptions& options = {});

}  // namespace slicewise::sim
