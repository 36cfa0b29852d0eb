#pragma once

#include <span>
#include <string>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"

// Which instance types a NodePool lets Karpenter choose.
namespace slicewise::scenarios {

// What Karpenter may choose from: the first value of each requirement that counts.
struct WantedInstance {
  std::string type;
  std::string family;
  std::string size;
  std::string gpu;
  std::string gpu_count = "1";
  std::string capacity;
  bool falls_back = false;
};

WantedInstance wanted_by(const std::vector<NodeRequirement>& requirements);

// The smallest type that has the GPUs; "" when none has.
std::string type_of(const WantedInstance& wanted, std::span<const InstanceGpus> instances);

// The types with GPUs, as they are named, or all sizes of their families.
std::vector<std::string> choice_of(const NodeGroupFile& group,
                                   std::span<const InstanceGpus> instances);

}  // namespace slicewise::scenarios
