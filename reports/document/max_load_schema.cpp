#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/max_load_report.hpp"

#include "json_schema.hpp"
#include "max_load_document.hpp"
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
using json_schema::text;
using json_schema::truth;
using json_schema::whole;

json metadata() {
  return object(
      {{"scenario", text("metadata.name of the scenario")},
       {"scenarioSha256", text("SHA-256 of the scenario, in hexadecimal")},
       {"variant", text("which of its variants")},
       {"seed", whole("seed of the random streams, the same for every probe")},
       {"replications", whole("runs of a probe at first")},
       {"mostReplications", whole("runs of a probe that stays undecided")},
       {"precisionRatio", number("width of the interval that was asked for")},
       {"mostFactor", number("the highest load that was tried, over the scenario's")},
       {"version", text("version of slicewise")},
       {"priceDate", text("date of the newest price in force, YYYY-MM-DD"), kOptional},
       {"priceFile", text("--prices file laid over the catalogue's prices"), kOptional},
       {"priceFileSha256", text("SHA-256 of that file, in hexadecimal"), kOptional},
       {"interrupted", described({{"const", true}}, "the search was not finished"), kOptional}},
      "what produced the answer; the same values produce the same bytes");
}

json load() {
  return object(
      {{"path", text("what was scaled, as --scale takes it")},
       {"name", text("workload or pipeline")},
       {"unit", one_of({"requests/s", "users", "streams"}, "of the loads")},
       {"scenario", number("load of the scenario")},
       {"passed", number("at the highest load that passed; absent when none did"), kOptional},
       {"failed", number("at the lowest load that failed; absent when none did"), kOptional},
       {"headroom", number("passed / scenario"), kOptional}},
      "one load that was scaled");
}

json verdict() {
  return one_of({"passes", "fails", "undecided"},
                "on which side of the limit the 95 % interval of the runs lies");
}

json objective() {
  return object(
      {{"workload", text("workload or pipeline")},
       {"name", text("objective, as in the scenario")},
       {"unit", one_of({"seconds", "ratio", "perSecond", "number"}, "of limit, value and ci95")},
       {"atLeast", described({{"const", true}}, "the limit is a lower one"), kOptional},
       {"limit", number("at most, or at least")},
       {"value", number("over all runs of the probe")},
       {"ci95", number("half width"), kOptional},
       {"pass", truth("the value over all runs is within the limit")},
       {"verdict", verdict()}},
      "one objective at one load");
}

json probe() {
  return object({{"factor", number("load over the scenario's")},
                 {"replications", whole("runs that were done")},
                 {"verdict", verdict()},
                 {"objectives", list_of(objective(), "of all workloads and pipelines")}},
                "the scenario simulated at one load");
}

json workload() {
  return object({{"name", text("name in the scenario")},
                 {"kind", text("Job, Deployment, Service, Notebook or Pipeline")},
                 {"throughputPerSecond", number("units finished per second of the run")},
                 {"goodputPerSecond", number("units that met every objective, per second")},
                 {"latencyP50Seconds", number("from arrival to response"), kOptional},
                 {"latencyP95Seconds", number("from arrival to response"), kOptional},
                 {"latencyP99Seconds", number("from arrival to response"), kOptional}},
                "one workload at the highest load that passed");
}

json at_passed() {
  return object(
      {{"lengthSeconds", number("length of the run, mean")},
       {"totalUsd", number("nodes x time x price, mean per replication")},
       {"per1kRequestsInSloUsd", number("total / thousands of requests in SLO"), kOptional},
       {"workloads", list_of(workload(), "in the order of the scenario")}},
      "figures at the highest load that passed");
}

}  // namespace

std::string max_load_schema_json() {
  json schema =
      object({{"apiVersion", {{"const", kMaxLoadApiVersion}}},
              {"kind", {{"const", "MaxLoad"}}},
              {"metadata", metadata()},
              {"loads", list_of(load(), "all scaled by one factor")},
              {"passedFactor", number("highest load that passed, over the scenario's"), kOptional},
              {"failedFactor", number("lowest load that failed, over the scenario's"), kOptional},
              {"widthRatio", number("failed / passed - 1"), kOptional},
              {"nothingRuns", described({{"const", true}}, "no pod ever ran"), kOptional},
              {"binding", objective(), kOptional},
              {"atPassed", at_passed(), kOptional},
              {"probes", list_of(probe(), "in the order in which they were made")},
              {"notes", list_of(finding(), "what was changed in the scenario to scale it")}},
             "What `slicewise max-load -o json` prints. SI units in the keys; fields that do not "
             "apply are "
             "absent. Keys are added, never renamed.");
  schema["properties"]["binding"]["description"] =
      "the objective that is furthest beyond its limit at the lowest load that failed";
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise max-load";
  return json_text(schema);
}

}  // namespace slicewise::reports
