#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "document_text.hpp"
#include "record_json.hpp"
#include "replay_origin_fields.hpp"

namespace slicewise::sim {
namespace {

std::string_view inflated_placement(const InflationOutcome& o) { return policy_name(o.placement); }

double arrived_share(const InflationPoint& p) { return p.arrived_percent / 100.0; }
double allocated_share(const InflationPoint& p) { return p.allocated_percent / 100; }
double allocated_of_seed(const InflationResult& r) { return r.allocated_percent / 100; }
double allocated_on_average(const InflationOutcome& o) { return o.mean_allocated_percent() / 100; }
std::optional<double> deviation_of(const InflationOutcome& o) {
  const auto deviation = o.standard_deviation();
  return deviation ? std::optional(*deviation / 100) : std::nullopt;
}
double target_share(const InflationStudy& s) { return s.target_percent / 100.0; }

const Record& inflation_metadata() {
  using S = InflationStudy;
  static const Record declared = [] {
    Record record{kReplayMetadata, origin_fields<S>()};
    record.fields.push_back(field<&S::origin, &ReplayOrigin::stamp, &Stamp::replications>(
        "seeds", "runs, with consecutive seeds"));
    record.fields.push_back(
        field<&target_share>("targetRatio", "GPUs asked for in the end / the cluster's"));
    return record;
  }();
  return declared;
}

}  // namespace

template <>
const Record& record_of<InflationPoint>() {
  static const Record declared{
      "one percent of the curve",
      {field<&arrived_share>("arrivedRatio", "GPUs asked for so far / the cluster's")
           .csv(5, "arrivedRatio"),
       field<&allocated_share>("allocatedRatio", "GPUs handed out / the cluster's")
           .of(Unit::Ratio)
           .csv(6, "allocatedRatio")}};
  return declared;
}

template <>
const Record& record_of<InflationResult>() {
  using R = InflationResult;
  static const Record declared{
      "one seed",
      {field<&allocated_of_seed>("allocatedRatio", "at the target").of(Unit::Ratio),
       field<&R::arrived>("arrived", "jobs"),
       field<&R::failed>("turnedDown", "jobs that fitted nowhere"),
       field<&R::curve>("curve", "by what arrived")}};
  return declared;
}

template <>
const Record& record_of<InflationOutcome>() {
  using O = InflationOutcome;
  static const Record declared{
      "one placement policy",
      {field<&inflated_placement>("placement", "which node a job gets").csv(3, "placement"),
       field<&allocated_on_average>("allocatedRatio", "at the target, mean over the seeds")
           .of(Unit::Ratio)
           .diff({.role = DiffFigure::Role::Load,
                  .rank = 1,
                  .title = "GPUs handed out",
                  .is_main = true}),
       field<&deviation_of>("standardDeviation", "of the seeds"),
       field<&O::by_seed>("seeds", "in order of seed")}};
  return declared;
}

template <>
const Record& record_of<InflationStudy>() {
  static const Record declared{
      "how much of a cluster a placement policy can hand out",
      {constant("apiVersion", kReplayApiVersion, "version of this format"),
       constant("kind", "Inflation", "what this document is"),
       group("metadata", &inflation_metadata),
       field<&InflationStudy::outcomes>("placements", "in the order asked for")}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

using nlohmann::json;

std::string csv_of(const sim::InflationStudy& study) {
  const json document = described_json(study);
  DocumentCsv table(sim::record_of<sim::InflationStudy>());
  table.add(4, "seed", "/seed");
  std::string out = table.header();
  for (const json& placement : document["placements"]) {
    std::uint64_t seed = study.origin.stamp.seed;
    for (const json& result : placement["seeds"]) {
      const json item = {{"placement", placement["placement"]}, {"seed", seed++}};
      for (const json& point : result["curve"]) out += table.row(document, item, point);
    }
  }
  return out;
}

}  // namespace slicewise::reports
