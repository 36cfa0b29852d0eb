#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/scenarios/sharing_strategy.hpp"
#include "slicewise/units.hpp"

// The ways to have and share the GPUs of a node pool, and the scenario on such pools: what `plan`
// and `compare` choose from.
namespace slicewise::sim {

// Spot, with on-demand nodes in place of what EC2 takes back while it has no other.
inline constexpr std::string_view kSpotFallback = "spot-fallback";

using scenarios::Strategy;

// Those that a plan may choose.
inline constexpr std::array kStrategies = {
    Strategy::Exclusive,   Strategy::TimeSlicing, Strategy::Mps,
    Strategy::MpsUncapped, Strategy::Mig,         Strategy::MigTimeSlicing,
    Strategy::MigMps,      Strategy::Vgpu,        Strategy::Hami};

// Its key, "mig+mps", and its title, "MIG + MPS".
const scenarios::SharingStrategy& described(Strategy strategy);
std::string_view strategy_name(Strategy strategy);
// By its key; nullopt: of several pools.
std::optional<Strategy> strategy_of(std::string_view key);
// Whether it is one of kStrategies.
bool is_planned(Strategy strategy);
// Whether it cuts GPUs into MIG instances.
bool is_mig(Strategy strategy);

// Whether somebody's release can set the strategy up. The device plugin cannot take the thread cap
// off MPS: it always writes 100 / replicas %.
bool is_stock(Strategy strategy);

// What stands between two pods on one GPU; the weakest that any two of them have. Inside one MIG
// instance that is what shares the instance.
struct Isolation {
  enum class Memory : std::uint8_t { None, ProcessLimit, Hardware };
  enum class Compute : std::uint8_t { None, Cap, Hardware };
  enum class Fault : std::uint8_t { Process, Shared, Hardware };
  Memory memory = Memory::None;
  Compute compute = Compute::None;
  Fault fault = Fault::Process;

  friend bool operator==(const Isolation&, const Isolation&) = default;
};
// vGPUs are taken with the fixed share that EC2 sells. Sources: NVIDIA device plugin README (shared
// access to GPUs), MPS documentation (memory protection, error containment), MIG user guide, vGPU
// user guide.
Isolation isolation_of(Strategy strategy);

// How the pods of a workload serve, as far as that is chosen; absent: as the scenario has it.
struct ServingChoice {
  std::optional<int> gpus = {};  // of a pod, which share its language model
  std::optional<int> max_batch = {};
  std::optional<Duration> max_delay = {};
  std::optional<int> concurrency = {};

  friend bool operator==(const ServingChoice&, const ServingChoice&) = default;
};

// What ServingChoices are made of; empty: as the scenario has it.
struct ServingWays {
  std::vector<int> tensor_parallel;  // GPUs that share a language model
  std::vector<int> max_batches;      // of the other Services
  std::vector<Duration> max_delays;
  std::vector<int> concurrencies;
};

// A Service that has fewer pods outside of its window, as KEDA's cron scaler sees to it.
struct PodSchedule {
  std::string workload;
  int replicas = 1;       // within the window
  int otherwise = 1;      // outside
  std::string start;      // cron
  std::string end;        // cron
  std::string time_zone;  // "" is UTC

  friend bool operator==(const PodSchedule&, const PodSchedule&) = default;
};

// A Service that has as many pods as keep the requests of each near a target, as an HPA or KEDA
// sees to it.
struct PodScaling {
  std::string workload;
  int least = 1;
  int most = 1;
  double per_second = 1;  // requests of a pod

  friend bool operator==(const PodScaling&, const PodScaling&) = default;
};

// Workloads of whose pods, all together, a node has one: by a required anti-affinity.
using ApartClass = std::vector<std::string>;

// GPUs of a node that are cut alike.
struct MigCut {
  int gpus = 1;
  std::vector<models::MigCount> mig;  // instances of each

  friend bool operator==(const MigCut&, const MigCut&) = default;
};

// How the GPUs of one node pool are had and shared, and for whom.
struct PoolChoice {
  std::string instance_type;
  // "spot", "spot-fallback", "reserved", a price plan; "": as the scenario buys
  std::string purchase = "on-demand";
  Strategy strategy = Strategy::Exclusive;
  int replicas = 1;                       // pods per GPU or, with MIG, per instance
  std::vector<models::MigCount> mig;      // of each GPU but those of other_cuts; empty without MIG
  std::vector<std::string> workloads;     // in the order of the scenario
  std::vector<std::string> mig_profiles;  // of the pods of each of them; empty: all the same
  int nodes = 1;                          // 0: not known
  int on_demand = 0;                      // of them, bought so whatever `purchase` says
  int unshared = 0;      // more nodes of the type, not shared, for pods with several GPUs
  bool elastic = false;  // Karpenter, or who the scenario says, starts `least_nodes` to `nodes`
  int least_nodes = 0;   // of an elastic pool: there from the start
  std::vector<int> pods = {};  // of each of the workloads; 0, or empty: as the scenario has it
  // Of each of the workloads; empty: as the scenario has it.
  std::vector<ServingChoice> serving = {};
  std::vector<ApartClass> apart = {};
  std::vector<PodSchedule> schedules = {};  // of some of the workloads
  std::vector<PodScaling> scalings = {};    // likewise
  std::vector<MigCut> other_cuts = {};      // of the last GPUs of each node, in order

  friend bool operator==(const PoolChoice&, const PoolChoice&) = default;
};

// "5x1g.5gb+1x2g.10gb", "7x1g.5gb but 1x7g.40gb on 3 GPUs of each node".
std::string layout_text(const PoolChoice& choice);
// "MPS x4 uncapped", "MIG 3x2g.10gb + time-slicing x2"; `layout`: as its MIG layout is called.
std::string sharing_text(const PoolChoice& choice, const std::string& layout);
inline std::string sharing_text(const PoolChoice& choice) {
  return sharing_text(choice, layout_text(choice));
}

// "2 x g4dn.xlarge, MPS x4, 3 pods of asr": of the workloads those with another number of pods; "3
// pods each" where all have the same other one. "4 GPUs for a pod of chat", "batches of 8 in ocr"
// where that was chosen.
std::string describe(const PoolChoice& choice);
// "3", "4 to 8" where nodes come and go.
std::string node_count(const PoolChoice& choice);

// The part of it on PoolChoice::serving, which begins with a comma.
std::string serving_text(const PoolChoice& choice);

// "4 pods of api from 06:30 to 22:00 Etc/GMT-1, else 1".
std::string describe(const PodSchedule& schedule);
// "1 to 4 pods of api at 1.2 requests/s each".
std::string describe(const PodScaling& scaling);

// The workload with what is chosen.
void serve_as(const ServingChoice& choice, scenarios::Workload& workload);

// The scenario with these pools, every pod pinned to its pool and asking for one ticket of what it
// offers: what `run` simulates and `export` writes. `force`: with what no plugin or instance type
// offers. REQUIRES: crons and time zones of schedules can be read.
scenarios::Scenario planned_scenario(const scenarios::Scenario& base,
                                     std::span<const PoolChoice> pools,
                                     const models::Catalogue& catalogue, bool force = false);

}  // namespace slicewise::sim
