#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/codes.hpp"
#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

// What the studies share: from a scenario and a change of it to a world, and what pods need there.
// simulations.hpp runs such worlds, and asks for them in other threads and processes.
namespace slicewise::sim {

// The world of the scenario in which the probe's input is scaled and that runs on the probe's
// pools; without pools on its own. Errors are those of build_world.
Expected<World> probe_world(const Scenario& base, const PlanProbe& probe,
                            const Catalogue& catalogue, bool force = false,
                            UnknownInputs unknown = UnknownInputs::Taken);

// Why a configuration is not simulated.
struct Refusal {
  std::optional<Code> code;
  Reason reason;
};

// reason("no MIG on the {}", name). What is no figure, as the name of a workload, is in the form.
template <class... Figures>
Reason reason(std::string form, const Figures&... figures) {
  return {std::move(form), {fmt::format("{}", figures)...}};
}

// One sentence of both.
Reason joined(Reason first, const Reason& second);

// What is wrong with the world, or which pods never fit a GPU of it; nullopt: nothing.
std::optional<Refusal> refusal_of(const Expected<World>& world);

// The pool of a type for these workloads, one pod on each GPU; a fraction of a GPU is a vGPU.
PoolChoice unshared(const InstanceType& type, std::vector<std::string> workloads);

// The ways in which the workloads may serve on nodes of the type, see PoolChoice::serving, those
// with the fewest GPUs first. One empty one where nothing is to be chosen.
std::vector<std::vector<ServingChoice>> serving_ways(const Scenario& base,
                                                     const std::vector<std::string>& workloads,
                                                     const InstanceType& type, ServingWays tried);

// Services to which none of the ways that were asked for can be applied.
void check_serving(const Scenario& base, const ServingWays& tried, Diagnostics& found);
// Ways that no workload has: REQUEST_NO_EFFECT.
void tell_idle_ways(const Scenario& base, const ServingWays& tried, Diagnostics& notes);

// Those that have pods.
std::vector<std::string> workloads_with_pods(const Scenario& scenario);

// Of whatever kind; 1 where its pods ask for none by a resource.
std::int64_t gpus_asked_for(const Workload& workload);
// Whether each of its pods asks for several GPUs: they are not shared with others.
inline bool has_several_gpus(const Workload& workload) { return gpus_asked_for(workload) > 1; }

// Of the workloads of a choice those whose pods have several GPUs, as it is chosen, or the others.
PoolChoice part_with(bool several_gpus, const Scenario& base, PoolChoice choice);
// A choice with `unshared` nodes as two, of which the second is of those.
std::vector<PoolChoice> with_unshared(const Scenario& base, std::span<const PoolChoice> chosen);

// What is minimised, in dollars or seconds; nullopt when it is not defined, as the cost per job of
// no job.
std::optional<double> goal_of(scenarios::PlanGoal goal, const OptionFigures& figures);

// More replications would not make it stand: pods are lost, or a limit is missed by far.
bool fails_clearly(const OptionFigures& figures);
// A limit that is missed by that factor is missed by far.
inline constexpr int kClearFactor = 2;
// ... by that factor enough, where the cheapest alone is sought.
inline constexpr double kMissEnough = 1.1;
// A replication tells a quantile of latency within a few percent if so many requests lie beyond it.
inline constexpr double kRequestsBeyond = 50;

// Refuses pods that ask for several GPU resources or, but for recorded jobs, for several parts of
// GPUs, and a scenario without pods. `what`: "strategies are compared", for the message.
void check_pods(const Scenario& scenario, std::string_view what, Diagnostics& found);

// What is wrong with the scenario itself: the errors that it has in every world. REQUIRES: one
// world or more.
Diagnostics errors_everywhere(std::span<const Expected<World>> worlds);

// Services whose pods start cold and take longer than the warm-up lasts: what comes before counts
// as lost.
Diagnostics late_starts(const Scenario& scenario);

// Words of flags and of a scenario's planning section. What nobody knows is added to `found`.
using Names = std::vector<Located<std::string>>;
Names as_names(const std::vector<std::string>& flags);
// A type by its name, of a family those that are still sold; each once.
std::vector<const InstanceType*> types_named(const Names& names, const Catalogue& catalogue,
                                             Diagnostics& found);
void add_type(const InstanceType* type, std::vector<const InstanceType*>& types);
std::vector<Strategy> strategies_named(const Names& names, Diagnostics& found);
std::vector<std::string> purchases_named(const Names& names, const Scenario& scenario,
                                         Diagnostics& found);
// A price plan is agreed for certain instance types; everything else is sold for all.
bool is_sold(const Scenario& scenario, const std::string& type, const std::string& purchase);

// What the pods of a scenario take of a GPU's memory, with their CUDA contexts.
struct GpuMemoryNeeds {
  std::vector<Bytes> pods;  // largest first
  Bytes largest_process;

  // How many pods, any of them, fit in `memory` together.
  int pods_in(Bytes memory) const;
  // ... where one pod of each of these sizes may be among them, too.
  int pods_in_beside(std::vector<Bytes> ones, Bytes memory) const;
};
// `with`: of these workloads; all of them where there is none.
GpuMemoryNeeds gpu_memory_needs(
    const World& world, const std::function<bool(const WorkloadModel& workload)>& with = {});

// How many processes MPS has memory for in the pool: its daemon divides what nvidia-smi prints by
// the replicas.
int equal_shares(const PoolModel& pool, const GpuMemoryNeeds& needs);

// As few nodes as hold all pods at once, spread as the scheduler spreads them; of recorded jobs
// those that would run at the busiest time, were none to wait. nullopt: more than `most`. REQUIRES:
// one pool.
std::optional<int> smallest_node_count(const World& world, int most);

// Why not even an empty node holds a pod; nullopt when one does.
std::optional<Reason> too_large_for_a_node(const World& world);

}  // namespace slicewise::sim
