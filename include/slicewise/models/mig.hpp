#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/codes.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

// Which instances a GPU can be cut into, where they sit, and what part of the GPU each has.
namespace slicewise::models {

// One kind of GPU instance that a MIG-capable GPU can be cut into.
struct MigProfile {
  struct Placement {
    int start = 0;  // first memory slice
    int size = 0;   // memory slices
  };
  std::string name;            // "1g.5gb", "1g.5gb+me"
  std::string resource_mixed;  // "nvidia.com/mig-1g.5gb"
  int compute_slices = 0;
  int memory_slices = 0;
  std::optional<int> gi_profile_id;  // nullopt here and below: nobody has published it
  std::optional<int> sm_count;
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
  std::string gpu_model;      // GpuModel::name where EC2 offers it, else the catalogue's own name
  std::string device_filter;  // what mig-parted calls the board: "0x20B010DE"; "" not known
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

// So many instances of a profile: one line of mig-parted's `mig-devices`.
struct MigCount {
  std::string profile;  // "1g.5gb+me", with a plus sign
  int count = 0;
  friend bool operator==(const MigCount&, const MigCount&) = default;
};

// A GPU instance at its place.
struct MigInstance {
  const MigProfile* profile = nullptr;  // of the geometry that was asked
  int start = 0;                        // first memory slice
};

// Why a layout cannot be had, in words for the person who asked for it.
struct MigRefusal {
  Code code{};                       // MigConfigUnknown or MigLayoutImpossible
  std::optional<std::size_t> entry;  // the line of the counts to point at, if one is to blame
  std::string message;               // one sentence, no full stop
  std::string help;                  // may be empty
};

// Places the instances on the memory slices of one GPU, or says why they do not fit: a profile that
// the GPU does not have, more of a profile than it allows, more than one instance with media
// engines, or no set of placements without an overlap. Tries large profiles first and low slices
// first, all orders if need be, so the answer is one only; sorted by slice. Lines with count 0 are
// allowed; two lines of one profile add up. REQUIRES: counts >= 0.
// Source of the rule: NVIDIA MIG user guide, "nvidia-smi mig -lgipp". mig-parted does not check it.
tl::expected<std::vector<MigInstance>, MigRefusal> place_instances(
    const MigGeometry& geometry, const std::vector<MigCount>& counts);

// A config of mig-parted for one GPU.
struct MigConfig {
  bool enabled = false;          // MIG mode; without it the GPU is whole
  std::vector<MigCount> counts;  // with MIG on and none, the GPU offers nothing
};

// The configs that mig-manager knows without a file of the user's: all-disabled, all-enabled,
// all-balanced, and all-<profile> with as many instances as fit (a dot for the plus sign:
// all-1g.5gb.me). all-balanced is two 1g, one 2g and, on GPUs of eight slices, one 3g.
// Source: github.com/NVIDIA/mig-parted deployments/systemd/config-default.yaml. GPUs that this file
// has no entry for (B300) get what mig-manager 0.14 and newer generates on the node.
tl::expected<MigConfig, MigRefusal> shipped_mig_config(std::string_view name,
                                                       const MigGeometry& geometry);
std::vector<std::string> shipped_mig_config_names(const MigGeometry& geometry);

// The part of the whole GPU, MIG off, that an instance has: f_c = its SMs / all SMs, f_m = its
// memory slices / all memory slices. Where the number of SMs is not published (B300), f_c is taken
// as f_m, which on H100 and B200 is up to 10 % too much, and 27 % for the 1g profile with twice the
// memory.
DomainShare mig_share(const MigGeometry& geometry, const MigProfile& profile);

}  // namespace slicewise::models
