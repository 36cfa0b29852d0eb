#include "slicewise/sim/result_record.hpp"

// The figures of recorded jobs: see result_record.hpp.
namespace slicewise::sim {

Record declared(Of<JobGroupFigures>) {
  using J = JobGroupFigures;
  return {"what became of jobs of a trace, over all replications",
          {field<&J::name>("name", "of the TraceJobs, the class, or whose they are"),
           field<&J::jobs>("jobs", "in the trace"),
           field<&J::finished>("finished", "mean per replication"),
           field<&J::wait_p95>("waitP95Seconds",
                               "from submission to the first running container, or so far where "
                               "that is longer than the objective"),
           field<&J::completion_p95>(
               "completionP95Seconds",
               "from submission to success, or so far where that is longer than the objective"),
           field<&J::slowdown>("slowdown", "time from the first start to success / as recorded"),
           field<&J::deadlines_met>("deadlinesMetRatio", "of the jobs that have a deadline")
               .of(Unit::Ratio),
           field<&J::past_time_limit>(
               "pastTimeLimit",
               "ran longer than their time limit, mean per replication; they are not killed")
               .optional()}};
}

Record declared(Of<JobClass>) {
  using C = JobClass;
  return {"jobs that are alike: one workload to the cluster",
          {field<&C::figures>("figures"),
           field<&C::namespace_name>("namespace", "of its pods").optional(),
           field<&C::labels>("labels", "of its pods").optional(),
           field<&C::pods_per_job>("podsPerJob", "more than 1: a gang over several nodes"),
           field<&C::gang>("gang"), field<&C::bill>("bill")}};
}

Record declared(Of<scenarios::ApartJobs>) {
  using A = scenarios::ApartJobs;
  using Place = scenarios::RowPlace;
  return {"jobs of a trace that do not run as they were recorded",
          {field<&A::why>(
               "reason",
               "noTime, unknownTime (how long they ran), otherGpus (than were chosen), noGpu: left "
               "out; gang: each row starts by itself; timeLimit: it ends none of them; "
               "partOfSeveral: they get whole GPUs; otherResource: they run on the one of the "
               "file; nodeGpus, nodeCpu, nodeMemory: they stay Pending, no node has as much"),
           field<&A::jobs>("jobs", "how many"),
           field<&A::first, &Place::row>(
               "firstRow", "the first, of the trace's rows that were kept, counted from 1"),
           field<&A::first, &Place::line>("firstLine", "its line of the file")}};
}

Record declared(Of<RecordedFigures>) {
  using R = RecordedFigures;
  return {
      "the jobs of a TraceJobs",
      {field<&R::all>("all"), field<&R::classes>("classes", "in the order of the scheduler"),
       field<&R::judged>("judged", "each user, group or project of trace.judgeBy").optional(),
       field<&R::apart>("notAsRecorded", "jobs that do not run as they were recorded, by reason")
           .optional()}};
}

}  // namespace slicewise::sim
