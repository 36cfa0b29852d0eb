#include <array>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "csv_rows.hpp"
#include "result_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using Level = CsvColumn::Level;

constexpr std::array kResultCsv = {
    CsvColumn{"scenario", Level::Metadata, "/scenario"},
    CsvColumn{"seed", Level::Metadata, "/seed"},
    CsvColumn{"variant", Level::Item, "/name"},
    CsvColumn{"strategy", Level::Item, "/strategy"},
    CsvColumn{"workload", Level::Workload, "/name"},
    CsvColumn{"kind", Level::Workload, "/kind"},
    CsvColumn{"unitName", Level::Workload, "/unitName"},
    CsvColumn{"completed", Level::Workload, "/completed"},
    CsvColumn{"throughputPerSecond", Level::Workload, "/throughputPerSecond"},
    CsvColumn{"goodputPerSecond", Level::Workload, "/goodputPerSecond"},
    CsvColumn{"jobCompletionMeanSeconds", Level::Workload, "/jobCompletionSeconds/mean"},
    CsvColumn{"jobCompletionCi95Seconds", Level::Workload, "/jobCompletionSeconds/ci95"},
    CsvColumn{"jobCompletionP50Seconds", Level::Workload, "/jobCompletionSeconds/p50"},
    CsvColumn{"jobCompletionP95Seconds", Level::Workload, "/jobCompletionSeconds/p95"},
    CsvColumn{"jobCompletionP99Seconds", Level::Workload, "/jobCompletionSeconds/p99"},
    CsvColumn{"waitMeanSeconds", Level::Workload, "/waitSeconds/mean"},
    CsvColumn{"waitP95Seconds", Level::Workload, "/waitSeconds/p95"},
    CsvColumn{"latencyMeanSeconds", Level::Workload, "/latencySeconds/mean"},
    CsvColumn{"latencyCi95Seconds", Level::Workload, "/latencySeconds/ci95"},
    CsvColumn{"latencyP50Seconds", Level::Workload, "/latencySeconds/p50"},
    CsvColumn{"latencyP95Seconds", Level::Workload, "/latencySeconds/p95"},
    CsvColumn{"latencyP99Seconds", Level::Workload, "/latencySeconds/p99"},
    CsvColumn{"latencyP999Seconds", Level::Workload, "/latencySeconds/p999"},
    CsvColumn{"gpuBusyShare", Level::Workload, "/gpuBusyShare"},
    CsvColumn{"boundBy", Level::Workload, "/boundBy"},
    CsvColumn{"podsRunningMax", Level::Item, "/pods/runningMax"},
    CsvColumn{"podsPendingMax", Level::Item, "/pods/pendingMax"},
    CsvColumn{"podsFailed", Level::Item, "/pods/failed"},
    CsvColumn{"podsOomKilled", Level::Item, "/pods/oomKilled"},
    CsvColumn{"makespanMeanSeconds", Level::Item, "/makespanSeconds/mean"},
    CsvColumn{"variantTotalUsd", Level::Item, "/cost/totalUsd"},
    CsvColumn{"variantPerJobUsd", Level::Item, "/cost/perJobUsd"},
    CsvColumn{"variantPer1kRequestsInSloUsd", Level::Item, "/cost/per1kRequestsInSloUsd"},
    CsvColumn{"variantReplications", Level::Item, "/replications"},
    CsvColumn{"interrupted", Level::Metadata, "/interrupted"},
    CsvColumn{"priceDate", Level::Metadata, "/priceDate"},
    CsvColumn{"priceFile", Level::Metadata, "/priceFile"},
    CsvColumn{"priceFileSha256", Level::Metadata, "/priceFileSha256"},
    CsvColumn{"gpuFaults", Level::Item, "/pods/gpuFaults"},
    CsvColumn{"faultVictims", Level::Item, "/pods/faultVictims"},
    CsvColumn{"podsEvicted", Level::Item, "/pods/evicted"},
    CsvColumn{"requestsArrived", Level::Workload, "/requests/arrived"},
    CsvColumn{"requestsAnswered", Level::Workload, "/requests/answered"},
    CsvColumn{"requestsInObjectives", Level::Workload, "/requests/inObjectives"},
    CsvColumn{"requestsRefused", Level::Workload, "/requests/refused"},
    CsvColumn{"requestsDropped", Level::Workload, "/requests/dropped"},
    CsvColumn{"requestsTimedOut", Level::Workload, "/requests/timedOut"},
    CsvColumn{"requestsRetried", Level::Workload, "/requests/retried"},
    CsvColumn{"availability", Level::Workload, "/requests/availability"},
    CsvColumn{"meanInSystem", Level::Workload, "/requests/meanInSystem"},
    CsvColumn{"meanBatch", Level::Workload, "/requests/meanBatch"},
    CsvColumn{"latencyP99Ci95Seconds", Level::Workload, "/latencySeconds/p99Ci95"},
    CsvColumn{"queueingP95Seconds", Level::Workload, "/queueingSeconds/p95"},
    CsvColumn{"ttftP95Seconds", Level::Workload, "/tokens/firstTokenSeconds/p95"},
    CsvColumn{"ttftP99Seconds", Level::Workload, "/tokens/firstTokenSeconds/p99"},
    CsvColumn{"tpotP95Seconds", Level::Workload, "/tokens/perTokenSeconds/p95"},
    CsvColumn{"outputTokensPerSecond", Level::Workload, "/tokens/outputPerSecond"},
    CsvColumn{"preemptions", Level::Workload, "/tokens/preemptions"},
    CsvColumn{"perMillionOutputTokensUsd", Level::Workload, "/tokens/perMillionOutputUsd"},
    CsvColumn{"replicasMean", Level::Workload, "/scaling/replicasMean"},
    CsvColumn{"replicasMax", Level::Workload, "/scaling/replicasMax"},
    CsvColumn{"startUpP95Seconds", Level::Workload, "/scaling/startUpSeconds/p95"},
    CsvColumn{"sessions", Level::Workload, "/notebooks/sessions"},
    CsvColumn{"sessionStartP95Seconds", Level::Workload, "/notebooks/sessionStartSeconds/p95"},
    CsvColumn{"cellSlowdownP95", Level::Workload, "/notebooks/cellSlowdown/p95"},
    CsvColumn{"oomPerUserMonth", Level::Workload, "/notebooks/oomPerUserMonth"},
    CsvColumn{"perActiveUserMonthUsd", Level::Workload, "/notebooks/perActiveUserMonthUsd"},
    CsvColumn{"variantThrashUsd", Level::Item, "/cost/thrashUsd"},
    CsvColumn{"nodeStartUpMeanSeconds", Level::Item, "/nodeStartUp/totalSeconds/mean"},
};

}  // namespace

std::string result_csv(const sim::Result& result) {
  const json document = result_document(result);
  std::string out = csv_header(kResultCsv);
  for (const json& variant : document["variants"]) {
    for (const json& workload : variant["workloads"]) {
      out += csv_row(kResultCsv, document["metadata"], variant, workload);
    }
  }
  return out;
}

}  // namespace slicewise::reports
