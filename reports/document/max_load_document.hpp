#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/result_record.hpp"

namespace slicewise::sim {

template <>
const Record& record_of<ScaledLoad>();
template <>
const Record& record_of<ProbedObjective>();
template <>
const Record& record_of<LoadProbe>();
template <>
const Record& record_of<MaxLoad>();

// "atPassed" of a MaxLoad, of a VariantResult.
const Record& at_passed_record();

}  // namespace slicewise::sim

// The document of a highest load (slicewise.dev/max-load.v1alpha1) as a value, for the formats that
// print it.
namespace slicewise::reports {

inline constexpr std::string_view kMaxLoadApiVersion = "slicewise.dev/max-load.v1alpha1";

nlohmann::json max_load_document(const sim::MaxLoad& found);

}  // namespace slicewise::reports
