#pragma once

#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/result_record.hpp"

// The figures of a plan: what each is called and means.
namespace slicewise::sim {

inline constexpr std::string_view kPlanApiVersion = "slicewise.dev/plan.v1alpha1";

template <>
struct Spelling<Strategy> {
  static constexpr bool kListed = true;
  static constexpr auto& kAll = kStrategies;
  static std::string_view of(Strategy strategy) { return strategy_name(strategy); }
};

template <>
struct Spelling<RejectedChoice::Stage> {
  using Stage = RejectedChoice::Stage;
  static constexpr bool kListed = true;
  static constexpr Stage kAll[] = {Stage::Feasibility, Stage::Bound, Stage::Simulation};
  static constexpr std::string_view of(Stage stage) {
    return stage == Stage::Feasibility ? "feasibility"
           : stage == Stage::Bound     ? "bound"
                                       : "simulation";
  }
};

template <>
struct Spelling<scenarios::PlanGoal> : SpellingOf<scenarios::kGoals> {};

template <>
const Record& record_of<models::MigCount>();
template <>
const Record& record_of<ServingChoice>();
template <>
const Record& record_of<PoolChoice>();
template <>
const Record& record_of<PlannedObjective>();
template <>
const Record& record_of<WorkRate>();
template <>
const Record& record_of<UnfinishedJobs>();
template <>
const Record& record_of<OptionFigures>();
template <>
const Record& record_of<SetUpRoute>();
template <>
const Record& record_of<PlanOption>();
template <>
const Record& record_of<RejectedChoice>();
template <>
const Record& record_of<ReplicasPoint>();
template <>
const Record& record_of<Flip>();
template <>
const Record& record_of<TellingMeasurement>();
template <>
const Record& record_of<SmActiveRange>();
template <>
const Record& record_of<PlannedSpot>();
template <>
const Record& record_of<ObjectiveRisk>();
template <>
const Record& record_of<PlanRisk>();
template <>
const Record& record_of<PlannedRegion>();
template <>
const Record& record_of<RestartLoss>();
template <>
const Record& record_of<PathStep>();
template <>
const Record& record_of<PlanPath>();
template <>
const Record& record_of<UnselectedNodes>();
template <>
const Record& record_of<PlannedSpan>();
template <>
const Record& record_of<PlannedCommitment>();
template <>
const Record& record_of<PlanOverTime>();
template <>
const Record& record_of<PlanCounts>();
template <>
const Record& record_of<Plan>();

}  // namespace slicewise::sim
