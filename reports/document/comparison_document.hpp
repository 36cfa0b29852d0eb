#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/sim/plan_record.hpp"

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

}  // namespace slicewise::sim

// The comparison document (slicewise.dev/comparison.v1alpha1) as a value, for the formats that
// print it.
namespace slicewise::reports {

inline constexpr std::string_view kComparisonApiVersion = "slicewise.dev/comparison.v1alpha1";

// As "rule" of a choice of replicas.
std::string_view rule_word(sim::ReplicaChoice::Rule rule);

nlohmann::json comparison_document(const sim::StrategyComparison& comparison);

}  // namespace slicewise::reports
