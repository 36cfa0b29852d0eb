#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/comparison_report.hpp"

#include "../screens/comparison_words.hpp"
#include "comparison_document.hpp"
#include "result_document.hpp"
#include "serving_schema.hpp"

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
using json_schema::truth;
using json_schema::whole;

json strategy() {
  std::vector<std::string> names;
  names.reserve(sim::kStrategies.size());
  for (const sim::Strategy s : sim::kStrategies) names.emplace_back(sim::strategy_name(s));
  return one_of(names, "how its GPUs are shared");
}

std::vector<Property> isolation_levels() {
  return {{"memory", one_of({"none", "processLimit", "hardware"},
                            "what keeps a pod from its neighbour's GPU memory")},
          {"compute",
           one_of({"none", "cap", "hardware"}, "what keeps a neighbour from slowing a pod down")},
          {"fault", one_of({"process", "shared", "hardware"},
                           "what a fatal GPU fault of a pod takes with it: its process, all pods "
                           "of the GPU, or its own hardware partition")}};
}

json isolation_row() {
  std::vector<Property> properties = isolation_levels();
  properties.push_back({"strategy", strategy()});
  properties.push_back({"meaning", text("the same in words")});
  return object(properties, "what separates two pods on one GPU");
}

json metadata() {
  return object(
      {{"scenario", text("metadata.name of the scenario")},
       {"scenarioSha256", text("SHA-256 of the scenario, in hexadecimal")},
       {"variant", text("which of its variants")},
       {"seed", whole("seed of the random streams, the same for every option")},
       {"replications", whole("runs per option that were asked for")},
       {"version", text("version of slicewise")},
       {"instanceTypes", list_of(text("EC2 instance type"), "compared, in this order")},
       {"nodes", whole("of every option, when asked for; else as few as hold all pods at once"),
        kOptional},
       {"priceDate", text("date of the newest price in force, YYYY-MM-DD"), kOptional},
       {"priceFile", text("--prices file laid over the catalogue's prices"), kOptional},
       {"priceFileSha256", text("SHA-256 of that file, in hexadecimal"), kOptional},
       {"interrupted",
        described({{"const", true}},
                  "some replications were not run; options without any are absent"),
        kOptional}},
      "what produced the comparison; the same values produce the same bytes");
}

json pods() {
  return object({{"submitted", number("pods created, mean per replication")},
                 {"runningMax", whole("most pods Running at once")},
                 {"pendingMax", whole("most pods Pending at once")},
                 {"succeeded", number("pods Succeeded, mean per replication")},
                 {"failed", number("pods Failed, mean per replication")},
                 {"oomKilled", number("containers that ran out of GPU memory, mean per "
                                      "replication")}},
                "what became of the pods");
}

json workload() {
  return object(
      {{"name", text("name in the scenario")},
       {"kind", text("Job, Deployment, Service, Notebook or Pipeline")},
       {"unitName", text("unit of throughput: epoch, request, ..."), kOptional},
       {"completed", number("jobs, container runs or requests finished, mean per replication")},
       {"throughputPerSecond", number("units finished per second of the run")},
       {"goodputPerSecond", number("units that met every objective, per second")},
       {"latencyP50Seconds", number("from arrival to response"), kOptional},
       {"latencyP95Seconds", number("from arrival to response"), kOptional},
       {"latencyP99Seconds", number("from arrival to response"), kOptional},
       {"jobCompletionP95Seconds", number("from submission to success"), kOptional},
       {"boundBy", text("what limits it: GPU, host CPU, GPU memory, ..."), kOptional},
       {"objectives", list_of(json_schema::objective(), "empty when the scenario sets none")}},
      "results of one workload");
}

json cost() {
  return object(
      {{"totalUsd", number("nodes x time x price; the sum of the six parts below, exactly")},
       {"usefulUsd", number("GPU time of work that was finished or still ran at the end")},
       {"idleUsd", number("time in which no kernel ran")},
       {"switchUsd", number("context switches")},
       {"failedUsd", number("work of containers that died")},
       {"coldStartUsd", number("image pull and model load on an otherwise idle GPU")},
       {"missedSloUsd", number("requests served too late")},
       {"usdPerHour", number("price of all nodes")},
       {"perJobUsd", number("total / jobs finished; absent when none was"), kOptional},
       {"per1kRequestsInSloUsd", number("total / thousands of requests in SLO"), kOptional},
       {"perWorkHourUsd",
        number("price of the work that pods alone on the GPU they were measured on would do in an "
               "hour, within the objectives; ranks options whatever the mix of workloads"),
        kOptional}},
      "US dollars, mean per replication");
}

json option() {
  return object(
      {{"instanceType", text("EC2 instance type")},
       {"gpuModel", text("catalogue name of its GPUs")},
       {"gpusPerNode", whole("GPUs of a node")},
       {"nodes", whole("as few as hold all pods at once, unless asked for")},
       {"strategy", strategy()},
       {"title", text("the configuration as people write it")},
       {"replicas", whole("pods per GPU, or per MIG instance")},
       {"migProfile", text("profile of all instances"), kOptional},
       {"migInstancesPerGpu", whole("instances of each GPU"), kOptional},
       {"forced", truth("simulated because of --force: nobody offers it")},
       {"stock", truth("NVIDIA's device plugin can set it up as it is shipped")},
       {"retired", truth("AWS no longer offers the instance type")},
       {"best", truth("cheapest work of the options that meet every objective, lose no pod and can "
                      "be had")},
       {"meetsObjectives", truth("all objectives of all workloads")},
       {"losesPods", truth("some pods died, or never got a GPU")},
       {"isolation", object(isolation_levels(), "what separates two of its pods on one GPU")},
       {"replications", whole("runs that were done")},
       {"lengthSeconds", number("length of the run, mean")},
       {"gpuBusyRatio", ratio("share of all GPU time in which a kernel ran")},
       {"pods", pods()},
       {"workloads", list_of(workload(), "in the order of the scenario")},
       {"cost", cost()},
       {"findings", list_of(finding(), "in the order found")}},
      "a configuration that was simulated");
}

json refused() {
  return object({{"instanceType", text("EC2 instance type")},
                 {"strategy", strategy()},
                 {"migProfile", text("profile of all instances"), kOptional},
                 {"code", text("stable code, when the reason has one"), kOptional},
                 {"message", text("why it cannot be had")}},
                "a configuration that cannot be had");
}

json replica_choice() {
  return object({{"instanceType", text("EC2 instance type")},
                 {"replicas", whole("pods per time-sliced GPU")},
                 {"mpsReplicas", whole("pods per GPU with MPS")},
                 {"rule", one_of({"asked", "scenario", "podsOnOneNode", "gpuMemory"},
                                 "where the number comes from")}},
                "how many pods share a GPU");
}

}  // namespace

std::string comparison_schema_json() {
  json schema =
      object({{"apiVersion", {{"const", kComparisonApiVersion}}},
              {"kind", {{"const", "Comparison"}}},
              {"metadata", metadata()},
              {"options", list_of(option(), "by instance type, then strategy")},
              {"refused", list_of(refused(), "by instance type, then strategy")},
              {"isolation", list_of(isolation_row(), "one row per strategy")},
              {"replicas", list_of(replica_choice(), "one per instance type")},
              {"notes", list_of(finding(), "what was changed in the scenario to compare it")}},
             "What `slicewise compare -o json` prints. SI units in the keys; fields that do not "
             "apply are absent. Keys are added, never renamed.");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise comparison";
  return json_text(schema);
}

}  // namespace slicewise::reports
