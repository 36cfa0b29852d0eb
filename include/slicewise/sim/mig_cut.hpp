#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/scenarios/scenario.hpp"

// How the GPUs of a node are cut under a MIG layout.
namespace slicewise::sim {

struct CutGpu {
  struct Instance {
    const models::MigProfile* profile = nullptr;  // nullptr: the GPU has MIG switched off
    models::DomainShare share;
    double time_share = 1;    // of the GPU's compute slices
    std::uint32_t parts = 0;  // of the GPU, that no other instance has beside it
    bool at_start = true;     // false: nos may make it
  };
  std::vector<Instance> instances;
  SourceLocation where;  // of the entry of the config
};

struct CutNode {
  std::string config;
  SourceLocation where;
  std::vector<CutGpu> gpus;  // those that no entry of the config names are not cut
};

// The pool's own config of that name, or mig-manager's; nullopt: an unknown one, or a layout that
// does not fit the GPUs of the type, which is added to `found`. REQUIRES: pool.mig.
std::optional<CutNode> cut_node(const scenarios::NodePool& pool, const models::InstanceType& type,
                                const models::MigGeometry& geometry,
                                const Located<std::string>& config, Diagnostics& found);

}  // namespace slicewise::sim
