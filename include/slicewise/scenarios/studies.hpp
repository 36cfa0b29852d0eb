#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/choice.hpp"
#include "slicewise/diagnostics.hpp"
#include "slicewise/units.hpp"

// What a scenario says of its studies: what `slicewise plan` may choose from, what it is to
// minimise and what must hold, and which figures `slicewise sensitivity` varies.
namespace slicewise::scenarios {

enum class PlanGoal : std::uint8_t { MonthlyCost, CostPer1kInSlo, CostPerJob, LatencyP99 };

// objective.minimize.
inline constexpr std::array kGoals = {Choice{"monthlyCost", PlanGoal::MonthlyCost},
                                      Choice{"costPer1kInSlo", PlanGoal::CostPer1kInSlo},
                                      Choice{"costPerJob", PlanGoal::CostPerJob},
                                      Choice{"latencyP99", PlanGoal::LatencyP99}};
constexpr std::string_view goal_name(PlanGoal goal) { return word_of(kGoals, goal); }

// isolation: {require: [memory, fault], between: namespaces}. What must stand between any two pods
// on one GPU, of different namespaces or of any. Memory: a process cannot take what another was
// promised. Fault: a fatal fault of one does not kill the other. Compute: one cannot slow the
// other, so each has execution units, caches and bandwidth of its own.
struct IsolationRule {
  enum class Between : std::uint8_t { Namespaces, Pods };
  bool memory = false;
  bool compute = false;
  bool fault = false;
  Between between = Between::Namespaces;
  SourceLocation where;
};

// A price agreed with AWS for an instance type, in place of the on-demand price: pricing.plans.
struct PricePlan {
  Located<std::string> instance_type;
  std::string name;     // "savingsPlan3y", as the user calls it
  double discount = 0;  // of the on-demand price, (0, 1)
};

// planning: the search space. What is empty is left to the planner. No value stands twice in a
// list.
struct Planning {
  std::vector<Located<std::string>> instance_types;    // names, or families: "g5"
  std::vector<Located<std::string>> strategies;        // "timeSlicing", "mig+mps", ...
  std::vector<Located<std::string>> purchase_options;  // "on-demand", "spot", "reserved", or a plan
  std::vector<int> replicas;                           // pods per GPU
  std::vector<int> tensor_parallel_sizes;              // GPUs that share a language model
  std::vector<int> max_batches;                        // requests that the GPU answers in one go
  std::vector<Duration> max_delays;  // how long a batch that is not full waits for more
  std::vector<int> concurrencies;    // requests that a pod works on at a time
  int max_nodes = 32;                // of each pool
  bool split = true;                 // workloads may get pools of their own
  std::optional<Usd> max_monthly_cost;
  SourceLocation where;
};

// X(identifier, the word for it in a scenario file and on the command line)
#define SLICEWISE_INPUT_KINDS(X)             \
  X(Traffic, "traffic")                      \
  X(Users, "users")                          \
  X(RequestGpuTime, "requestGpuTime")        \
  X(UnitTime, "unitTime")                    \
  X(CellGpuTime, "cellGpuTime")              \
  X(CellInterval, "cellInterval")            \
  X(WeightsTime, "weightsTime")              \
  X(TokenTime, "tokenTime")                  \
  X(InputTokens, "inputTokens")              \
  X(OutputTokens, "outputTokens")            \
  X(GpuBusy, "gpuBusy")                      \
  X(Cpu, "cpu")                              \
  X(CpuBefore, "cpuBefore")                  \
  X(CpuAfter, "cpuAfter")                    \
  X(CapacityShare, "capacityShare")          \
  X(BandwidthShare, "bandwidthShare")        \
  X(KernelTime, "kernelTime")                \
  X(GpuMemoryResident, "gpuMemory.resident") \
  X(GpuMemoryPeak, "gpuMemory.peak")         \
  X(ContextMemory, "contextMemory")          \
  X(TimeSlice, "timeSlice")                  \
  X(SwitchCost, "switchCost")                \
  X(ModelLoad, "modelLoad")                  \
  X(ImagePull, "imagePull")                  \
  X(Faults, "faults")                        \
  X(NodeReady, "nodeReady")                  \
  X(SpotInterruption, "spotInterruption")    \
  X(Price, "price")

// One kind of figure. A scenario may have several of a kind: the traffic of each of its Services.
enum class InputKind : std::uint8_t {
#define X(id, word) id,
  SLICEWISE_INPUT_KINDS(X)
#undef X
};

inline constexpr std::string_view kInputKinds[] = {
#define X(id, word) word,
    SLICEWISE_INPUT_KINDS(X)
#undef X
};

constexpr std::string_view word_of(InputKind kind) {
  return kInputKinds[static_cast<std::size_t>(kind)];
}

// The block `sensitivity` of a scenario.
struct Sensitivity {
  std::vector<InputKind> vary;  // in the order of the file; empty: all that the scenario has
  double by = 0.2;              // share of one, below 1
  SourceLocation where;
};

}  // namespace slicewise::scenarios
