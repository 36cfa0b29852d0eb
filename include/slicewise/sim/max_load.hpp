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
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/stamp.hpp"

// The highest load at which a scenario still meets its objectives.
namespace slicewise::sim {

enum class LoadUnit : std::uint8_t { RequestsPerSecond, Users, Streams, JobsPerHour };

constexpr bool is_rate(LoadUnit unit) {
  return unit == LoadUnit::RequestsPerSecond || unit == LoadUnit::JobsPerHour;
}

// As reports spell it: "requests/s", "users", "streams" (clients of a closed loop), "jobs/h".
std::string_view unit_name(LoadUnit unit);

// One thing that is scaled, in its own unit.
struct ScaledLoad {
  std::string path;  // "workloads.asr.traffic"
  std::string name;  // of the workload or pipeline
  LoadUnit unit = LoadUnit::RequestsPerSecond;
  double scenario = 0;           // as the scenario has it
  std::optional<double> passed;  // at the highest load that passed
  std::optional<double> failed;  // at the lowest load that failed
};

// As the judge has it, by the 95 % interval of the figure, or of how it scatters over replications
// where it has none: Passes and Fails are on one side of the limit with all of it, so each is wrong
// in 2.5 % of the cases at most.
enum class LoadVerdict : std::uint8_t { Passes, Fails, Undecided };

struct ProbedObjective {
  std::string workload;
  ObjectiveResult result;  // over all replications of the probe
  LoadVerdict verdict = LoadVerdict::Undecided;
};

// The scenario simulated at one load. Fails when an objective fails, something is left behind or a
// policy denies it that holds at the scenario's own load; passes when all objectives pass.
struct LoadProbe {
  double factor = 1;  // load / the scenario's
  int replications = 0;
  LoadVerdict verdict = LoadVerdict::Undecided;
  // Of what it took to tell. The first probe and the ends of the interval have all of them.
  std::vector<ProbedObjective> objectives;
  // Pods, or requests of a Service that has no objectives; or else the policies.
  std::vector<Verdict::Reason> left_behind;
};

struct MaxLoadOptions {
  // Paths of what to scale, all by one factor: workloads.NAME.traffic, workloads.NAME.notebooks
  // (users), pipelines.NAME.traffic. Empty: all traffic, or all users where there is no traffic.
  std::vector<std::string> scale;
  double precision = 0.02;  // width of the interval over its lower end
  double most = 1000;       // times the scenario's load; 1 / most is the least that is tried
  std::optional<int> most_replications;  // of a probe; absent: four times the scenario's
  RunOptions run;                        // progress counts replications, of unknown total
};

struct MaxLoad {
  Stamp stamp;                // its replications: of a probe at first
  int most_replications = 0;  // ... and of one that stays undecided
  double precision = 0;
  double most = 0;
  bool interrupted = false;        // the search was stopped: the interval is wider than it would be
  std::optional<Verdict> verdict;  // at the scenario's own load; absent: interrupted before
  std::vector<ScaledLoad> loads;
  std::vector<LoadProbe> probes;      // in the order in which they were made; the first is at 1
  std::optional<std::size_t> passed;  // the highest load that passed, into probes; absent: none did
  std::optional<std::size_t> failed;  // the lowest that failed; absent: none did up to `most`
  // Of the objectives that fail there the one that is furthest beyond its limit: what gives way
  // first when the load grows. Into probes[failed].objectives.
  std::optional<std::size_t> binding;
  std::optional<VariantResult> at_passed;
  Diagnostics notes;

  // No pod ever ran: there was no search.
  bool nothing_runs() const { return verdict && verdict->has(Verdict::Cause::NothingRan); }
  // Of the interval over its lower end; nullopt while one end is missing.
  std::optional<double> width() const;
};

// Searches by bisection over one factor on everything that is scaled: rates (mean, peak, bursts,
// steps, the pace of a trace), clients and users, which stay whole. Every probe is a simulation of
// all replications with the seed of the scenario, so that neighbouring loads see the same random
// numbers; one that is neither clearly good nor clearly bad gets more replications. What stays
// undecided then lies inside the interval, which is wider than the precision for that reason.
// A policy that denies the scenario as it is may be a floor, which holds only above a load: the
// verdict names it, and it limits no load. Throughput objectives of what is scaled are left out,
// with a note: they say how much load there must be. Errors: nothing to scale, an unknown path, no
// objective, and what is wrong with the scenario. REQUIRES: variant < set.variants.size(),
// precision > 0, most > 1.
Expected<MaxLoad> find_max_load(const scenarios::ScenarioSet& set, std::size_t variant,
                                const models::Catalogue& catalogue,
                                const MaxLoadOptions& options = {});

}  // namespace slicewise::sim
