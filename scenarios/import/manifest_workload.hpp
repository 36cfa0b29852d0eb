#pragma once

#include <optional>

#include "flow_text.hpp"
#include "import_report.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {

// Whether an object of this kind has pods that are read here: Deployment, StatefulSet, Job, Pod,
// ...
bool has_pods(std::string_view kind);

// The workload that a manifest describes; nullopt when it asks for no GPU that can be simulated,
// which is counted with its reason. REQUIRES: has_pods(its kind).
std::optional<DraftWorkload> manifest_workload(const Node& object, ImportReport& report);

}  // namespace slicewise::scenarios
