#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/world.hpp"

// How many pods a GPU or MIG instance holds, told before any run: the arithmetic of the memory
// ledger that runs keep, on the pods that the sharing lets meet there.
namespace slicewise::sim {

// Of a domain's memory what processes may have: MPS keeps some for its server.
Bytes usable_by_processes(const DomainKind& kind);

// What one of the processes of a pod that holds such a ticket may have: MPS limits each of them,
// HAMi the container.
std::optional<Bytes> limit_of_process(const PoolModel& pool, const Tickets& tickets,
                                      const WorkloadModel& model);

// Of every kind of domain that pods ask for, in the order of the pools. Pods that open a GPU
// without asking for it are not counted: GPU_NOT_REQUESTED warns of them.
std::vector<GpuRoom> gpu_rooms(const World& world);

// "4 per GPU: 4 x (4.1 + 0.5 GiB) of 22.1; a fifth lacks 0.9 GiB"
std::string room_sentence(const GpuRoom& room);

struct VariantRooms {
  std::string variant;
  std::vector<GpuRoom> rooms;
  std::string missed{};     // an objective that a run of it misses: "latencyP95"
  std::string missed_by{};  // of which workload: said of the GPUs that it is on
};
// A sentence for each kind of GPU, behind the variants it holds for; without them where it holds
// for all, and with the pool where a variant has several.
std::vector<std::string> room_lines(std::span<const VariantRooms> variants);

// Of the variants that can be simulated. `found`: the warnings of their worlds, each once; GPU_OOM
// where the pods that may meet on a GPU do not fit it, at the memory of the workload that is too
// much, and as an error where no variant has a GPU that holds a process of a workload.
std::vector<VariantRooms> rooms_before_run(const scenarios::ScenarioSet& set,
                                           const models::Catalogue& catalogue, Diagnostics& found);

}  // namespace slicewise::sim
