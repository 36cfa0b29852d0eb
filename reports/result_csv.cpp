#include <array>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "result_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

enum class Level { Metadata, Variant, Workload };

// A column and where its value stands in the result document.
struct CsvColumn {
  std::string_view name;
  Level level;
  const char* pointer;
};

constexpr std::array kColumns = {
    CsvColumn{"scenario", Level::Metadata, "/scenario"},
    CsvColumn{"seed", Level::Metadata, "/seed"},
    CsvColumn{"variant", Level::Variant, "/name"},
    CsvColumn{"strategy", Level::Variant, "/strategy"},
    CsvColumn{"workload", Level::Workload, "/name"},
    CsvColumn{"kind", Level::Workload, "/kind"},
    CsvColumn{"unitName", Level::Workload, "/unitName"},
    CsvColumn{"completed", Level::Workload, "/completed"},
    CsvColumn{"throughputPerSecond", Level::Workload, "/throughputPerSecond"},
    CsvColumn{"goodputPerSecond", Level::Workload, "/goodputPerSecond"},
    CsvColumn{"refusedRequests", Level::Workload, "/refusedRequests"},
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
    CsvColumn{"podsRunningMax", Level::Variant, "/pods/runningMax"},
    CsvColumn{"podsPendingMax", Level::Variant, "/pods/pendingMax"},
    CsvColumn{"podsFailed", Level::Variant, "/pods/failed"},
    CsvColumn{"podsOomKilled", Level::Variant, "/pods/oomKilled"},
    CsvColumn{"makespanMeanSeconds", Level::Variant, "/makespanSeconds/mean"},
    CsvColumn{"variantTotalUsd", Level::Variant, "/cost/totalUsd"},
    CsvColumn{"variantPerJobUsd", Level::Variant, "/cost/perJobUsd"},
    CsvColumn{"variantPer1kRequestsInSloUsd", Level::Variant, "/cost/per1kRequestsInSloUsd"},
    CsvColumn{"variantReplications", Level::Variant, "/replications"},
    CsvColumn{"interrupted", Level::Metadata, "/interrupted"},
    CsvColumn{"priceDate", Level::Metadata, "/priceDate"},
    CsvColumn{"priceFile", Level::Metadata, "/priceFile"},
    CsvColumn{"priceFileSha256", Level::Metadata, "/priceFileSha256"},
    CsvColumn{"gpuFaults", Level::Variant, "/pods/gpuFaults"},
    CsvColumn{"faultVictims", Level::Variant, "/pods/faultVictims"},
    CsvColumn{"podsEvicted", Level::Variant, "/pods/evicted"},
};

// RFC 4180: quotes around what holds a comma, a quote or a line break, inner quotes doubled.
std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string field(const json& value) {
  if (value.is_string()) return csv_text(value.get_ref<const std::string&>());
  std::string text = json_text(value);
  text.pop_back();
  return text;
}

std::string row(const json& metadata, const json& variant, const json& workload) {
  std::string out;
  for (const CsvColumn& column : kColumns) {
    const json& source = column.level == Level::Metadata  ? metadata
                         : column.level == Level::Variant ? variant
                                                          : workload;
    const json::json_pointer pointer(column.pointer);
    if (&column != kColumns.data()) out += ',';
    if (source.contains(pointer)) out += field(source.at(pointer));
  }
  return out + "\r\n";
}

}  // namespace

std::string result_csv(const sim::Result& result) {
  const json document = result_document(result);
  std::string out;
  for (const CsvColumn& column : kColumns) {
    if (!out.empty()) out += ',';
    out += column.name;
  }
  out += "\r\n";
  for (const json& variant : document["variants"]) {
    for (const json& workload : variant["workloads"]) {
      out += row(document["metadata"], variant, workload);
    }
  }
  return out;
}

}  // namespace slicewise::reports
