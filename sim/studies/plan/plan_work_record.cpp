#include "slicewise/sim/plan_record.hpp"

// What an option gets done, and what it leaves, as documents have it.
namespace slicewise::sim {

Record declared(Of<AnswerTime>) {
  using A = AnswerTime;
  return {"how long a Service takes to answer that has no objective",
          {field<&A::workload>("workload", "its name"),
           field<&A::p99>("p99Seconds", "99 of 100 requests take no longer")}};
}

Record declared(Of<WorkRate>) {
  using W = WorkRate;
  return {"what gets done of a Job or Deployment that has no objective",
          {field<&W::workload>("workload", "its name"),
           field<&W::unit>("unit", "of its work").optional(),
           field<&W::per_hour>("perHour", "units, while the option runs"),
           field<&W::completion>("completionSeconds",
                                 "of its Jobs, mean; absent: some do not end in the run")
               .optional()}};
}

Record declared(Of<UnfinishedJobs>) {
  using U = UnfinishedJobs;
  return {"Jobs of a workload that were not done when the run was over",
          {field<&U::workload>("workload", "its name"),
           field<&U::jobs>("jobs", "mean per replication"), field<&U::of>("of", "all its Jobs")}};
}

}  // namespace slicewise::sim
