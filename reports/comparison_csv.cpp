#include <array>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/comparison_report.hpp"

#include "comparison_document.hpp"
#include "result_document.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

enum class Level { Metadata, Option, Workload };

// A column and where its value stands in the document. A refused option is an option with a
// message.
struct CsvColumn {
  std::string_view name;
  Level level;
  const char* pointer;
};

constexpr std::array kColumns = {
    CsvColumn{"scenario", Level::Metadata, "/scenario"},
    CsvColumn{"variant", Level::Metadata, "/variant"},
    CsvColumn{"seed", Level::Metadata, "/seed"},
    CsvColumn{"instanceType", Level::Option, "/instanceType"},
    CsvColumn{"strategy", Level::Option, "/strategy"},
    CsvColumn{"replicas", Level::Option, "/replicas"},
    CsvColumn{"migProfile", Level::Option, "/migProfile"},
    CsvColumn{"migInstancesPerGpu", Level::Option, "/migInstancesPerGpu"},
    CsvColumn{"nodes", Level::Option, "/nodes"},
    CsvColumn{"refusedCode", Level::Option, "/code"},
    CsvColumn{"refusedMessage", Level::Option, "/message"},
    CsvColumn{"best", Level::Option, "/best"},
    CsvColumn{"meetsObjectives", Level::Option, "/meetsObjectives"},
    CsvColumn{"losesPods", Level::Option, "/losesPods"},
    CsvColumn{"retired", Level::Option, "/retired"},
    CsvColumn{"forced", Level::Option, "/forced"},
    CsvColumn{"stock", Level::Option, "/stock"},
    CsvColumn{"memoryIsolation", Level::Option, "/isolation/memory"},
    CsvColumn{"computeIsolation", Level::Option, "/isolation/compute"},
    CsvColumn{"faultIsolation", Level::Option, "/isolation/fault"},
    CsvColumn{"podsRunningMax", Level::Option, "/pods/runningMax"},
    CsvColumn{"podsPendingMax", Level::Option, "/pods/pendingMax"},
    CsvColumn{"podsFailed", Level::Option, "/pods/failed"},
    CsvColumn{"podsOomKilled", Level::Option, "/pods/oomKilled"},
    CsvColumn{"gpuBusyRatio", Level::Option, "/gpuBusyRatio"},
    CsvColumn{"usdPerHour", Level::Option, "/cost/usdPerHour"},
    CsvColumn{"totalUsd", Level::Option, "/cost/totalUsd"},
    CsvColumn{"perJobUsd", Level::Option, "/cost/perJobUsd"},
    CsvColumn{"per1kRequestsInSloUsd", Level::Option, "/cost/per1kRequestsInSloUsd"},
    CsvColumn{"perWorkHourUsd", Level::Option, "/cost/perWorkHourUsd"},
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

std::string row(const json& metadata, const json& option, const json& workload) {
  std::string out;
  for (const CsvColumn& column : kColumns) {
    const json& source = column.level == Level::Metadata ? metadata
                         : column.level == Level::Option ? option
                                                         : workload;
    const json::json_pointer pointer(column.pointer);
    if (&column != kColumns.data()) out += ',';
    if (source.contains(pointer)) out += field(source.at(pointer));
  }
  return out + "\r\n";
}

}  // namespace

std::string comparison_csv(const sim::StrategyComparison& comparison) {
  const json document = comparison_document(comparison);
  const json& metadata = document["metadata"];
  std::string out;
  for (const CsvColumn& column : kColumns) {
    if (!out.empty()) out += ',';
    out += column.name;
  }
  out += "\r\n";
  for (const json& option : document["options"]) {
    for (const json& workload : option["workloads"]) out += row(metadata, option, workload);
  }
  for (const json& refused : document["refused"]) out += row(metadata, refused, json::object());
  return out;
}

}  // namespace slicewise::reports
