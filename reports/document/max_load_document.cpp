#include "max_load_document.hpp"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/max_load_report.hpp"

#include "../screens/max_load_screen.hpp"
#include "document_values.hpp"
#include "result_document.hpp"
#include "yaml_text.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using sim::MaxLoad;

using document::finding;
using document::in_dollars;
using document::in_seconds;
using document::list;
using document::metadata_of;
using document::number;
using document::present;

json objective(const sim::ProbedObjective& probed) {
  json out = document::objective(probed.result);
  out["workload"] = probed.workload;
  out["verdict"] = verdict_word(probed.verdict);
  return out;
}

json probe(const sim::LoadProbe& p) {
  return {{"factor", number(p.factor)},
          {"replications", p.replications},
          {"verdict", verdict_word(p.verdict)},
          {"objectives", list(p.objectives, objective)}};
}

json load(const sim::ScaledLoad& l) {
  return present({{"path", l.path},
                  {"name", l.name},
                  {"unit", sim::unit_name(l.unit)},
                  {"scenario", number(l.scenario)},
                  {"passed", number(l.passed)},
                  {"failed", number(l.failed)},
                  {"headroom", number(headroom_of(l))}});
}

json quantile(const std::optional<sim::TimeSummary>& times, Duration sim::TimeSummary::*field) {
  return times && times->count > 0 ? in_seconds((*times).*field) : json(nullptr);
}

json workload(const sim::WorkloadResult& w) {
  return present({{"name", w.name},
                  {"kind", w.kind},
                  {"throughputPerSecond", number(w.throughput_per_second)},
                  {"goodputPerSecond", number(w.goodput_per_second)},
                  {"latencyP50Seconds", quantile(w.latency, &sim::TimeSummary::p50)},
                  {"latencyP95Seconds", quantile(w.latency, &sim::TimeSummary::p95)},
                  {"latencyP99Seconds", quantile(w.latency, &sim::TimeSummary::p99)}});
}

json at_passed(const sim::VariantResult& result) {
  return present({{"lengthSeconds", in_seconds(result.makespan.mean)},
                  {"totalUsd", in_dollars(result.cost.ledger.total)},
                  {"per1kRequestsInSloUsd", in_dollars(result.cost.per_1k_requests_in_slo)},
                  {"workloads", list(result.workloads, workload)}});
}

json metadata(const MaxLoad& found) {
  return metadata_of(found.stamp, found.interrupted,
                     {{"mostReplications", found.most_replications},
                      {"precisionRatio", number(found.precision)},
                      {"mostFactor", number(found.most)}});
}

json factor(const MaxLoad& found, std::optional<std::size_t> end) {
  return end ? number(found.probes[*end].factor) : json(nullptr);
}

json binding(const MaxLoad& found) {
  if (!found.failed || !found.binding) return nullptr;
  return objective(found.probes[*found.failed].objectives[*found.binding]);
}

}  // namespace

json max_load_document(const MaxLoad& found) {
  return present({{"apiVersion", kMaxLoadApiVersion},
                  {"kind", "MaxLoad"},
                  {"metadata", metadata(found)},
                  {"loads", list(found.loads, load)},
                  {"passedFactor", factor(found, found.passed)},
                  {"failedFactor", factor(found, found.failed)},
                  {"widthRatio", number(found.width())},
                  {"nothingRuns", found.nothing_runs ? json(true) : json(nullptr)},
                  {"binding", binding(found)},
                  {"atPassed", found.at_passed ? at_passed(*found.at_passed) : json(nullptr)},
                  {"probes", list(found.probes, probe)},
                  {"notes", list(found.notes, finding)}});
}

std::string max_load_json(const MaxLoad& found) { return json_text(max_load_document(found)); }

std::string max_load_yaml(const MaxLoad& found) { return yaml_text(max_load_document(found)); }

}  // namespace slicewise::reports
