#include "slicewise/sim/plan_record.hpp"

// What the answer of a plan hangs on.
namespace slicewise::sim {

Record declared(Of<Flip>) {
  using F = Flip;
  return {"a change at which another option is best",
          {field<&F::input>("input", "what changes"),
           field<&F::factor>("factor",
                             "of its value in the scenario, where the best option is beaten; below "
                             "1: where less of it makes a cheaper one do"),
           field<&F::holds_at>("holdsAt",
                               "the factor next to it at which the best option was seen to hold"),
           field<&F::misses>("missesObjective", "it misses an objective there; else it is dearer"),
           field<&F::winner>("winner", "the best of the ranked options then, or planned anew"),
           field<&F::second_stands>(
               "secondStands", "the second option stands there, where the best misses an objective")
               .optional()}};
}

Record declared(Of<TellingMeasurement>) {
  using M = TellingMeasurement;
  return {
      "what would narrow the answer most if it was measured: how long a workload takes on a GPU",
      {field<&M::workload>("workload", "which"), field<&M::gpu>("gpu", "GPU model"),
       field<&M::strategy>(
           "strategy", "in which it shares the GPU; absent: alone, as its time was not measured")
           .optional(),
       field<&M::beside>("beside", "the workload it shares it with; absent: its own copies")
           .optional(),
       field<&M::factor>("factor", "of its time at which the answer changes, see flips"),
       field<&M::error_percent>("expectedErrorPercent",
                                "nine of ten predictions from as much as is known were within it; "
                                "absent: nobody published any")}};
}

Record declared(Of<SmActiveRange>) {
  using R = SmActiveRange;
  return {
      "how the answer hangs on measured.smActive, where that is not given",
      {field<&R::workloads>("workloads", "that do not give it"),
       field<&R::holds_from>("holdsFromRatio", "the lowest at which the best option is best")
           .of(Unit::Ratio),
       field<&R::turns_at>("turnsAtRatio", "at which it is not; absent: the answer holds for any"),
       field<&R::then>("then", "what beats it there; absent: nothing that was tried stands")}};
}

}  // namespace slicewise::sim
