#include "manifest_changes.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

void add(const std::string& name, std::vector<std::string>& names) {
  if (!contains(names, name)) names.push_back(name);
}

}  // namespace

void note_manifest_changes(const scenarios::PodTemplate& before, scenarios::Workload& workload) {
  for (const auto& [key, value] : before.node_selector) {
    if (!workload.pod.node_selector.contains(key)) add(key, workload.manifest.old_selectors);
  }
  for (const scenarios::ExtendedRequest& asked : before.extended) {
    const bool stays = std::ranges::any_of(workload.pod.extended, [&](const auto& request) {
      return request.name.value == asked.name.value;
    });
    if (!stays) add(asked.name.value, workload.manifest.old_resources);
  }
  for (const auto& [key, value] : before.annotations) {
    if (!workload.pod.annotations.contains(key)) add(key, workload.manifest.old_annotations);
  }
  if (!before.claim.value.empty() && workload.pod.claim.value.empty()) {
    workload.manifest.old_claim = true;
  }
}

}  // namespace slicewise::sim
