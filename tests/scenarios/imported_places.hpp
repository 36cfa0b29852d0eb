#pragma once

#include <string>
#include <vector>

#include "slicewise/scenarios/import.hpp"

#include "imported_scenario.hpp"

// Pools and pods that are imported together.
namespace slicewise::scenarios {

inline const std::vector<InstanceGpus> kTypes = {{"g4dn.xlarge", "t4", 1},
                                                 {"g5.xlarge", "a10g", 1},
                                                 {"g6.xlarge", "l4", 1},
                                                 {"g6e.xlarge", "l40s", 1},
                                                 {"p4d.24xlarge", "a100", 8}};

inline Written imported(const std::vector<std::string>& texts) {
  ImportOptions options;
  options.instances = kTypes;
  options.mig_layouts["p4d.24xlarge"]["all-balanced"] = {
      {"nvidia.com/mig-1g.5gb", 2}, {"nvidia.com/mig-2g.10gb", 1}, {"nvidia.com/mig-3g.20gb", 1}};
  return k8s(texts, options);
}

inline std::string node_pool(const std::string& name, const std::string& requirements,
                             const std::string& more = "") {
  return "---\nkind: NodePool\nmetadata: {name: " + name + "}\nspec: {" + more +
         "template: {spec: {requirements: [" + requirements + "]}}}\n";
}

inline std::string of_types(const std::string& types) {
  return "{key: node.kubernetes.io/instance-type, operator: In, values: [" + types + "]}";
}

inline std::string pods(const std::string& name, const std::string& spec,
                        const std::string& resource = "nvidia.com/gpu") {
  return "---\nkind: Deployment\nmetadata: {name: " + name + "}\nspec: {template: {spec: {" + spec +
         (spec.empty() ? "" : ", ") + "containers: [{name: c, resources: {limits: {" + resource +
         ": 1}}}]}}}\n";
}

}  // namespace slicewise::scenarios
