#pragma once

#include "slicewise/sim/max_load.hpp"
#include "slicewise/sim/plan_record.hpp"
#include "slicewise/sim/replay/replay.hpp"

// The documents of comparisons and of the highest load, which `diff` reads as well, and of what
// screens of replays show.
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

template <>
const Record& record_of<ReplayClass>();
template <>
const Record& record_of<SlowedUser>();
template <>
const Record& record_of<SharingFigures>();
template <>
const Record& record_of<ReplayGroup>();
template <>
const Record& record_of<ReplayOutcome>();
template <>
const Record& record_of<InflationOutcome>();

// "atPassed" of a MaxLoad, of a VariantResult.
const Record& at_passed_record();

}  // namespace slicewise::sim
