#include "metric_samples.hpp"

#include <fmt/format.h>

#include "slicewise/printable.hpp"
#include "slicewise/reports/result_report.hpp"

namespace slicewise::reports {

// Names as Prometheus recommends: base units, _total for what only grows. The order is that of the
// text. Source of the dcgm-exporter names and units: NVIDIA/dcgm-exporter,
// etc/dcp-metrics-included.csv (there DCGM_FI_PROF_SM_ACTIVE is commented out: it has to be
// switched on before real and simulated values can be compared).
const std::vector<MetricFamily>& metric_families() {
  static const std::vector<MetricFamily> families = {
      {"slicewise_gpu_time_busy_ratio", "gauge", "ratio",
       "Share of the bucket in which some kernel ran"},
      {"slicewise_gpu_sm_active_ratio", "gauge", "ratio",
       "Streaming multiprocessors with work, mean over the bucket"},
      {"slicewise_gpu_context_switch_ratio", "gauge", "ratio",
       "Share of the bucket that went into switching contexts"},
      {"slicewise_gpu_memory_used_bytes", "gauge", "bytes", "Most memory held in the bucket"},
      {"slicewise_gpu_memory_total_bytes", "gauge", "bytes", "Memory that processes can use"},
      {"slicewise_pod_gpu_seconds", "counter", "seconds",
       "Time in which kernels of the pod ran, all its GPUs added up"},
      {"slicewise_workload_gpu_seconds", "counter", "seconds",
       "Time in which kernels of the workload ran, a MIG instance with its part of the GPU"},
      {"slicewise_pods_running", "gauge", "", "Pods at work or ready for it"},
      {"slicewise_completed", "counter", "", "Jobs, container runs or notebook cells finished"},
      {"slicewise_requests", "counter", "",
       "Requests that are over: in_slo, late, or error (refused, dropped, timed out)"},
      {"slicewise_requests_arrived", "counter", "", "Requests that came"},
      {"slicewise_requests_waiting", "gauge", "", "Requests that wait for a worker or the GPU"},
      {"slicewise_requests_in_system", "gauge", "", "Requests that are not over"},
      {"slicewise_request_duration_seconds", "histogram", "seconds",
       "From arrival to answer, of answered requests"},
      {"slicewise_request_duration_p50_seconds", "gauge", "seconds",
       "Median of the bucket's answers, within 0.4 %"},
      {"slicewise_request_duration_p99_seconds", "gauge", "seconds",
       "99th percentile of the bucket's answers, within 0.4 %"},
      {"slicewise_request_duration_limit_seconds", "gauge", "seconds",
       "Latency beyond which a request misses its objective"},
      {"slicewise_nodes", "gauge", "", "Nodes of the pool, by state: ready or billed"},
      {"slicewise_cost_usd", "counter", "usd", "Bill of the nodes so far, in US dollars"},
      {"slicewise_run_cost_usd", "gauge", "usd",
       "Bill of the whole run by where the money went, in US dollars; the same at all times"},
      {"slicewise_slo_ok", "gauge", "",
       "1 when the whole run meets the objective, with its interval, else 0; the same at all "
       "times"},
      {"slicewise_advice_timestamp_seconds", "gauge", "seconds",
       "When `slicewise advise` read the cluster, since 1970"},
      {"slicewise_advice_assumed_workloads", "gauge", "",
       "Workloads of whose load and GPU time nothing is known: as long as there are any, nothing "
       "is "
       "the best"},
      {"slicewise_advice_monthly_usd", "gauge", "usd",
       "A month of the pools of today, or of the best that `slicewise advise` found, in US "
       "dollars"},
      {"slicewise_advice_ok", "gauge", "",
       "1 when these pools stand in the simulation (slicewise explain verdict), else 0"},
      {"slicewise_advice_nodes", "gauge", "", "Nodes of each of these pools"},
      {"slicewise_advice_deviation_ratio", "gauge", "ratio",
       "How far the simulation of today is from what was recorded, as a share of that"},
      {"DCGM_FI_DEV_GPU_UTIL", "gauge", "", "GPU utilization (in %)", true},
      {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", "", "Ratio of time the graphics engine is active",
       true},
      {"DCGM_FI_PROF_SM_ACTIVE", "gauge", "",
       "The ratio of cycles an SM has at least 1 warp assigned", true},
      {"DCGM_FI_DEV_FB_USED", "gauge", "", "Framebuffer memory used (in MiB)", true},
      {"DCGM_FI_DEV_FB_FREE", "gauge", "", "Framebuffer memory free (in MiB)", true},
  };
  return families;
}

namespace {

std::string escaped_label(std::string_view value) {
  std::string out;
  for (const char c : printable(value, "\n")) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string label_list(Labels labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;  // the same as absent
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped_label(value));
  }
  return out;
}

}  // namespace

MetricSamples::MetricSamples(Labels common, std::int64_t start_unix)
    : common_(label_list(common)), start_unix_(start_unix) {}

MetricSamples::Series& MetricSamples::Series::at(TimePoint when, double value) {
  const std::int64_t ms = when.ns / 1'000'000;
  if (ms == last_ms_) return *this;
  last_ms_ = ms;
  *text_ += fmt::format("{} {:.9g} {}.{:03}\n", head_, value, start_unix_ + ms / 1000, ms % 1000);
  return *this;
}

MetricSamples::Series MetricSamples::series(std::string_view family, std::string_view suffix,
                                            Labels labels) {
  const std::string own = label_list(labels);
  return {families_[std::string(family)],
          fmt::format("{}{}{{{}{}{}}}", family, suffix, common_, own.empty() ? "" : ",", own),
          start_unix_};
}

std::string MetricSamples::text() const {
  std::string out;
  for (const MetricFamily& family : metric_families()) {
    const auto samples = families_.find(family.name);
    if (samples == families_.end() || samples->second.empty()) continue;
    out += fmt::format("# TYPE {} {}\n", family.name, family.type);
    if (!family.unit.empty()) out += fmt::format("# UNIT {} {}\n", family.name, family.unit);
    out += fmt::format("# HELP {} {}\n", family.name, family.help);
    out += samples->second;
  }
  return out + "# EOF\n";
}

std::string bound_text(Duration bound) {
  if (bound == kNoBound) return "+Inf";
  std::string text = fmt::format("{:.9g}", to_seconds(bound));
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace slicewise::reports
