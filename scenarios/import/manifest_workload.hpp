#pragma once

#include <optional>

#include "slicewise/scenarios/pod_file.hpp"

#include "import_report.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {

// The workload that the pods of one object are, as its manifest and the annotations of slicewise
// say it; nullopt, told to `report`, where they ask for no GPU. Of DaemonSets the importer tells
// it.
std::optional<DraftWorkload> workload_of(const PodFile& pod, ImportReport& report);

}  // namespace slicewise::scenarios
