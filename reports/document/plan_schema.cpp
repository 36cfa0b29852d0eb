#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/plan_report.hpp"

#include "json_schema.hpp"
#include "plan_document.hpp"
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
using json_schema::ratio;
using json_schema::text;
using json_schema::truth;
using json_schema::whole;

json plan_texts(std::string_view description) { return list_of({{"type", "string"}}, description); }

json plan_metadata_schema() {
  return object(
      {{"scenario", text("metadata.name of the scenario")},
       {"scenarioFile", text("as it was given"), kOptional},
       {"scenarioSha256", text("SHA-256 of the scenario, in hexadecimal")},
       {"variant", text("which of its variants")},
       {"settings", plan_texts("--set, in order"), kOptional},
       {"seed", whole("seed of the random streams, the same for every simulation")},
       {"replications", whole("runs of an option that is ranked")},
       {"goal",
        one_of({"monthlyCost", "costPer1kInSlo", "costPerJob", "latencyP99"}, "what is minimised")},
       {"instanceTypes", plan_texts("that were tried")},
       {"purchaseOptions", plan_texts("that were tried")},
       {"version", text("version of slicewise")},
       {"priceDate", text("date of the newest price in force, YYYY-MM-DD"), kOptional},
       {"priceFile", text("--prices file laid over the catalogue's prices"), kOptional},
       {"priceFileSha256", text("SHA-256 of that file, in hexadecimal"), kOptional},
       {"interrupted", described({{"const", true}}, "the search was not finished"), kOptional}},
      "what produced the plan; the same values produce the same bytes");
}

json plan_pool_schema() {
  return object(
      {{"instanceType", text("EC2 instance type")},
       {"purchaseOption", text("on-demand, spot, reserved or a price plan of the scenario")},
       {"strategy", text("exclusive, timeSlicing, mps, mig, mig+timeSlicing, vgpu, ...")},
       {"replicas", whole("pods per GPU or, with MIG, per instance")},
       {"mig",
        list_of(object({{"profile", text("MIG profile")}, {"count", whole("of each GPU")}},
                       "instances of one profile"),
                "layout of every GPU"),
        kOptional},
       {"workloads", plan_texts("that run there")},
       {"migProfiles", plan_texts("of the pods of each workload"), kOptional},
       {"nodes", whole("0: no number of nodes helps")}},
      "one node pool");
}

json plan_objective_schema() {
  return object(
      {{"workload", text("workload or pipeline")},
       {"name", text("objective, as in the scenario")},
       {"unit", one_of({"seconds", "ratio", "perSecond", "number"}, "of limit, value and ci95")},
       {"atLeast", described({{"const", true}}, "the limit is a lower one"), kOptional},
       {"limit", number("at most, or at least")},
       {"value", number("over all runs")},
       {"ci95", number("half width"), kOptional},
       {"pass", truth("the value is within the limit")},
       {"ratio", number("of the limit that is used up; above 1 it is missed")}},
      "one objective");
}

std::vector<json_schema::Property> plan_figure_properties() {
  return {{"replications", whole("runs")},
          {"monthlyUsd", number("nodes x price x 730 h")},
          {"totalUsd", number("of the run, mean per replication")},
          {"per1kRequestsInSloUsd", number("total / thousands of requests in SLO"), kOptional},
          {"perJobUsd", number("total / jobs that were finished"), kOptional},
          {"objectives", list_of(plan_objective_schema(), "of all workloads and pipelines")},
          {"worstRatio", number("the largest of their ratios; 0 without objectives")},
          {"latencyP99Seconds", number("of the slowest Service or pipeline"), kOptional},
          {"gpuBusyRatio", ratio("kernels run, share of all GPU time")},
          {"failedPods", number("mean per replication")},
          {"oomKills", number("mean per replication")},
          {"runningMax", whole("pods")},
          {"pendingMax", whole("pods")},
          {"deniedBy", plan_texts("policies with severity Deny that fail"), kOptional},
          {"warnedBy", plan_texts("policies with severity Warn that fail"), kOptional},
          {"stands", truth("meets all objectives, loses no pod, and no policy denies it")}};
}

json plan_figures_schema() { return object(plan_figure_properties(), "what the simulation found"); }

json plan_option_schema(std::string_view description) {
  std::vector<json_schema::Property> properties = plan_figure_properties();
  properties.push_back({"pools", list_of(plan_pool_schema(), "empty: the scenario's own")});
  properties.push_back({"goal", number("what is minimised"), kOptional});
  properties.push_back(
      {"pareto",
       described({{"const", true}}, "no ranked option is both cheaper and further from its limits"),
       kOptional});
  return object(properties, description);
}

json plan_rejected_schema() {
  return object(
      {{"stage", one_of({"feasibility", "bound", "simulation"},
                        "it cannot run, a closed form rules it out, or it was simulated")},
       {"pool", plan_pool_schema()},
       {"code", text("stable code, if there is one"), kOptional},
       {"reason", text("one sentence")},
       {"figures", plan_figures_schema(), kOptional}},
      "a configuration that is not an option");
}

json plan_replicas_schema() {
  return object({{"points", list_of(object({{"replicas", whole("pods per GPU")},
                                            {"nodes", whole("as few as hold the pods")},
                                            {"refused", text("why it cannot run"), kOptional},
                                            {"figures", plan_figures_schema(), kOptional}},
                                           "one number of pods per GPU"),
                                    "from one on")},
                 {"knee", whole("pods per GPU beyond which the cost no longer falls"), kOptional},
                 {"binding", text("what stops more pods per GPU"), kOptional}},
                "the best option's GPUs shared among more and more pods");
}

json plan_flip_schema() {
  return object(
      {{"input", text("what changes")},
       {"factor", number("of its value in the scenario, where the best option is beaten")},
       {"holdsAt", number("the largest factor at which it was seen to hold")},
       {"missesObjective", truth("it misses an objective there; else it is dearer")},
       {"winner", plan_option_schema("the best of the ranked options then"), kOptional}},
      "a change at which another option is best");
}

}  // namespace

json plan_schema() {
  json schema = object(
      {{"apiVersion", {{"const", kPlanApiVersion}}},
       {"kind", {{"const", "Plan"}}},
       {"metadata", plan_metadata_schema()},
       {"options", list_of(plan_option_schema("a way to run all workloads"), "best first")},
       {"today", plan_option_schema("the scenario's own node pools"), kOptional},
       {"rejected", list_of(plan_rejected_schema(), "in the order of the search")},
       {"nearest", plan_texts("what would have to change, where there is no option"), kOptional},
       {"replicasCurve", plan_replicas_schema(), kOptional},
       {"headroom",
        object({{"passedFactor", number("times the load that the best option bears"), kOptional},
                {"failedFactor", number("times the load at which it breaks"), kOptional},
                {"binding", text("the objective that breaks first"), kOptional}},
               "of the best option"),
        kOptional},
       {"flips", list_of(plan_flip_schema(), "smallest change first")},
       {"counts",
        object({{"configurations", whole("instance type x purchase x strategy x replicas")},
                {"refused", whole("that cannot run")},
                {"bounded", whole("that closed forms rule out")},
                {"simulations", whole("that found the ranking")},
                {"exhaustive", whole("of every configuration with every number of nodes")},
                {"replications", whole("that were run in all")}},
               "what the search took")},
       {"inputs", object({{"measured", whole("inputs")},
                          {"catalog", whole("inputs")},
                          {"assumed", whole("inputs")},
                          {"assumedInputs", plan_texts("which")}},
                         "where the inputs of the best option come from")},
       {"notes", list_of(finding(), "what the user should know")}},
      "What `slicewise plan -o json` prints and `slicewise export` reads. SI units in the keys; "
      "fields that do not apply are absent. Keys are added, never renamed.");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise plan";
  return schema;
}

std::string plan_schema_json() { return json_text(plan_schema()); }

}  // namespace slicewise::reports
