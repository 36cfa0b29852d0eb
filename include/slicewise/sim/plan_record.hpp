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

Record declared(Of<models::MigCount>);
Record declared(Of<MigCut>);
Record declared(Of<ServingChoice>);
Record declared(Of<PoolChoice>);
Record declared(Of<PlannedObjective>);
Record declared(Of<WorkRate>);
Record declared(Of<UnfinishedJobs>);
Record declared(Of<OptionFigures>);
Record declared(Of<SetUpRoute>);
Record declared(Of<PlanOption>);
Record declared(Of<RejectedChoice>);
Record declared(Of<ReplicasPoint>);
Record declared(Of<Flip>);
Record declared(Of<TellingMeasurement>);
Record declared(Of<SmActiveRange>);
Record declared(Of<PlannedSpot>);
Record declared(Of<ObjectiveRisk>);
Record declared(Of<PlanConfirmation>);
Record declared(Of<PlanRisk>);
Record declared(Of<PlannedRegion>);
Record declared(Of<RestartLoss>);
Record declared(Of<PathStep>);
Record declared(Of<PlanPath>);
Record declared(Of<UnselectedNodes>);
Record declared(Of<PlannedSpan>);
Record declared(Of<PlannedCommitment>);
Record declared(Of<PlanOverTime>);
Record declared(Of<PlanCounts>);
Record declared(Of<Plan>);

}  // namespace slicewise::sim
