#pragma once

#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "outcomes.hpp"

namespace slicewise::sim {

// Simulates worlds, all their replications in parallel, and counts what was done over all calls.
class Simulations {
 public:
  explicit Simulations(const RunOptions& options) : options_(options) {}

  // In the order of `worlds`; nullopt: interrupted before its last replication was done.
  std::vector<std::optional<Simulated>> run(std::span<const World> worlds);

  int worlds_done() const { return worlds_done_; }

 private:
  RunOptions options_;
  int replications_done_ = 0;
  int worlds_done_ = 0;
};

}  // namespace slicewise::sim
