#pragma once

#include <optional>
#include <string_view>

#include "slicewise/scenarios/scenario.hpp"

// The amounts of a scenario by the paths of their fields, for what varies them.
namespace slicewise::scenarios {

// The amount of the field at `path` below its workload or node pool ("measured.requestGpuTime",
// "gpu.timeSlice") in seconds, bytes, vCPUs, shares of one, per second, or as a number; of what
// varies at random the mean. nullopt where nothing is said.
std::optional<double> amount_at(const Workload& workload, std::string_view path);
std::optional<double> amount_at(const NodePool& pool, std::string_view path);

// Says it anew. REQUIRES: the path is one of an amount, and its blocks are there.
void set_amount(Workload& workload, std::string_view path, double amount);
void set_amount(NodePool& pool, std::string_view path, double amount);

}  // namespace slicewise::scenarios
