#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../probe/simulations.hpp"
#include "pool_choices.hpp"

// The best ways to run a block of workloads on one node pool of their own.
namespace slicewise::sim {

struct BlockResult {
  std::vector<PlanOption> options;  // of one pool, that stand, best first; their goals are defined
  std::vector<RejectedChoice> rejected;
  std::vector<std::string> missed;  // workloads that kept a simulated configuration from standing
  std::int64_t configurations = 0;
  std::int64_t refused = 0;
  std::int64_t bounded = 0;
  std::int64_t exhaustive = 0;
};

// Pods of Services that have another number of them than the scenario's.
using ServicePods = std::map<std::string, int>;

struct BlockSearch {
  const Scenario& base;
  const Catalogue& catalogue;
  const PlanSpace& space;
  ProbeBatch& probes;  // who answers
  PlanGoal goal = PlanGoal::MonthlyCost;
  int replications = 1;
  std::function<void(const std::string& line)> so_far = nullptr;  // see RunOptions
  std::string input = {};  // of the scenario, that is otherwise; see PlanProbe
  double factor = 1;
  bool split = false;     // workloads may have pools of their own
  ServicePods pods = {};  // of `base`, where it is not the scenario that probes are asked of
  int vary_pods = 0;      // so many more or fewer than `base` has may a Service have
  // Where `base` has the best option's pods: the search with the scenario's, which may vary.
  const BlockSearch* varied = nullptr;
  std::vector<PoolChoice> refuted =
      {};  // stand by the search's numbers, but not beside others, or not confirmed
  // Where simulations are long: the scenario's busiest minutes, and who answers what stands there.
  const Scenario* busiest = nullptr;
  ProbeBatch* glances = nullptr;

  // The question whether the pools stand.
  PlanProbe about(std::vector<PoolChoice> pools) const {
    return {.pools = std::move(pools),
            .replications = replications,
            .input = input,
            .factor = factor,
            .until_clear = true};
  }
  // The same where an input is `of_it` times what it is; nobody is told what is found there.
  BlockSearch with_input(std::string_view other, double of_it) const {
    BlockSearch there = *this;
    there.input = other;
    there.factor = of_it;
    there.so_far = nullptr;
    return there;
  }
};

// The same search of another scenario, or among other pools. `probes`: who answers there.
BlockSearch search_within(const BlockSearch& search, const Scenario& base, const PlanSpace& space,
                          ProbeBatch* probes = nullptr);

// The choice with one node, in which bounds are the same as with any number.
Expected<World> world_on_one_node(const BlockSearch& search, const PoolChoice& choice);

// How dear a simulation is: requests in all its replications; 0: there are none.
double requests_of_a_simulation(const BlockSearch& search);
// More of them take many seconds: answers are waited for a few at a time.
inline constexpr double kLongSimulation = 5e6;
// ... a part of a second: what stands in the busiest minutes is known long before.
inline constexpr double kWorthAGlance = 1e6;

// Whether what stands close to its limits, or where it is chance which pods meet, does so with
// other random numbers, too: of many configurations that are tried some stand by chance.
bool stands_again(const BlockSearch& search, const PlanProbe& probe, const OptionFigures& figures);

// The figures with those numbers where it does not.
std::optional<OptionFigures> fails_again(const BlockSearch& search, const PlanProbe& probe,
                                         const OptionFigures& figures);

// What runs whose random numbers chose nothing say of pools.
struct Confirmation {
  PlanConfirmation found;
  OptionFigures figures;  // with intervals as wide as those of all that stood must be
};
// As many runs as it takes, up to four times those of a search, or 20. nullopt: nothing is to be
// met, or somebody interrupted it.
std::optional<Confirmation> confirmation(const BlockSearch& search, std::vector<PoolChoice> pools);

// What keeps the figures from standing: "misses p95 latency of asr".
Reason miss_of(const OptionFigures& figures);

// Workloads of which an objective is missed, or not clear.
std::vector<std::string> missed_by(const OptionFigures& figures);

// Whether what one replication says is enough for a no, where the cheapest alone is sought.
bool misses_enough(const BlockSearch& search, const OptionFigures& figures);

// "cost-cap denies it". REQUIRES: a policy does.
std::string denial_of(const OptionFigures& figures);

enum class Depth : std::uint8_t {
  Explained,  // somebody reads why others do not stand
  Ranked,     // their figures are of what said so first
  First,      // of what costs the same the first will do
  Glance,     // ... and nobody asks whether it stands with other random numbers
};

// The `top` best. `cap`: dollars a month that the block may cost at the most.
BlockResult search_block(const BlockSearch& search, const std::vector<std::string>& workloads,
                         std::size_t top, std::optional<double> cap, Depth depth);

struct BlockQuestion {
  const BlockSearch& search;
  std::vector<std::string> workloads;
  double cap = 0;
};
// The best for each, as search_block() finds it; what is simulated for one is so beside what is for
// the others.
std::vector<BlockResult> search_blocks(std::span<const BlockQuestion> questions, Depth depth);

// Says so where it is asked for: "best so far: 8 x g5.xlarge, time-slicing x2, $5876 a month".
void say_pools(const BlockSearch& search, std::string_view what, std::span<const PoolChoice> pools,
               Usd monthly);

// No configuration of the block costs less in a month; nullopt: none can run it.
std::optional<double> least_monthly(const BlockSearch& search,
                                    const std::vector<std::string>& workloads);

}  // namespace slicewise::sim
