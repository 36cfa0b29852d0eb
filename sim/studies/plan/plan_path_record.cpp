#include "slicewise/sim/plan_record.hpp"

// From the present pools to cheaper ones, and what selectors of nodes cost, as documents have it.
namespace slicewise::sim {

Record declared(Of<RestartLoss>) {
  using L = RestartLoss;
  return {
      "requests that it costs where all its pods restart at once, beside a run in which none does",
      {field<&L::lost>("requestsLost", "refused, dropped or timed out, mean per replication"),
       field<&L::late>("requestsLate", "answered, but not within their objectives")}};
}

Record declared(Of<PathStep>) {
  using S = PathStep;
  return {
      "some pools give way to others",
      {field<&S::from>("from", "pools that change or go"), field<&S::to>("to", "in place of them"),
       field<&S::saves>("savesUsdPerMonth", "below 0: it costs more, so that objectives hold")
           .of(Unit::Signed),
       field<&S::monthly>("monthlyUsd", "of all pools after it"),
       field<&S::changes>("changes", "pools that are set up, changed or removed"),
       field<&S::pods_restarted>("podsRestarted", "the others keep running"),
       field<&S::restarts>("restarts", "workloads that some of them are of").each("workload"),
       field<&S::start>("startSeconds", "image pull and model load of the slowest of them"),
       field<&S::nodes_launched>("nodesLaunched", "new ones"),
       field<&S::nodes_removed>("nodesRemoved", "that are no longer paid for"),
       field<&S::nodes_cut_anew>("nodesCutAnew",
                                 "that stay with another MIG layout: their pods leave first"),
       field<&S::disruption>("ifAllAtOnce"), field<&S::one_by_one>("ifOneByOne"),
       field<&S::one_by_one_takes>("oneByOneSeconds", "until each pod was away once").positive()}};
}

Record declared(Of<PlanPath>) {
  using P = PlanPath;
  return {
      "from the present pools to cheaper ones; without steps: keep it as it is",
      {field<&P::now>("now", "keep as is"), field<&P::steps>("steps", "in order"),
       field<&P::end>("end", "after the last step"),
       field<&P::max_changes>("maxChanges", "that were allowed; absent: any number"),
       field<&P::ended_by_limit>("endedByLimit", "more changes would save more").optional(),
       field<&P::is_cheapest>(
           "cheapest", "no other changes, of as many pools, would save more: all were looked at")
           .optional(),
       field<&P::kept>("poolsKept",
                       "that were not weighed, since nobody knows what each costs: bought in two "
                       "ways, or of nodes that come and go")
           .positive()}};
}

Record declared(Of<UnselectedNodes>) {
  using U = UnselectedNodes;
  return {"without nodeSelectors of labels that the scenario's pools have, where that is cheaper",
          {field<&U::workloads>("workloads", "whose they are"),
           field<&U::option>("option", "the cheapest without them")}};
}

}  // namespace slicewise::sim
