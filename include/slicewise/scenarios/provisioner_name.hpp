#pragma once

#include <string_view>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::scenarios {

// As scenario files and reports spell it.
constexpr std::string_view provisioner_name(Provisioner::Kind kind) {
  switch (kind) {
    case Provisioner::Kind::Karpenter:
      return "Karpenter";
    case Provisioner::Kind::ClusterAutoscaler:
      return "ClusterAutoscaler";
    case Provisioner::Kind::ManagedNodeGroup:
      return "ManagedNodeGroup";
  }
  return "ManagedNodeGroup";
}

}  // namespace slicewise::scenarios
