#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"

#include "pool_targets.hpp"

// The MIG layouts of a scenario in the format of mig-parted (version v1).
namespace slicewise::reports {

struct MigPartedFile {
  std::string yaml;          // without comments
  bool has_own = false;      // a layout that mig-manager does not bring itself
  bool needs_reset = false;  // changing MIG mode needs a GPU reset, which VMs often refuse
};

// Every layout that a pool starts with or changes to, and all-disabled. nullopt where no pool has
// MIG. Layouts that do not fit the GPU are refused as by mig_devices; EXPORT_UNFIT for one name
// that stands for two layouts.
Expected<std::optional<MigPartedFile>> mig_parted_file(const std::vector<PoolTarget>& targets,
                                                       const models::Catalogue& catalogue);

// The values of the GPU Operator's chart for mig-manager.
std::string mig_manager_values(const std::optional<MigPartedFile>& file);

// How to change the layout of a node, as comment lines.
std::string mig_runbook_comment(const std::vector<PoolTarget>& targets, bool needs_reset);

}  // namespace slicewise::reports
