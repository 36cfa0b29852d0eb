#include "slicewise/sim/plan_record.hpp"

// What chance does to a plan, as documents have it.
namespace slicewise::sim {
namespace {

std::string_view unit_of_risk(const ObjectiveRisk& o) { return unit_word(o.limit); }

}  // namespace

Record declared(Of<PlannedSpot>) {
  using S = PlannedSpot;
  return {
      "how often EC2 takes back nodes of a spot pool, which a simulation of minutes seldom sees",
      {field<&S::pool>("pool", "of the best option"), field<&S::risk>("spot"),
       field<&S::a_month>("interruptionsPerMonth", "of all its nodes, in expectation"),
       field<&S::most>("interruptionsPerMonthP95",
                       "at most in 95 of 100 months, if they come independently"),
       field<&S::lost>("lostRequestsPerMonth",
                       "that they cost, in expectation, as simulated; absent: not simulated"),
       field<&S::late>("lateRequestsPerMonth", "likewise, answered beyond an objective")}};
}

Record declared(Of<ObjectiveRisk>) {
  using O = ObjectiveRisk;
  return {"one objective, run by run",
          {field<&O::workload>("workload", "workload or pipeline"),
           field<&O::name>("name", "objective, as in the scenario"),
           field<&unit_of_risk>("unit", "of limit, median and p95")
               .one_of("seconds ratio perSecond number"),
           field<&O::limit>("limit", "at most, or at least"),
           field<&O::median>("median", "of the runs"),
           field<&O::p95>("p95", "95 of 100 runs are no worse"),
           field<&O::missed>("missed", "runs that miss it")}};
}

Record declared(Of<PlanConfirmation>) {
  using C = PlanConfirmation;
  return {"whether the best option holds in runs whose random numbers chose nothing",
          {field<&C::runs>("replications", "of the scenario's length"),
           field<&C::intervals>("intervals",
                                "objectives of all configurations that stood: so wide is each "
                                "interval that so many hold together at 95 %"),
           field<&C::holds>("holds", "every objective holds with such an interval")}};
}

Record declared(Of<PlanRisk>) {
  using R = PlanRisk;
  return {
      "what chance does to the best option, run by run, with random numbers that the search has "
      "not seen; the second option has the same",
      {field<&R::sampled_inputs>("sampledInputs", "each run drew them from their intervals")
           .optional(),
       field<&R::runs>("runs", "of the scenario's length"),
       field<&R::missed>(
           "missed", "runs in which it loses pods, misses an objective or is denied by a policy"),
       field<&R::monthly_p5>("monthlyUsdP5", "5 of 100 runs cost less"),
       field<&R::monthly_median>("monthlyUsdMedian", "of the runs"),
       field<&R::monthly_p95>("monthlyUsdP95", "95 of 100 runs cost no more"),
       field<&R::objectives>("objectives", "of all workloads and pipelines"),
       field<&R::second_cheaper>("secondCheaper",
                                 "runs in which the second option costs less and misses nothing")
           .optional(),
       field<&R::second_instead>("secondInstead",
                                 "runs in which it misses nothing where the best one does")
           .optional()}};
}

}  // namespace slicewise::sim
