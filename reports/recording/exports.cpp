#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/reports/export.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/recording.hpp"

// The kinds of `slicewise export` that show a simulated run.
namespace slicewise::reports {
namespace {

// Prometheus takes a series for gone five minutes after its last sample: a bucket of a day should
// not be longer than one.
constexpr int kMetricBuckets = 1'500;

Expected<sim::Recording> recording_of(const scenarios::Scenario& scenario,
                                      const models::Catalogue& catalogue,
                                      const sim::RecordingLimits& limits) {
  const Expected<sim::World> world = sim::build_world(scenario, catalogue);
  if (!world) return tl::unexpected(world.error());
  return *sim::record(*world, limits);
}

std::string left_out_of(const CsvTable& table) {
  if (table.left_out == 0) return "";
  return fmt::format("{} holds the first {} rows, {} are left out", table.file, table.rows,
                     table.left_out) +
         (table.file == "requests.csv" ? "; --requests N raises the limit" : "");
}

}  // namespace

Expected<ExportFiles> render_perfetto(const scenarios::Scenario& scenario,
                                      const models::Catalogue& catalogue,
                                      const ExportOptions& /*options*/) {
  const Expected<sim::Recording> recording = recording_of(scenario, catalogue, {});
  if (!recording) return tl::unexpected(recording.error());
  return ExportFiles{{"trace.json", perfetto_trace(*recording)}};
}

Expected<ExportFiles> render_openmetrics(const scenarios::Scenario& scenario,
                                         const models::Catalogue& catalogue,
                                         const ExportOptions& options) {
  sim::RecordingLimits limits;
  limits.buckets = kMetricBuckets;
  limits.pods = 100;
  limits.turns = 0;
  const Expected<sim::Recording> recording = recording_of(scenario, catalogue, limits);
  if (!recording) return tl::unexpected(recording.error());
  OpenMetricsOptions metrics;
  metrics.scenario = options.scenario;
  metrics.start_unix =
      options.start_unix.value_or(kMetricsEpoch + scenario.start().ns / 1'000'000'000);
  metrics.dcgm_compat = options.dcgm_compat;
  return ExportFiles{{"metrics.txt", openmetrics_text(*recording, metrics)}};
}

Expected<ExportFiles> render_grafana(const scenarios::Scenario& /*scenario*/,
                                     const models::Catalogue& /*catalogue*/,
                                     const ExportOptions& /*options*/) {
  return ExportFiles{{"dashboard.json", grafana_dashboard()}};
}

Expected<ExportFiles> render_csv_tables(const scenarios::Scenario& scenario,
                                        const models::Catalogue& catalogue,
                                        const ExportOptions& options) {
  sim::RecordingLimits limits;
  limits.requests = options.most_requests;
  const Expected<sim::Recording> recording = recording_of(scenario, catalogue, limits);
  if (!recording) return tl::unexpected(recording.error());
  ExportFiles files;
  for (CsvTable& table : recording_tables(*recording)) {
    std::string left_out = left_out_of(table);
    files.push_back({std::move(table.file), std::move(table.text), false, std::move(left_out)});
  }
  return files;
}

}  // namespace slicewise::reports
