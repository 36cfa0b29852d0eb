#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../traces/trace_time.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostPointsAsked = 100'000'000;

// Resources that the importer reads, as kube-state-metrics spells them.
constexpr std::string_view kResourceMatcher =
    "{resource=~\"nvidia_com_.*|k8s_amazonaws_com_vgpu|cpu|memory|amd_com_gpu|aws_amazon_com_"
    "neuron.*\"}";

struct WantedSeries {
  std::string_view metric;
  std::string_view matchers;
};

constexpr std::array kWanted = {
    WantedSeries{"kube_pod_created", ""},
    WantedSeries{"kube_pod_status_scheduled_time", ""},
    WantedSeries{"kube_pod_start_time", ""},
    WantedSeries{"kube_pod_completion_time", ""},
    WantedSeries{"kube_pod_info", ""},
    WantedSeries{"kube_pod_status_phase", " == 1"},
    WantedSeries{"kube_pod_container_resource_requests", kResourceMatcher},
    WantedSeries{"kube_pod_init_container_resource_requests", kResourceMatcher},
    WantedSeries{"kube_node_labels", ""},
    WantedSeries{"DCGM_FI_DEV_GPU_UTIL", ""},
    WantedSeries{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", ""},
    WantedSeries{"DCGM_FI_DEV_FB_USED", ""},
};

// By RFC 3986.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string result;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

tl::unexpected<Diagnostics> wrong_window(Code code, std::string message, std::string help) {
  return tl::unexpected(
      Diagnostics{make_diagnostic(code, {}, std::move(message), std::move(help))});
}

}  // namespace

std::optional<std::int64_t> unix_seconds(const std::string& text) {
  const auto time = parse_trace_time(text);
  return time ? std::optional(*time / kSecond) : std::nullopt;
}

Expected<PrometheusWindow> prometheus_window(const std::string& start, const std::string& end,
                                             const std::string& step, std::int64_t now_s) {
  constexpr std::int64_t kDay = 86'400;
  PrometheusWindow window;
  const auto until = end.empty() ? std::optional(now_s) : unix_seconds(end);
  const auto since = start.empty() ? std::optional(until.value_or(0) - kDay) : unix_seconds(start);
  if (!until || !since) {
    return wrong_window(Code::FieldType, fmt::format("{} is no time", since ? "--end" : "--start"),
                        "write 2024-06-10T06:00:00Z or seconds since 1970");
  }
  window.start_s = *since;
  window.end_s = *until;
  if (!step.empty()) {
    const auto duration = parse_duration(step);
    if (!duration)
      return wrong_window(duration.error().code, "--step: " + duration.error().message,
                          duration.error().help);
    window.step_s = duration->ns / kSecond;
    if (window.step_s < 1 || duration->ns % kSecond != 0) {
      return wrong_window(Code::ValueRange, "--step is not in whole seconds", "write 60s");
    }
  }
  if (window.start_s < 0 || window.start_s >= window.end_s) {
    return wrong_window(Code::ValueRange, "--start is not before --end",
                        "write both as 2024-06-10T06:00:00Z");
  }
  if ((window.end_s - window.start_s) / window.step_s > kMostPointsAsked) {
    return wrong_window(Code::ValueRange, "more than 100000000 points of each series",
                        "a longer --step or a shorter time");
  }
  return window;
}

std::vector<PrometheusQuery> prometheus_queries(const PrometheusWindow& window) {
  std::vector<PrometheusQuery> queries;
  for (const WantedSeries& wanted : kWanted) {
    const std::string query =
        percent_encoded(std::string(wanted.metric) + std::string(wanted.matchers));
    const std::int64_t span = (kMostPoints - 1) * window.step_s;
    for (std::int64_t start = window.start_s; start <= window.end_s;
         start += span + window.step_s) {
      queries.push_back({std::string(wanted.metric),
                         fmt::format("/api/v1/query_range?query={}&start={}&end={}&step={}", query,
                                     start, std::min(window.end_s, start + span), window.step_s)});
    }
  }
  return queries;
}

}  // namespace slicewise::scenarios
