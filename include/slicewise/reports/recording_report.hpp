#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/sim/recording.hpp"
#include "slicewise/units.hpp"

// A recording in the formats of tools that show time. Pure functions: same recording, same bytes.
namespace slicewise::reports {

// Chrome's JSON trace events, for ui.perfetto.dev (which uploads nothing). Process = node, thread =
// GPU and one lane per pod, counters for what is measured; what happens to the cluster as a whole
// is process 1. Times are of the simulation, in microseconds from the start of the run.
// Source of the format: "Trace Event Format", Google, the events X, C, M and i.
std::string perfetto_trace(const sim::Recording& recording);

struct OpenMetricsOptions {
  std::string scenario;         // label
  std::int64_t start_unix = 0;  // of the run, seconds since 1970-01-01 00:00 UTC
  bool dcgm_compat = false;     // also under the names of NVIDIA's dcgm-exporter, sim="true"
};

// OpenMetrics 1.0 text with timestamps, for `promtool tsdb create-blocks-from openmetrics`. One
// sample per series and bucket, at its end; totals count from the start of the run, warm-up
// included. The families are those of metric_families().
std::string openmetrics_text(const sim::Recording& recording, const OpenMetricsOptions& options);

// One metric family that openmetrics_text may write.
struct MetricFamily {
  std::string name;  // without _total, _bucket
  std::string type;  // "gauge", "counter", "histogram"
  std::string unit;  // "seconds", or "" when the name has none
  std::string help;
  bool dcgm = false;  // only with dcgm_compat
};
const std::vector<MetricFamily>& metric_families();

// A Grafana dashboard over these metrics, to be imported as it is; the data source is asked for.
std::string grafana_dashboard();

// Tables of a recording, each with a header (RFC 4180): nodes.csv, pods.csv (one row per phase),
// turns.csv, workloads.csv, objectives.csv, cost.csv and timeline.csv (one row per bucket and
// figure). Times are seconds from the start of the run.
struct CsvTable {
  std::string file;
  std::string text;
};
std::vector<CsvTable> recording_tables(const sim::Recording& recording);

}  // namespace slicewise::reports
