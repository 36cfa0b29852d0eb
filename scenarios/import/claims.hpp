#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"

#include "import_report.hpp"

namespace slicewise::scenarios {

// The claims of DRA that pods name, as a scenario has them: with what their DeviceClass says.
class ClaimImport {
 public:
  ClaimImport(const ClusterFiles& files, ImportReport& report) : files_(files), report_(report) {}

  // What the scenario calls the claim of the pod; nullopt: it cannot say it, and the report why.
  std::optional<std::string> name_of(const PodFile& pod);
  const std::vector<ResourceClaim>& claims() const { return claims_; }

 private:
  const ClaimFile* find(const PodFile& pod, const KeyValue& named) const;
  bool take_class(const Located<std::string>& device_class, ResourceClaim& claim);
  std::string new_name(const ClaimFile& file) const;

  const ClusterFiles& files_;
  ImportReport& report_;
  std::vector<ResourceClaim> claims_;
  std::map<const ClaimFile*, std::string> names_;  // of those that were taken
};

}  // namespace slicewise::scenarios
