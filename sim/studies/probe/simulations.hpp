#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "../../run/replications.hpp"
#include "known_failures.hpp"

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

  // For who reads more than results have; as run_worlds() does.
  void run(std::span<const World* const> worlds, const TakeRecords& take);

  // In the order of `worlds`; nullopt: interrupted before its last replication was done.
  std::vector<std::optional<Simulated>> run(std::span<const World> worlds);

  int worlds_done() const { return worlds_done_; }

 private:
  RunOptions counted() const;

  RunOptions options_;
  int replications_done_ = 0;  // by the calls before
  int worlds_done_ = 0;
};

// Asks the runner each question once, whoever asks it again, none that the journal answers, and
// none that an earlier answer says no to.
class ProbeBatch {
 public:
  explicit ProbeBatch(ProbeRunner runner, std::optional<ProbeJournal> journal = std::nullopt,
                      std::optional<KnownFailures> failures = std::nullopt)
      : runner_(std::move(runner)), journal_(std::move(journal)), failures_(std::move(failures)) {}

  // answers[i] belongs to probes[i]. Once a run was interrupted, what is missing stays empty.
  std::vector<PlanAnswer> ask(std::span<const PlanProbe> probes);
  PlanAnswer ask_one(const PlanProbe& probe);

  std::int64_t simulations() const { return simulations_; }
  std::int64_t replications() const { return replications_; }
  // Objectives of all that stood: among so many figures was chosen.
  std::int64_t intervals() const { return intervals_; }
  bool interrupted() const { return interrupted_; }

 private:
  std::vector<PlanAnswer> answer(std::span<const PlanProbe> probes);

  ProbeRunner runner_;
  std::optional<ProbeJournal> journal_;
  std::optional<KnownFailures> failures_;
  std::map<std::string, PlanAnswer> known_;
  std::int64_t simulations_ = 0;
  std::int64_t replications_ = 0;
  std::int64_t intervals_ = 0;
  bool interrupted_ = false;
};

// Threads of this process, each of which takes whole probes.
ProbeRunner probe_threads(const Scenario& base, const Catalogue& catalogue, const RunOptions& run);

}  // namespace slicewise::sim
