#include "replay_document.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/replay_report.hpp"
#include "slicewise/version.hpp"

#include "document_values.hpp"
#include "result_document.hpp"
#include "yaml_text.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using document::finding;
using document::in_dollars;
using document::in_seconds;
using document::list;
using document::number;
using document::present;
using document::text;

json positive(std::int64_t count) { return count > 0 ? json(count) : json(nullptr); }

json truth(bool value) { return value ? json(true) : json(nullptr); }

json times(const sim::Histogram& values) {
  if (values.count() == 0) return nullptr;
  return {{"mean", in_seconds(values.mean())},
          {"p50", in_seconds(values.quantile(0.5))},
          {"p90", in_seconds(values.quantile(0.9))},
          {"p99", in_seconds(values.quantile(0.99))}};
}

json size_class(const sim::ReplayClass& size) {
  return present({{"name", size.name},
                  {"finished", size.finished},
                  {"waitSeconds", times(size.wait)},
                  {"completionSeconds", times(size.completion)}});
}

json outcome(const sim::ReplayOutcome& each, bool on_nodes) {
  const sim::ReplayResult& r = each.result;
  return present(
      {{"queue", sim::policy_name(each.scheduling.queue)},
       {"placement", on_nodes ? json(sim::policy_name(each.scheduling.placement)) : json(nullptr)},
       {"jobs", r.jobs},
       {"finished", r.finished},
       {"neverFit", positive(r.never_fit)},
       {"withoutRunTime", positive(r.without_run)},
       {"startedAtOnce", r.started_at_once},
       {"preemptions", r.preemptions},
       {"mostWaiting", r.most_waiting},
       {"events", r.events},
       {"waitSeconds", times(r.wait)},
       {"completionSeconds", times(r.completion)},
       {"makespanSeconds", in_seconds(r.makespan())},
       {"gpuUtilization", number(r.utilization())},
       {"totalGpus", number(r.total_gpus)},
       {"peakGpus", number(r.peak_gpus)},
       {"gpuHours", number(r.gpu_hours)},
       {"lostGpuHours", r.lost_gpu_hours > 0 ? number(r.lost_gpu_hours) : json(nullptr)},
       {"perfectEstimates", truth(r.perfect_estimates)},
       {"costUsd", in_dollars(each.cost)},
       {"interrupted", truth(r.interrupted)},
       {"sizes", list(r.classes, size_class)}});
}

json metadata(const sim::ReplayOrigin& origin, std::uint64_t seed, bool interrupted) {
  return present({{"trace", origin.trace},
                  {"traceSha256", origin.trace_sha256},
                  {"cluster", origin.cluster},
                  {"seed", seed},
                  {"version", kVersion},
                  {"priceDate", text(origin.price_date)},
                  {"interrupted", truth(interrupted)}});
}

json seed_result(const sim::InflationResult& result) {
  return {{"allocatedRatio", number(result.allocated_percent / 100)},
          {"arrived", result.arrived},
          {"turnedDown", result.failed},
          {"curve", list(result.curve, [](const sim::InflationPoint& point) {
             return json{{"arrivedRatio", number(point.arrived_percent / 100.0)},
                         {"allocatedRatio", number(point.allocated_percent / 100)}};
           })}};
}

json inflation_outcome(const sim::InflationOutcome& each) {
  const auto deviation = each.standard_deviation();
  return present({{"placement", sim::policy_name(each.placement)},
                  {"allocatedRatio", number(each.mean_allocated_percent() / 100)},
                  {"standardDeviation", deviation ? number(*deviation / 100) : json(nullptr)},
                  {"seeds", list(each.by_seed, seed_result)}});
}

}  // namespace

json replay_document(const sim::ReplayStudy& study) {
  json about = metadata(study.origin, study.seed, study.interrupted);
  about["repeat"] = study.repeat;
  if (study.repeat > 1) about["shiftSeconds"] = in_seconds(study.shift);
  if (study.restart_preempted) about["restartPreempted"] = true;
  if (study.run_under_sharing) about["runTimesUnderSharing"] = true;
  return {{"apiVersion", kReplayApiVersion},
          {"kind", "Replay"},
          {"metadata", std::move(about)},
          {"schedulers",
           list(study.outcomes,
                [&](const sim::ReplayOutcome& each) { return outcome(each, study.on_nodes); })},
          {"notes", list(study.findings, finding)}};
}

json inflation_document(const sim::InflationStudy& study) {
  json about = metadata(study.origin, study.seed, study.interrupted);
  about["seeds"] = study.seeds;
  about["targetRatio"] = number(study.target_percent / 100.0);
  return {{"apiVersion", kReplayApiVersion},
          {"kind", "Inflation"},
          {"metadata", std::move(about)},
          {"placements", list(study.outcomes, inflation_outcome)}};
}

std::string replay_json(const sim::ReplayStudy& study) { return json_text(replay_document(study)); }

std::string replay_yaml(const sim::ReplayStudy& study) { return yaml_text(replay_document(study)); }

std::string inflation_json(const sim::InflationStudy& study) {
  return json_text(inflation_document(study));
}

std::string inflation_yaml(const sim::InflationStudy& study) {
  return yaml_text(inflation_document(study));
}

}  // namespace slicewise::reports
