#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"

// The scenario with more or less of one of its inputs, whichever study asks.
namespace slicewise::sim {

// Of everything that sends requests.
inline constexpr std::string_view kTraffic = "traffic";
bool has_traffic(const scenarios::Scenario& scenario);

// measured.smActive of all workloads without it: what it is, not how many times.
inline constexpr std::string_view kSmActive = "smActive";

// The end of the input of a workload's GPU memory.
inline constexpr std::string_view kGpuMemory = ".gpuMemory";

// From the decision to start a node until pods get its GPU; its three parts grow together.
inline constexpr std::string_view kNodeReady = "provisioner.nodeReady";

// "traffic", "workloads.asr.requestGpuTime", ...: what a plan varies to see what its answer hangs
// on, as far as the scenario or the catalogue has it. What is recorded in one trace is one.
std::vector<std::string> flip_inputs(const scenarios::Scenario& scenario,
                                     const models::Catalogue& catalogue);

// Whether it is the input of one of the workloads, as the file calls them, or of all.
bool concerns(std::string_view input, const std::vector<std::string>& given_names);

// Nobody says how much of a GPU the workload fills, so that its time on another one is a range.
// `workload` has what the catalogue fills in.
bool lacks_sm_active(const scenarios::Workload& workload);

// The scenario with `factor` times that input: one of the above, the path of a load (loads.hpp) or
// of a workload's field (input_fields.hpp); "": as it is. Shares of one stay within it. What the
// catalogue filled in is scaled as if the scenario had said it.
scenarios::Scenario scaled_input(const scenarios::Scenario& scenario, std::string_view input,
                                 double factor, const models::Catalogue& catalogue);

}  // namespace slicewise::sim
