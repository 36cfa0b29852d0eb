#include "slicewise/sim/plan_record.hpp"

// What an option gets done, and what it leaves, as documents have it.
namespace slicewise::sim {

template <>
const Record& record_of<AnswerTime>() {
  using A = AnswerTime;
  static const Record declared{"how long a Service takes to answer that has no objective",
                               {field<&A::workload>("workload", "its name"),
                                field<&A::p99>("p99Seconds", "99 of 100 requests take no longer")}};
  return declared;
}

template <>
const Record& record_of<WorkRate>() {
  using W = WorkRate;
  static const Record declared{
      "what gets done of a Job or Deployment that has no objective",
      {field<&W::workload>("workload", "its name"),
       field<&W::unit>("unit", "of its work").optional(),
       field<&W::per_hour>("perHour", "units, while the option runs"),
       field<&W::completion>("completionSeconds",
                             "of its Jobs, mean; absent: some do not end in the run")
           .optional()}};
  return declared;
}

template <>
const Record& record_of<UnfinishedJobs>() {
  using U = UnfinishedJobs;
  static const Record declared{
      "Jobs of a workload that were not done when the run was over",
      {field<&U::workload>("workload", "its name"), field<&U::jobs>("jobs", "mean per replication"),
       field<&U::of>("of", "all its Jobs")}};
  return declared;
}

}  // namespace slicewise::sim
