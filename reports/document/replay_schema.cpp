#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/replay_report.hpp"

#include "json_schema.hpp"
#include "replay_document.hpp"
#include "result_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using json_schema::described;
using json_schema::finding;
using json_schema::kOptional;
using json_schema::list_of;
using json_schema::number;
using json_schema::object;
using json_schema::one_of;
using json_schema::Property;
using json_schema::ratio;
using json_schema::text;
using json_schema::whole;

json flag(const char* description) { return described({{"const", true}}, description); }

std::vector<std::string> queue_names() {
  std::vector<std::string> names;
  for (int policy = 0; policy <= static_cast<int>(sim::QueuePolicy::ShortestService); ++policy) {
    names.emplace_back(sim::policy_name(static_cast<sim::QueuePolicy>(policy)));
  }
  return names;
}

std::vector<Property> origin() {
  return {{"trace", text("file of the trace")},
          {"traceSha256", text("SHA-256 of its bytes, in hexadecimal")},
          {"cluster", text("what the jobs were placed on")},
          {"seed", whole("seed of the random streams")},
          {"version", text("version of slicewise")},
          {"priceDate", text("date of the newest price in force, YYYY-MM-DD"), kOptional},
          {"interrupted", flag("jobs that had not ended by then are missing"), kOptional}};
}

json times(const char* description) {
  return object({{"mean", number("exact")},
                 {"p50", number("median")},
                 {"p90", number("90th percentile")},
                 {"p99", number("99th percentile")}},
                description);
}

json size_class() {
  return object({{"name", text("how many GPUs the jobs ask for")},
                 {"finished", whole("jobs")},
                 {"waitSeconds", times("time without progress")},
                 {"completionSeconds", times("from arrival to end")}},
                "jobs of like size");
}

json scheduler() {
  return object(
      {{"queue", one_of(queue_names(), "which waiting job goes next")},
       {"placement", text("which node a job gets; absent on one pool"), kOptional},
       {"jobs", whole("of the trace, all repetitions")},
       {"finished", whole("jobs that ended")},
       {"neverFit", whole("jobs that ask for more than the empty cluster has"), kOptional},
       {"withoutRunTime", whole("jobs left out: their run time is not known"), kOptional},
       {"startedAtOnce", whole("jobs that did not wait")},
       {"preemptions", whole("times that a job lost its GPUs")},
       {"mostWaiting", whole("jobs in the queue at most")},
       {"events", whole("arrivals, ends and preemptions")},
       {"waitSeconds", times("time without progress, of finished jobs"), kOptional},
       {"completionSeconds", times("from arrival to end, of finished jobs"), kOptional},
       {"makespanSeconds", number("from the first arrival to the last end")},
       {"gpuUtilization", ratio("GPU time of finished work over GPUs x makespan")},
       {"totalGpus", number("of the cluster")},
       {"peakGpus", number("allocated at once")},
       {"gpuHours", number("of finished work")},
       {"lostGpuHours", number("work that preempted jobs did again"), kOptional},
       {"perfectEstimates", flag("backfilling knew the true run times"), kOptional},
       {"costUsd", number("of all nodes over the makespan"), kOptional},
       {"interrupted", flag("this replay was stopped early"), kOptional},
       {"sizes", list_of(size_class(), "small to large; those with jobs")}},
      "the trace under one scheduler");
}

json replay() {
  std::vector<Property> about = origin();
  about.push_back({"repeat", whole("times that the trace was replayed")});
  about.push_back({"shiftSeconds", number("between the repetitions"), kOptional});
  about.push_back({"restartPreempted", flag("preempted jobs start over"), kOptional});
  about.push_back(
      {"runTimesUnderSharing", flag("run times are lifetimes on shared GPUs"), kOptional});
  return object(
      {{"apiVersion", described({{"const", kReplayApiVersion}}, "version of this format")},
       {"kind", described({{"const", "Replay"}}, "what this document is")},
       {"metadata", object(about, "what produced the figures; the same values, the same bytes")},
       {"schedulers", list_of(scheduler(), "in the order asked for")},
       {"notes", list_of(finding(), "what the user should know")}},
      "a trace of jobs on one cluster under several schedulers");
}

json inflation() {
  const json point = object({{"arrivedRatio", number("GPUs asked for so far / the cluster's")},
                             {"allocatedRatio", ratio("GPUs handed out / the cluster's")}},
                            "one percent of the curve");
  const json seed = object({{"allocatedRatio", ratio("at the target")},
                            {"arrived", whole("jobs")},
                            {"turnedDown", whole("jobs that fitted nowhere")},
                            {"curve", list_of(point, "by what arrived")}},
                           "one seed");
  const json placement = object({{"placement", text("which node a job gets")},
                                 {"allocatedRatio", ratio("at the target, mean over the seeds")},
                                 {"standardDeviation", number("of the seeds"), kOptional},
                                 {"seeds", list_of(seed, "in order of seed")}},
                                "one placement policy");
  std::vector<Property> about = origin();
  about.push_back({"seeds", whole("runs, with consecutive seeds")});
  about.push_back({"targetRatio", number("GPUs asked for in the end / the cluster's")});
  return object(
      {{"apiVersion", described({{"const", kReplayApiVersion}}, "version of this format")},
       {"kind", described({{"const", "Inflation"}}, "what this document is")},
       {"metadata", object(about, "what produced the figures; the same values, the same bytes")},
       {"placements", list_of(placement, "in the order asked for")}},
      "how much of a cluster a placement policy can hand out");
}

}  // namespace

std::string replay_schema_json() {
  return json_text({{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "slicewise replay"},
                    {"oneOf", {replay(), inflation()}}});
}

}  // namespace slicewise::reports
