#include <array>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/comparison_report.hpp"

#include "comparison_document.hpp"
#include "csv_rows.hpp"
#include "result_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

using Level = CsvColumn::Level;

constexpr std::array kComparisonCsv = {
    CsvColumn{"scenario", Level::Metadata, "/scenario"},
    CsvColumn{"variant", Level::Metadata, "/variant"},
    CsvColumn{"seed", Level::Metadata, "/seed"},
    CsvColumn{"instanceType", Level::Item, "/instanceType"},
    CsvColumn{"strategy", Level::Item, "/strategy"},
    CsvColumn{"replicas", Level::Item, "/replicas"},
    CsvColumn{"migProfile", Level::Item, "/migProfile"},
    CsvColumn{"migInstancesPerGpu", Level::Item, "/migInstancesPerGpu"},
    CsvColumn{"nodes", Level::Item, "/nodes"},
    CsvColumn{"refusedCode", Level::Item, "/code"},
    CsvColumn{"refusedMessage", Level::Item, "/message"},
    CsvColumn{"best", Level::Item, "/best"},
    CsvColumn{"meetsObjectives", Level::Item, "/meetsObjectives"},
    CsvColumn{"losesPods", Level::Item, "/losesPods"},
    CsvColumn{"retired", Level::Item, "/retired"},
    CsvColumn{"forced", Level::Item, "/forced"},
    CsvColumn{"stock", Level::Item, "/stock"},
    CsvColumn{"memoryIsolation", Level::Item, "/isolation/memory"},
    CsvColumn{"computeIsolation", Level::Item, "/isolation/compute"},
    CsvColumn{"faultIsolation", Level::Item, "/isolation/fault"},
    CsvColumn{"podsRunningMax", Level::Item, "/pods/runningMax"},
    CsvColumn{"podsPendingMax", Level::Item, "/pods/pendingMax"},
    CsvColumn{"podsFailed", Level::Item, "/pods/failed"},
    CsvColumn{"podsOomKilled", Level::Item, "/pods/oomKilled"},
    CsvColumn{"gpuBusyRatio", Level::Item, "/gpuBusyRatio"},
    CsvColumn{"usdPerHour", Level::Item, "/cost/usdPerHour"},
    CsvColumn{"totalUsd", Level::Item, "/cost/totalUsd"},
    CsvColumn{"perJobUsd", Level::Item, "/cost/perJobUsd"},
    CsvColumn{"per1kRequestsInSloUsd", Level::Item, "/cost/per1kRequestsInSloUsd"},
    CsvColumn{"perWorkHourUsd", Level::Item, "/cost/perWorkHourUsd"},
    CsvColumn{"workload", Level::Workload, "/name"},
    CsvColumn{"kind", Level::Workload, "/kind"},
    CsvColumn{"unitName", Level::Workload, "/unitName"},
    CsvColumn{"completed", Level::Workload, "/completed"},
    CsvColumn{"throughputPerSecond", Level::Workload, "/throughputPerSecond"},
    CsvColumn{"goodputPerSecond", Level::Workload, "/goodputPerSecond"},
    CsvColumn{"latencyP50Seconds", Level::Workload, "/latencyP50Seconds"},
    CsvColumn{"latencyP95Seconds", Level::Workload, "/latencyP95Seconds"},
    CsvColumn{"latencyP99Seconds", Level::Workload, "/latencyP99Seconds"},
    CsvColumn{"jobCompletionP95Seconds", Level::Workload, "/jobCompletionP95Seconds"},
};

}  // namespace

std::string comparison_csv(const sim::StrategyComparison& comparison) {
  const json document = comparison_document(comparison);
  const json& metadata = document["metadata"];
  std::string out = csv_header(kComparisonCsv);
  for (const json& option : document["options"]) {
    for (const json& workload : option["workloads"])
      out += csv_row(kComparisonCsv, metadata, option, workload);
  }
  for (const json& refused : document["refused"])
    out += csv_row(kComparisonCsv, metadata, refused, json::object());
  return out;
}

}  // namespace slicewise::reports
