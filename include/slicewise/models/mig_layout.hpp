#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/codes.hpp"
#include "slicewise/models/mig_geometry.hpp"
#include "slicewise/models/sharing_law.hpp"

// Which instances one GPU can be cut into, where they sit, and what part of the GPU each has.
namespace slicewise::models {

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
// memory slices / all memory slices.
struct MigShare {
  DomainShare share;
  // The number of SMs is not published (B300): f_c is taken as f_m, which on H100 and B200 is up to
  // 10 % too much, and 27 % for the 1g profile with twice the memory.
  bool estimated = false;
};
MigShare mig_share(const MigGeometry& geometry, const MigProfile& profile);

}  // namespace slicewise::models
