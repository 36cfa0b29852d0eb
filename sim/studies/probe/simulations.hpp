#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

// A world after its replications.
struct Simulated {
  VariantResult pooled;
  std::vector<VariantResult> singles;  // one for each replication, in their order: worlds of one
                                       // seed have the same random numbers there
};

// Simulates worlds for a study, replications in parallel, and counts what was done over all calls.
// Threads never change a result.
class Simulations {
 public:
  explicit Simulations(const RunOptions& options) : options_(options) {}

  // In the order of `worlds`; nullopt: interrupted before its last replication was done.
  std::vector<std::optional<Simulated>> run(std::span<const World> worlds);

  // `first` replications, then twice as many as before up to `most`, until they are enough; those
  // that were run before count. nullopt: interrupted.
  std::optional<Simulated> until(const World& world, int first, int most,
                                 const std::function<bool(const Simulated&)>& enough);

  int worlds_done() const { return worlds_done_; }

 private:
  RunOptions counted() const;

  RunOptions options_;
  int replications_done_ = 0;  // by the calls before
  int worlds_done_ = 0;
};

}  // namespace slicewise::sim
