#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/codes.hpp"
#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/stamp.hpp"
#include "slicewise/units.hpp"

// The same workloads under every way of sharing, on several instance types.
namespace slicewise::sim {

// A configuration that was simulated.
struct ComparedOption {
  PoolChoice configuration;
  bool yours = false;   // the scenario as it stands; its configuration is as near as a choice comes
  bool forced = false;  // simulated although nobody offers it
  bool by_dra = false;  // NVIDIA's DRA driver sets it up, which was asked for
  VariantResult result;
  UsdPerHour price;           // of all nodes
  double gpu_busy_ratio = 0;  // kernels run, share of all GPU time
  // Dollars for the work that pods alone on the GPU they were measured on would do in an hour,
  // counted within the objectives. Ranks configurations whatever the mix of workloads. nullopt: no
  // work was done.
  std::optional<Usd> per_work_hour;
  std::optional<double> goal;  // what was asked to be minimised, in dollars or seconds
  bool lacks_goal = false;     // ... which is not defined here
  bool too_dear = false;       // costs more than was asked for
  bool retired = false;        // AWS no longer offers the instance type
  // Workloads with Jobs that the run was over before, where another option that can be had gets
  // all of them done.
  std::vector<std::string> unfinished;
  bool best = false;  // cheapest work, or least of the goal, of those that can be recommended

  bool is_offered() const { return !forced && (by_dra || is_stock(configuration.strategy)); }
  // Stands, did some work, gets done what others do, and can be had.
  bool is_recommendable() const {
    return result.verdict.stands() && per_work_hour && unfinished.empty() && !retired &&
           !too_dear && !lacks_goal && is_offered();
  }
  // REQUIRES: both are recommendable.
  bool is_better_than(const ComparedOption& other) const {
    return goal ? *goal < *other.goal : *per_work_hour < *other.per_work_hour;
  }
};

struct RefusedOption {
  PoolChoice configuration;
  std::optional<Code> code;
  std::string message;  // one sentence, no full stop
};

// Why the number of pods per GPU is what it is, by instance type.
struct ReplicaChoice {
  enum class Rule : std::uint8_t { Asked, Scenario, PodsOnOneNode, GpuMemory };
  std::string instance_type;
  int replicas = 2;
  int mps_replicas = 2;  // fewer where an equal share of the memory would be too small
  Rule rule = Rule::PodsOnOneNode;

  friend bool operator==(const ReplicaChoice&, const ReplicaChoice&) = default;
};

struct StrategyComparison {
  Stamp stamp;
  std::optional<int> nodes;  // of every option, as asked; absent: as few as hold all pods at once
  std::optional<scenarios::PlanGoal> goal;  // absent: per_work_hour
  std::optional<Usd> max_monthly_cost;      // what costs more is too dear
  bool sampled_inputs = false;              // each replication drew them anew: run_sampled()
  bool interrupted = false;                 // options without a finished replication are absent
  std::vector<std::string> instance_types;
  std::vector<ReplicaChoice> replicas;
  // The scenario's own, if it can run; then by instance type as asked, then by strategy.
  std::vector<ComparedOption> options;
  std::vector<RefusedOption> refused;  // in the same order
  Diagnostics notes;                   // what was changed in the scenario to compare it
};

inline constexpr std::array<std::string_view, 3> kComparedInstances = {"g4dn.xlarge", "g5.xlarge",
                                                                       "p4d.24xlarge"};
// Before those, where types count that AWS no longer offers.
inline constexpr std::string_view kComparedRetired = "p3.2xlarge";

struct ComparisonOptions {
  std::vector<std::string> instance_types;  // names or families; empty: kComparedInstances
  bool retired = false;                     // of those also what AWS no longer offers
  std::vector<std::string> strategies;      // empty: all
  std::vector<std::string> purchases;       // empty: as the scenario buys
  bool dra = false;                         // what NVIDIA's DRA driver sets up counts as offered
  std::vector<int> replicas;                // pods per GPU; empty: see ReplicaChoice
  ServingWays serving;
  std::optional<int> nodes;                 // absent: as few as hold all pods at once
  int most_nodes = 64;                      // beyond it a configuration is refused
  std::optional<Usd> max_monthly_cost;      // what costs more is not recommended
  std::optional<scenarios::PlanGoal> goal;  // absent: the price of an hour of work
  bool sampled_inputs = false;              // each replication draws its inputs: run_sampled()
  bool force = false;                       // simulate what no plugin or instance type offers
  RunOptions run;                           // threads take whole configurations
};

// Simulates variant `variant` of the set as it stands and under every strategy on every instance
// type: the only node pool gets the instance type and the strategy, every pod asks for one ticket
// of what it offers. All with one seed: differences are not noise. A configuration that cannot be
// had is in `refused` with the reason. Pods with several GPUs share none: beside a strategy that
// shares they have more nodes of the type (PoolChoice::unshared). Errors: a scenario without
// exactly one node pool, pods that ask for several parts of GPUs, an unknown instance type, and
// what is wrong with the scenario wherever it runs. REQUIRES: variant < set.variants.size().
Expected<StrategyComparison> compare_strategies(const scenarios::ScenarioSet& set,
                                                std::size_t variant,
                                                const models::Catalogue& catalogue,
                                                const ComparisonOptions& options = {});

}  // namespace slicewise::sim
