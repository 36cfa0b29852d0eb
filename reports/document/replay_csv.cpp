#include <array>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/replay_report.hpp"

#include "csv_rows.hpp"
#include "replay_document.hpp"

namespace slicewise::reports {
namespace {

using Level = CsvColumn::Level;

// A size of job stands where other reports have a workload.
constexpr std::array kReplayColumns = {
    CsvColumn{"trace", Level::Metadata, "/trace"},
    CsvColumn{"cluster", Level::Metadata, "/cluster"},
    CsvColumn{"seed", Level::Metadata, "/seed"},
    CsvColumn{"queue", Level::Item, "/queue"},
    CsvColumn{"placement", Level::Item, "/placement"},
    CsvColumn{"size", Level::Workload, "/name"},
    CsvColumn{"finished", Level::Workload, "/finished"},
    CsvColumn{"waitMeanSeconds", Level::Workload, "/waitSeconds/mean"},
    CsvColumn{"waitP50Seconds", Level::Workload, "/waitSeconds/p50"},
    CsvColumn{"waitP90Seconds", Level::Workload, "/waitSeconds/p90"},
    CsvColumn{"waitP99Seconds", Level::Workload, "/waitSeconds/p99"},
    CsvColumn{"completionMeanSeconds", Level::Workload, "/completionSeconds/mean"},
    CsvColumn{"makespanSeconds", Level::Item, "/makespanSeconds"},
    CsvColumn{"gpuUtilization", Level::Item, "/gpuUtilization"},
    CsvColumn{"peakGpus", Level::Item, "/peakGpus"},
    CsvColumn{"preemptions", Level::Item, "/preemptions"},
    CsvColumn{"costUsd", Level::Item, "/costUsd"},
};

constexpr std::array kInflationColumns = {
    CsvColumn{"trace", Level::Metadata, "/trace"},
    CsvColumn{"cluster", Level::Metadata, "/cluster"},
    CsvColumn{"placement", Level::Item, "/placement"},
    CsvColumn{"seed", Level::Item, "/seed"},
    CsvColumn{"arrivedRatio", Level::Workload, "/arrivedRatio"},
    CsvColumn{"allocatedRatio", Level::Workload, "/allocatedRatio"},
};

// "1234.5": all digits that there are.
std::string seconds_text(std::int64_t ns) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const std::string sign = ns < 0 ? "-" : "";
  const auto magnitude = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
  std::string text =
      fmt::format("{}{}.{:09}", sign, magnitude / kNsPerSecond, magnitude % kNsPerSecond);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string time_text(TimePoint at) { return at == kNever ? "" : seconds_text(at.ns); }

}  // namespace

std::string replay_csv(const sim::ReplayStudy& study) {
  const nlohmann::json document = replay_document(study);
  std::string out = csv_header(kReplayColumns);
  for (const auto& scheduler : document["schedulers"]) {
    nlohmann::json all = scheduler;
    all["name"] = "all";
    out += csv_row(kReplayColumns, document["metadata"], scheduler, all);
    for (const auto& size : scheduler["sizes"]) {
      out += csv_row(kReplayColumns, document["metadata"], scheduler, size);
    }
  }
  return out;
}

std::string inflation_csv(const sim::InflationStudy& study) {
  const nlohmann::json document = inflation_document(study);
  std::string out = csv_header(kInflationColumns);
  for (const auto& placement : document["placements"]) {
    std::uint64_t seed = study.seed;
    for (const auto& result : placement["seeds"]) {
      const nlohmann::json item = {{"placement", placement["placement"]}, {"seed", seed++}};
      for (const auto& point : result["curve"]) {
        out += csv_row(kInflationColumns, document["metadata"], item, point);
      }
    }
  }
  return out;
}

std::string job_times_csv(const scenarios::JobTrace& trace, const sim::ReplayStudy& study) {
  std::string out = "id,gpus,arrival_s,start_s,end_s\n";
  if (study.outcomes.empty()) return out;
  const std::vector<sim::JobTimes>& times = study.outcomes.front().result.job_times;
  for (std::size_t job = 0; job < times.size(); ++job) {
    const std::size_t row = job % trace.size();
    const auto repetition = static_cast<std::int64_t>(job / trace.size());
    const Duration arrival = trace.arrival[row] + study.shift * repetition;
    const std::string id =
        trace.id.empty() ? std::to_string(row + 1) : std::string(trace.name(trace.id, row));
    out += csv_text(id);
    out += fmt::format(",{},{},{},{}\n", trace.gpus[row], seconds_text(arrival.ns),
                       time_text(times[job].start), time_text(times[job].end));
  }
  return out;
}

}  // namespace slicewise::reports
