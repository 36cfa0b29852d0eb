#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "management_api.hpp"
#include "worker.hpp"

// The measurements, each a part of the probe's document (probe.schema.json says what is in it).
// REQUIRES: a GPU; throw std::runtime_error when a process fails.
namespace slicewise::gpu_probe {

// Turns, switches and what both cost together, for 2 to N processes and for working sets up to some
// times the cache (`l2_bytes`).
nlohmann::json measure_time_slicing(const Machine& machine, std::size_t l2_bytes);

// Whether a process that has nothing to do, or waits for each of its kernels, gives its turn away.
nlohmann::json measure_yielding(const Machine& machine);

// What a process takes of the GPU's memory before it allocates any.
nlohmann::json measure_context_memory(const Machine& machine);

// How long the host is busy with a launch, and how long it waits for a kernel that does nothing.
nlohmann::json measure_launches(const Machine& machine);

// Whether an MPS daemon answers here; then interference of all pairs of kernels, thread percentage
// against speed, short kernels beside long ones, the memory limit and how many clients are let in.
nlohmann::json measure_mps(const Machine& machine);

// The MIG slices that there are, and the speed of each kernel on each.
nlohmann::json measure_mig(const Machine& machine, const std::vector<MigDevice>& devices);

// Clocks and temperature, at rest and after seconds of each kernel.
nlohmann::json measure_clocks(const Machine& machine, const Management& management);

}  // namespace slicewise::gpu_probe
