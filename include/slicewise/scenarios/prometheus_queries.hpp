#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

// What to ask a Prometheus server for `import prometheus`. The library opens no connection itself.
namespace slicewise::scenarios {

// From `start` to `end`, both included, every `step`. Unix seconds.
struct PrometheusWindow {
  std::int64_t start_s = 0;
  std::int64_t end_s = 0;
  std::int64_t step_s = 60;
};

// Points of a series that a server gives in one answer.
inline constexpr std::int64_t kMostPoints = 11'000;

// "2024-06-10T06:00:00Z" or seconds since 1970, as seconds since 1970; nullopt for anything else.
std::optional<std::int64_t> unix_seconds(const std::string& text);

// The window in words: Unix seconds or "2024-06-10T06:00:00Z", a duration for the step. Empty ones:
// until `now_s`, from a day before the end, every minute. VALUE_RANGE or FIELD_TYPE otherwise.
Expected<PrometheusWindow> prometheus_window(const std::string& start, const std::string& end,
                                             const std::string& step, std::int64_t now_s);

// One range query.
struct PrometheusQuery {
  std::string metric;  // what it asks for
  std::string path;    // "/api/v1/query_range?query=kube_pod_created&start=...&end=...&step=60"
};

// All series that import_log reads, cut so that no answer has more than kMostPoints of a series;
// one answer starts a step behind the last point of that before it.
std::vector<PrometheusQuery> prometheus_queries(const PrometheusWindow& window);

}  // namespace slicewise::scenarios
