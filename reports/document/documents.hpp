#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/neighbours.hpp"
#include "slicewise/sim/plan_record.hpp"
#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/result_record.hpp"
#include "slicewise/sim/sensitivity.hpp"

#include "document_text.hpp"

// The documents of the verbs as values, for the formats that print them. Figures are those that
// sim/result_record.hpp, sim/plan_record.hpp and the records below declare.
namespace slicewise::sim {

template <>
const Record& record_of<Isolation>();
template <>
const Record& record_of<ComparedOption>();
template <>
const Record& record_of<RefusedOption>();
template <>
const Record& record_of<ReplicaChoice>();
template <>
const Record& record_of<StrategyComparison>();

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

namespace slicewise::reports {

using sim::kPlanApiVersion;
using sim::kResultApiVersion;
inline constexpr std::string_view kComparisonApiVersion = "slicewise.dev/comparison.v1alpha1";
inline constexpr std::string_view kMaxLoadApiVersion = "slicewise.dev/max-load.v1alpha1";
inline constexpr std::string_view kNeighboursApiVersion = "slicewise.dev/neighbours.v1alpha1";
inline constexpr std::string_view kReplayApiVersion = "slicewise.dev/replay.v1alpha1";
inline constexpr std::string_view kSensitivityApiVersion = "slicewise.dev/sensitivity.v1alpha1";

// Doubles carry 9 significant digits; money carries every nano-dollar (exact below 8 million
// dollars).
nlohmann::json result_document(const sim::Result& result);
nlohmann::json plan_document(const sim::Plan& plan);
nlohmann::json comparison_document(const sim::StrategyComparison& comparison);
nlohmann::json max_load_document(const sim::MaxLoad& found);
nlohmann::json neighbours_document(const sim::NeighbourMatrix& matrix);
nlohmann::json sensitivity_document(const sim::SensitivityStudy& study);
nlohmann::json replay_document(const sim::ReplayStudy& study);
nlohmann::json inflation_document(const sim::InflationStudy& study);

// JSON Schema (draft-07).
nlohmann::json plan_schema();

// As "rule" of a choice of replicas.
std::string_view rule_word(sim::ReplicaChoice::Rule rule);

}  // namespace slicewise::reports
