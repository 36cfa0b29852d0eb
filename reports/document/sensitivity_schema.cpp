#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/sensitivity_report.hpp"

#include "json_schema.hpp"
#include "result_document.hpp"
#include "sensitivity_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

json any_number(std::string_view description) {
  return json_schema::described({{"type", "number"}}, description);
}

json unit_schema() {
  return json_schema::one_of(
      {"usd", "usdPerHour", "seconds", "bytes", "perSecond", "ratio", "cores", "number"},
      "of the values beside it");
}

json metadata_schema() {
  return json_schema::object(
      {{"scenario", json_schema::text("metadata.name of the scenario")},
       {"scenarioSha256", json_schema::text("SHA-256 of the scenario, in hexadecimal")},
       {"variant", json_schema::text("which of its variants")},
       {"seed", json_schema::whole("seed of the random streams, the same for every simulation")},
       {"replications", json_schema::whole("runs of each simulation")},
       {"simulations", json_schema::whole("how many there were")},
       {"byRatio", json_schema::number("how far inputs were lowered and raised")},
       {"version", json_schema::text("version of slicewise")},
       {"priceDate", json_schema::text("date of the newest price in force, YYYY-MM-DD"),
        json_schema::kOptional},
       {"priceFile", json_schema::text("--prices file laid over the catalogue's prices"),
        json_schema::kOptional},
       {"priceFileSha256", json_schema::text("SHA-256 of that file, in hexadecimal"),
        json_schema::kOptional},
       {"interrupted", json_schema::described({{"const", true}}, "not every input was varied"),
        json_schema::kOptional}},
      "what produced the study; the same values produce the same bytes");
}

json figure_schema() {
  return json_schema::object(
      {{"workload", json_schema::text("workload or pipeline; absent: the whole scenario"),
        json_schema::kOptional},
       {"name",
        json_schema::text("monthlyUsd, per1kRequestsInSloUsd, perJobUsd, the objective that "
                          "is nearest to its limit, latencyP99 or jobCompletionP95")},
       {"unit", unit_schema()},
       {"value", json_schema::number("as the scenario is")},
       {"ci95", json_schema::number("half width"), json_schema::kOptional},
       {"limit", json_schema::number("of an objective: at most, or at least"),
        json_schema::kOptional},
       {"atLeast", json_schema::described({{"const", true}}, "the limit is a lower one"),
        json_schema::kOptional},
       {"pass", json_schema::truth("the value is within the limit"), json_schema::kOptional}},
      "a figure of the results");
}

json change_schema() {
  return json_schema::object(
      {{"workload", json_schema::text("as in figures"), json_schema::kOptional},
       {"name", json_schema::text("as in figures")},
       {"value", json_schema::number("with the input changed")},
       {"changeRatio", any_number("value / the scenario's - 1")},
       {"ci95Ratio", json_schema::number("half width, of the differences run by run"),
        json_schema::kOptional}},
      "how a figure changes");
}

json flip_schema() {
  return json_schema::object({{"workload", json_schema::text("workload or pipeline")},
                              {"name", json_schema::text("objective, as in the scenario")},
                              {"unit", unit_schema()},
                              {"value", json_schema::number("with the input changed")},
                              {"limit", json_schema::number("at most, or at least")},
                              {"pass", json_schema::truth("it passes now, and failed before")}},
                             "an objective that starts or stops failing");
}

json variation_schema(std::string_view description) {
  const json pods = json_schema::object(
      {{"oomKilled", json_schema::number("containers killed for lack of GPU memory")},
       {"failed", json_schema::number("pods that failed")},
       {"pendingMax", json_schema::whole("pods Pending at once, at most")}},
      "means per run");
  return json_schema::object(
      {{"factor", json_schema::number("value / the scenario's")},
       {"value", json_schema::number("of the input")},
       {"refused", json_schema::text("why it cannot be simulated"), json_schema::kOptional},
       {"changes", json_schema::list_of(change_schema(), "of the figures"), json_schema::kOptional},
       {"flips", json_schema::list_of(flip_schema(), "objectives"), json_schema::kOptional},
       {"pods", pods, json_schema::kOptional}},
      description);
}

json input_schema() {
  return json_schema::object(
      {{"path", json_schema::text("where it stands, as --vary takes it")},
       {"kind", json_schema::text("as `sensitivity.vary` of a scenario takes it")},
       {"unit", unit_schema()},
       {"value", json_schema::number("as the scenario or the catalogue has it")},
       {"basis",
        json_schema::one_of({"measured", "catalog", "assumed", "scenario"},
                            "how well it is known; scenario: it is decided, not measured")},
       {"largestChangeRatio", json_schema::number("of any figure, at either end")},
       {"low", variation_schema("the input lowered"), json_schema::kOptional},
       {"high", variation_schema("the input raised"), json_schema::kOptional}},
      "one input, varied alone");
}

json break_even_schema() {
  return json_schema::object(
      {{"path", json_schema::text("of the input")},
       {"unit", unit_schema()},
       {"passesFactor", json_schema::number("all objectives pass there"), json_schema::kOptional},
       {"failsFactor", json_schema::number("an objective fails there"), json_schema::kOptional},
       {"passes", json_schema::number("the input there"), json_schema::kOptional},
       {"fails", json_schema::number("the input there"), json_schema::kOptional},
       {"workload", json_schema::text("whose objective fails"), json_schema::kOptional},
       {"objective", json_schema::text("that fails"), json_schema::kOptional},
       {"simulations", json_schema::whole("that the search took")}},
      "how far an input may go before an objective fails");
}

}  // namespace

std::string sensitivity_schema_json() {
  json schema = json_schema::object(
      {{"apiVersion", {{"const", kSensitivityApiVersion}}},
       {"kind", {{"const", "Sensitivity"}}},
       {"metadata", metadata_schema()},
       {"nothingRuns", json_schema::described({{"const", true}}, "no pod ever ran"),
        json_schema::kOptional},
       {"figures", json_schema::list_of(figure_schema(), "of the scenario as it is")},
       {"inputs", json_schema::list_of(input_schema(), "those with most effect first")},
       {"breakEvens", json_schema::list_of(break_even_schema(),
                                           "of the inputs that move an "
                                           "objective most")}},
      "What `slicewise sensitivity -o json` prints. SI units; fields that do not "
      "apply are absent. Keys are added, never renamed.");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise sensitivity";
  return json_text(schema);
}

}  // namespace slicewise::reports
