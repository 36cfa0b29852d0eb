#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

// Between what kBusyOfGpuUtil lies. The configurations of Lucid's pairs on RTX 3090, each fitted by
// itself, need 0.65 to 0.96 where their pairs say; who saturates an RTX 4090 (tsfast) and the
// processes on H200 need all of it.
inline constexpr double kLeastBusyOfGpuUtil = 0.65;
inline constexpr double kMostBusyOfGpuUtil = 1;

// A way of sharing GPUs on the instance types of a cluster, with the figures that `run` has for
// node pools that are shared so. All domains of a GPU are alike.
struct GpuSharing {
  std::string name;              // as asked for: "time-slicing:4", "mig:all-1g.5gb"
  std::vector<PoolModel> pools;  // one per instance type
  int tickets = 1;               // of each GPU: jobs with one GPU that may be on it at once
  const models::Catalogue* catalogue = nullptr;
  double busy_of_util = scenarios::kBusyOfGpuUtil;  // of GPU_UTIL: time that jobs need the GPU
  Diagnostics notes;

  // Into pools; as many as there are: none is called so.
  std::uint32_t pool_of(std::string_view instance_type) const;
  // Each ticket is a domain of its own: jobs on one GPU do not feel each other.
  bool isolates() const { return !pools.front().kinds.front().partition.empty(); }
};

// Errors: a GPU without MIG or without that MIG config, one whose instances differ, more MPS
// clients than the device plugin takes, parts of GPUs (g6f), instance types that would get
// different numbers of tickets. REQUIRES: every instance type is in the catalogue. Points into it.
Expected<GpuSharing> share_gpus(const scenarios::SharingWay& way,
                                std::span<const std::string> instance_types,
                                const std::string& region, const models::Catalogue& catalogue);

}  // namespace slicewise::sim
