#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/models/sourced.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

// One kind of GPU instance that a MIG-capable GPU can be cut into.
struct MigProfile {
  struct Placement {
    int start = 0;  // first memory slice
    int size = 0;   // memory slices
  };
  std::string name;            // "1g.5gb", "1g.5gb+me"
  std::string resource_mixed;  // "nvidia.com/mig-1g.5gb"
  int gi_profile_id = 0;
  int compute_slices = 0;
  int memory_slices = 0;
  std::optional<int> sm_count;  // nullopt here and below: nobody has published it (B300)
  std::optional<Bytes> memory;
  int max_count = 0;
  std::optional<int> copy_engines;
  std::optional<int> nvdec;
  bool media_extensions = false;
  std::string confidence;  // "high", "medium", ... of the figures
  std::string note;
  std::vector<Placement> placements;
};

// How a GPU model may be partitioned. A set of instances is valid when each sits at a legal
// placement of its profile, none overlap, and no profile exceeds its max_count.
struct MigGeometry {
  std::string gpu_model;  // GpuModel::name where EC2 offers it, else the catalogue's own name
  int memory_slices = 0;
  int compute_slices = 0;
  int sm_total = 0;
  int sm_usable = 0;  // SMs left when MIG is on
  bool mode_change_needs_reset = false;
  std::vector<std::string> sources;
  std::string date;  // when the sources were read
  std::string note;
  std::vector<MigProfile> profiles;
};

}  // namespace slicewise::models
