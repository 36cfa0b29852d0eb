#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/neighbours_report.hpp"

#include "json_schema.hpp"
#include "neighbours_document.hpp"
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
using json_schema::text;
using json_schema::truth;
using json_schema::whole;

json metadata() {
  return object({{"scenario", text("metadata.name of the scenario")},
                 {"scenarioSha256", text("SHA-256 of the scenario, in hexadecimal")},
                 {"variant", text("which of its variants")},
                 {"seed", whole("seed of the random streams, the same in every company")},
                 {"replications", whole("runs of each company that were asked for")},
                 {"version", text("version of slicewise")},
                 {"interrupted", described({{"const", true}}, "only runs that had finished count"),
                  kOptional}},
                "what produced the matrix; the same values produce the same bytes");
}

std::vector<Property> effect_properties() {
  return {{"slowdown",
           number("the figure over the figure alone, mean of the ratios of all runs; absent when "
                  "nothing was observed"),
           kOptional},
          {"ci95", number("half width"), kOptional},
          {"sharesGpu", truth("containers of both were on one GPU, or MIG instance, at once")}};
}

json beside() {
  std::vector<Property> properties = effect_properties();
  properties.push_back({"workload", text("the neighbour")});
  return object(properties, "what one neighbour does");
}

json row() {
  return object(
      {{"workload", text("who suffers")},
       {"figure", one_of({"latencyP99", "latencyMean", "timePerUnit", "cellTime"},
                         "what is compared: latencies of a Service, container time per unit of a "
                         "Job or Deployment, time of a Notebook's cell over that on a free GPU")},
       {"aloneSeconds", number("the figure alone on the same pools"), kOptional},
       {"aloneRatio", number("the same, of cellTime"), kOptional},
       {"beside", list_of(beside(), "each other workload, in the order of the scenario")},
       {"besideAll", object(effect_properties(), "what all others together do")}},
      "one figure of one workload");
}

}  // namespace

std::string neighbours_schema_json() {
  json schema =
      object({{"apiVersion", {{"const", kNeighboursApiVersion}}},
              {"kind", {{"const", "Neighbours"}}},
              {"metadata", metadata()},
              {"workloads", list_of(text("workload"), "those that have pods")},
              {"rows", list_of(row(), "by workload; a Service has two")},
              {"notes", list_of(finding(), "what was changed in the scenario to take it apart")}},
             "What `slicewise neighbours -o json` prints. SI units in the keys; fields that do not "
             "apply are absent. Keys are added, never renamed.");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise neighbours";
  return json_text(schema);
}

}  // namespace slicewise::reports
