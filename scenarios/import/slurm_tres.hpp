#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slicewise/units.hpp"

namespace slicewise::scenarios {

// What Slurm's list of trackable resources ("cpu=16,mem=64G,gres/gpu:a100=2") says.
struct SlurmTres {
  std::int64_t gpus = 0;  // the untyped entry, or the typed ones: they count the same GPUs
  std::int64_t shards = 0;
  std::string gpu_models;   // "a100|h100" of the typed entries
  std::string mig_profile;  // "1g.5gb" where the typed entries are MIG slices
  std::optional<std::int64_t> cpus;
  std::optional<Bytes> memory;
  std::optional<std::int64_t> gpu_permille;  // gres/gpuutil, of step rows
};

// nullopt when an entry is damaged or a number is beyond a million.
std::optional<SlurmTres> parse_tres(std::string_view text);

}  // namespace slicewise::scenarios
