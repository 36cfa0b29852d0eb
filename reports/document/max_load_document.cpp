#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "../screens/screens.hpp"
#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "document_text.hpp"
#include "documents.hpp"
#include "record_json.hpp"

namespace slicewise::sim {

template <>
struct Spelling<LoadVerdict> {
  static constexpr bool kListed = true;
  static constexpr LoadVerdict kAll[] = {LoadVerdict::Passes, LoadVerdict::Fails,
                                         LoadVerdict::Undecided};
  static std::string_view of(LoadVerdict verdict) { return reports::verdict_word(verdict); }
};

template <>
struct Spelling<LoadUnit> {
  static constexpr bool kListed = true;
  static constexpr LoadUnit kAll[] = {LoadUnit::RequestsPerSecond, LoadUnit::Users,
                                      LoadUnit::Streams, LoadUnit::JobsPerHour};
  static std::string_view of(LoadUnit unit) { return unit_name(unit); }
};

namespace {

constexpr std::string_view kMaxLoadApiVersion = "slicewise.dev/max-load.v1alpha1";

std::optional<double> headroom_of_load(const ScaledLoad& load) {
  return reports::headroom_of(load);
}

std::optional<double> factor_at(const MaxLoad& found, std::optional<std::size_t> probe) {
  return probe ? std::optional(found.probes[*probe].factor) : std::nullopt;
}
std::optional<double> passed_factor(const MaxLoad& f) { return factor_at(f, f.passed); }
std::optional<double> failed_factor(const MaxLoad& f) { return factor_at(f, f.failed); }

std::optional<ProbedObjective> binding_objective(const MaxLoad& found) {
  if (!found.failed || !found.binding) return std::nullopt;
  return found.probes[*found.failed].objectives[*found.binding];
}

const Record& max_load_metadata() {
  using M = MaxLoad;
  static const Record declared{
      "what produced the answer; the same values produce the same bytes",
      {stamp_field<M>("scenario").csv(1, "scenario"), stamp_field<M>("scenarioSha256"),
       stamp_field<M>("inputs"), stamp_field<M>("variant").csv(2, "variant"),
       stamp_field<M>("seed")
           .saying("seed of the random streams, the same for every probe")
           .csv(3, "seed"),
       stamp_field<M>("replications").saying("runs of a probe at first"),
       field<&M::most_replications>("mostReplications", "runs of a probe that stays undecided"),
       field<&M::precision>("precisionRatio", "width of the interval that was asked for"),
       field<&M::most>("mostFactor", "the highest load that was tried, over the scenario's"),
       stamp_field<M>("version"), stamp_field<M>("priceDate"), stamp_field<M>("priceFile"),
       stamp_field<M>("priceFileSha256"), stamp_field<M>("catalogueFiles"),
       stamp_field<M>("catalogueSha256"), stamp_field<M>("allowPending"),
       stamp_field<M>("startsAt"),
       field<&M::interrupted>("interrupted", "the search was not finished").optional()}};
  return declared;
}

const Record& workload_at_passed() {
  using W = WorkloadResult;
  static const Record declared = [] {
    const Record& whole = record_of<W>();
    return Record{
        "one workload at the highest load that passed",
        {whole.like("name"), whole.like("kind"), whole.like("throughputPerSecond").required(),
         whole.like("goodputPerSecond")
             .required()
             .saying("units that met every objective, per second"),
         field<&W::latency, &TimeSummary::p50>("latencyP50Seconds", "from arrival to response"),
         field<&W::latency, &TimeSummary::p95>("latencyP95Seconds", "from arrival to response"),
         field<&W::latency, &TimeSummary::p99>("latencyP99Seconds", "from arrival to response")}};
  }();
  return declared;
}

}  // namespace

const Record& at_passed_record() {
  using V = VariantResult;
  static const Record declared{
      "figures at the highest load that passed",
      {field<&V::makespan, &TimeSummary::mean>("lengthSeconds", "length of the run, mean"),
       cost_record().like("totalUsd").saying("nodes x time x price, mean per replication"),
       cost_record().like("per1kRequestsInSloUsd").csv(16, "per1kRequestsInSloUsd"),
       field<&V::workloads>("workloads", "in the order of the scenario").as(&workload_at_passed)}};
  return declared;
}

template <>
const Record& record_of<ScaledLoad>() {
  using L = ScaledLoad;
  static const Record declared{
      "one load that was scaled",
      {field<&L::path>("path", "what was scaled, as --scale takes it").csv(4, "path"),
       field<&L::name>("name", "workload or pipeline").csv(5, "name"),
       field<&L::unit>("unit", "of the loads").csv(6, "unit"),
       field<&L::scenario>("scenario", "load of the scenario").csv(7, "scenarioLoad"),
       field<&L::passed>("passed", "at the highest load that passed; absent when none did")
           .csv(8, "passedLoad"),
       field<&L::failed>("failed", "at the lowest load that failed; absent when none did")
           .csv(9, "failedLoad"),
       field<&headroom_of_load>("headroom", "passed / scenario").csv(10, "headroom")}};
  return declared;
}

template <>
const Record& record_of<ProbedObjective>() {
  using P = ProbedObjective;
  static const Record declared = [] {
    const auto like = [](std::string_view key) {
      return record_of<ObjectiveResult>().like(key).from<&P::result>();
    };
    return Record{
        "one objective at one load",
        {field<&P::workload>("workload", "workload or pipeline"), like("name"), like("unit"),
         like("atLeast"), like("limit"), like("value").saying("over all runs of the probe"),
         like("ci95").saying("half width"),
         like("pass").saying("the value over all runs is within the limit"),
         field<&P::verdict>("verdict",
                            "on which side of the limit the 95 % interval of "
                            "the runs lies")}};
  }();
  return declared;
}

template <>
const Record& record_of<LoadProbe>() {
  using P = LoadProbe;
  static const Record declared{
      "the scenario simulated at one load",
      {field<&P::factor>("factor", "load over the scenario's"),
       field<&P::replications>("replications", "runs that were done"),
       field<&P::verdict>("verdict",
                          "on which side of the limit the 95 % interval of the runs lies"),
       field<&P::left_behind>("lostPods",
                              "pods that were left behind, or requests of a Service without "
                              "objectives, or else a policy that denies it and holds at the "
                              "scenario's own load: then it fails")
           .optional(),
       field<&P::objectives>("objectives",
                             "those that it took to tell; the first probe and the ends of the "
                             "interval have those of all workloads and pipelines")}};
  return declared;
}

namespace {

// Of the objective that binds, only these two are columns.
const Record& binding_record() {
  static const Record declared = [] {
    Record record = record_of<ProbedObjective>();
    for (Field& field : record.fields) {
      if (field.key == "workload") field.csv_names = {{14, "bindingWorkload", ""}};
      if (field.key == "name") field.csv_names = {{15, "bindingObjective", ""}};
    }
    return record;
  }();
  return declared;
}

}  // namespace

template <>
const Record& record_of<MaxLoad>() {
  using M = MaxLoad;
  static const Record declared{
      "What `slicewise max-load -o json` prints. SI units in the keys; fields that do not apply "
      "are absent. Keys are added, never renamed.",
      {constant("apiVersion", kMaxLoadApiVersion), constant("kind", "MaxLoad"),
       group("metadata", &max_load_metadata), field<&M::loads>("loads", "all scaled by one factor"),
       field<&passed_factor>("passedFactor", "highest load that passed, over the scenario's")
           .csv(11, "passedFactor"),
       field<&failed_factor>("failedFactor", "lowest load that failed, over the scenario's")
           .csv(12, "failedFactor"),
       field<&M::width>("widthRatio", "failed / passed - 1").csv(13, "widthRatio"),
       field<&M::nothing_runs>("nothingRuns", "no pod ever ran").optional(),
       field<&M::verdict>("verdict", "at the scenario's own load"),
       field<&binding_objective>("binding",
                                 "the objective that is furthest beyond its limit at the lowest "
                                 "load that failed")
           .as(&binding_record),
       field<&M::at_passed>("atPassed").as(&at_passed_record),
       field<&M::probes>("probes", "in the order in which they were made"),
       field<&M::notes>("notes", "what was changed in the scenario to scale it")
           .as(&finding_record)}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

using nlohmann::json;

std::string csv_of(const sim::MaxLoad& found) {
  const json document = described_json(found);
  const DocumentCsv table(sim::record_of<sim::MaxLoad>());
  std::string out = table.header();
  for (const json& load : document["loads"]) out += table.row(document, load, json::object());
  return out;
}

}  // namespace slicewise::reports
