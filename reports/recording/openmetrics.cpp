#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/printable.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/metrics/cost_ledger.hpp"
#include "slicewise/units.hpp"

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

// Label names and values in the order in which they are written.
using Labels = std::initializer_list<std::pair<std::string_view, std::string>>;

std::string escaped_label(std::string_view value) {
  std::string out;
  for (const char c : printable(value, "\n")) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
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

// The samples of an OpenMetrics text, family by family. Within one, all samples of a series follow
// each other, as the format wants it: write one series after the other.
class MetricSamples {
 public:
  // `common`: labels of every sample. `start_unix`: seconds.
  MetricSamples(Labels common, std::int64_t start_unix)
      : common_(label_list(common)), start_unix_(start_unix) {}

  // One series. Samples come in order of time; of two in the same millisecond the first stays.
  class Series {
   public:
    Series& at(TimePoint when, double value) {
      const std::int64_t ms = when.ns / 1'000'000;
      if (ms == last_ms_) return *this;
      last_ms_ = ms;
      *text_ +=
          fmt::format("{} {:.9g} {}.{:03}\n", head_, value, start_unix_ + ms / 1000, ms % 1000);
      return *this;
    }

   private:
    friend class MetricSamples;
    Series(std::string& text, std::string head, std::int64_t start_unix)
        : text_(&text), head_(std::move(head)), start_unix_(start_unix) {}
    std::string* text_;
    std::string head_;
    std::int64_t start_unix_;
    std::int64_t last_ms_ = -1;
  };

  // `family` is one of metric_families(); `suffix` what its type adds: "_total", "_bucket".
  Series series(std::string_view family, std::string_view suffix, Labels labels) {
    const std::string own = label_list(labels);
    return {families_[std::string(family)],
            fmt::format("{}{}{{{}{}{}}}", family, suffix, common_, own.empty() ? "" : ",", own),
            start_unix_};
  }

  // The whole text, `# EOF` included. Families without samples are left out.
  std::string text() const {
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

 private:
  std::string common_;
  std::int64_t start_unix_;
  std::map<std::string, std::string, std::less<>> families_;
};

constexpr Duration kNoBound{INT64_MAX};

// As the format wants bounds written: "0.005", "1.0", "+Inf" for kNoBound.
std::string bound_text(Duration bound) {
  if (bound == kNoBound) return "+Inf";
  std::string text = fmt::format("{:.9g}", to_seconds(bound));
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

using sim::RecordedGpu;
using sim::RecordedWorkload;
using sim::Recording;

class OpenMetricsWriter {
 public:
  OpenMetricsWriter(const Recording& recording, const OpenMetricsOptions& options)
      : recording_(recording),
        dcgm_(options.dcgm_compat),
        samples_({{"scenario", options.scenario},
                  {"candidate", recording.variant},
                  {"strategy", recording.strategy}},
                 options.start_unix) {}

  std::string write() {
    for (const RecordedGpu& gpu : recording_.gpus) {
      add_gpu(gpu);
      if (dcgm_) add_dcgm(gpu);
    }
    for (const sim::RecordedPod& pod : recording_.pods) {
      const RecordedWorkload& workload = recording_.workloads[pod.workload];
      add_gpu_seconds(
          "slicewise_pod_gpu_seconds", pod.gpu_busy,
          {{"namespace", workload.namespace_name}, {"pod", pod.name}, {"workload", workload.name}});
    }
    for (const RecordedWorkload& workload : recording_.workloads) add_workload(workload);
    add_nodes();
    add_run();
    return samples_.text();
  }

 private:
  // One sample at the end of each bucket.
  template <class ValueOf>
  void gauge(std::string_view family, Labels labels, const ValueOf& value_of) {
    auto series = samples_.series(family, "", labels);
    for (std::size_t n = 0; n < recording_.buckets(); ++n) {
      series.at(recording_.bucket_end(n), value_of(n));
    }
  }

  // From 0 at the start of the run.
  template <class GainOf>
  void counter(std::string_view family, std::string_view suffix, Labels labels,
               const GainOf& gain_of) {
    auto series = samples_.series(family, suffix, labels);
    series.at({}, 0);
    double total = 0;
    for (std::size_t n = 0; n < recording_.buckets(); ++n) {
      total += gain_of(n);
      series.at(recording_.bucket_end(n), total);
    }
  }

  void counts(std::string_view family, Labels labels, const std::vector<std::int64_t>& gains) {
    counter(family, "_total", labels, [&](std::size_t n) { return static_cast<double>(gains[n]); });
  }

  void add_gpu_seconds(std::string_view family, const std::vector<Duration>& busy, Labels labels) {
    counter(family, "_total", labels, [&](std::size_t n) { return to_seconds(busy[n]); });
  }

  double share_of_bucket(const std::vector<Duration>& series, std::size_t n) const {
    const TimePoint from = n == 0 ? TimePoint{} : recording_.bucket_end(n - 1);
    return to_seconds(series[n]) / std::max(1e-9, to_seconds(recording_.bucket_end(n) - from));
  }

  void add_gpu(const RecordedGpu& gpu) {
    const auto labelled = [&](std::string_view family, const auto& value_of) {
      const std::string instance = gpu.partition.empty() ? "" : fmt::format("{}", gpu.instance);
      gauge(family,
            {{"node", gpu.node},
             {"gpu", fmt::format("{}", gpu.index)},
             {"mig_profile", gpu.partition},
             {"mig_instance", instance},
             {"model", gpu.model}},
            value_of);
    };
    const auto share = [&](const std::vector<Duration>& series) {
      return [this, &series](std::size_t n) { return share_of_bucket(series, n); };
    };
    labelled("slicewise_gpu_time_busy_ratio", share(gpu.busy));
    if (!gpu.sm_active.empty()) labelled("slicewise_gpu_sm_active_ratio", share(gpu.sm_active));
    labelled("slicewise_gpu_context_switch_ratio", share(gpu.switching));
    labelled("slicewise_gpu_memory_used_bytes",
             [&](std::size_t n) { return static_cast<double>(gpu.memory[n].count); });
    labelled("slicewise_gpu_memory_total_bytes",
             [&](std::size_t) { return static_cast<double>(gpu.memory_total.count); });
  }

  // Labels as dcgm-exporter has them. Which pod used the device is left out: NVML does not say it
  // of a GPU that several share.
  void add_dcgm(const RecordedGpu& gpu) {
    const bool is_instance = !gpu.partition.empty();
    const auto labelled = [&](std::string_view family, const auto& value_of) {
      gauge(family,
            {{"gpu", fmt::format("{}", gpu.index)},
             {"UUID", fmt::format("GPU-sim-{}-{}", gpu.node, gpu.index)},
             {"device", fmt::format("nvidia{}", gpu.index)},
             {"modelName", gpu.model},
             {"Hostname", gpu.node},
             {"GPU_I_PROFILE", gpu.partition},
             {"GPU_I_ID", is_instance ? fmt::format("{}", gpu.instance) : ""},
             {"sim", "true"}},
            value_of);
    };
    constexpr double kMiB = 1'048'576;
    const auto used = [&](std::size_t n) { return static_cast<double>(gpu.memory[n].count); };
    // NVML has no utilisation of MIG instances.
    if (!is_instance) {
      labelled("DCGM_FI_DEV_GPU_UTIL",
               [&](std::size_t n) { return 100 * share_of_bucket(gpu.busy, n); });
    }
    labelled("DCGM_FI_PROF_GR_ENGINE_ACTIVE",
             [&](std::size_t n) { return share_of_bucket(gpu.busy, n); });
    if (!gpu.sm_active.empty()) {
      labelled("DCGM_FI_PROF_SM_ACTIVE",
               [&](std::size_t n) { return share_of_bucket(gpu.sm_active, n); });
    }
    labelled("DCGM_FI_DEV_FB_USED", [&](std::size_t n) { return used(n) / kMiB; });
    labelled("DCGM_FI_DEV_FB_FREE", [&](std::size_t n) {
      return (static_cast<double>(gpu.memory_total.count) - used(n)) / kMiB;
    });
  }

  void add_workload(const RecordedWorkload& workload) {
    const Labels labels = {{"namespace", workload.namespace_name}, {"workload", workload.name}};
    if (!workload.gpu_busy.empty()) {
      add_gpu_seconds("slicewise_workload_gpu_seconds", workload.gpu_busy, labels);
      gauge("slicewise_pods_running", labels,
            [&](std::size_t n) { return static_cast<double>(workload.running[n]); });
    }
    if (workload.arrived.empty()) {
      return counts("slicewise_completed", labels, workload.completed);
    }
    counts("slicewise_requests_arrived", labels, workload.arrived);
    add_results(workload);
    gauge("slicewise_requests_in_system", labels,
          [&](std::size_t n) { return static_cast<double>(workload.in_system[n]); });
    if (!workload.waiting.empty()) {
      gauge("slicewise_requests_waiting", labels,
            [&](std::size_t n) { return static_cast<double>(workload.waiting[n]); });
    }
    add_durations(workload, labels);
  }

  void add_results(const RecordedWorkload& workload) {
    const auto add = [&](const char* result, const auto& gain_of) {
      counter(
          "slicewise_requests", "_total",
          {{"namespace", workload.namespace_name}, {"workload", workload.name}, {"result", result}},
          gain_of);
    };
    add("in_slo", [&](std::size_t n) {
      return static_cast<double>(workload.completed[n] - workload.late[n]);
    });
    add("late", [&](std::size_t n) { return static_cast<double>(workload.late[n]); });
    add("error", [&](std::size_t n) { return static_cast<double>(workload.lost[n]); });
  }

  void add_durations(const RecordedWorkload& workload, Labels labels) {
    constexpr std::string_view kFamily = "slicewise_request_duration_seconds";
    const std::size_t bounds = workload.latency_bounds.size();
    const auto add_bound = [&](Duration bound, const auto& gain_of) {
      counter(kFamily, "_bucket",
              {{"namespace", workload.namespace_name},
               {"workload", workload.name},
               {"le", bound_text(bound)}},
              gain_of);
    };
    for (std::size_t bound = 0; bound < bounds; ++bound) {
      add_bound(workload.latency_bounds[bound], [&](std::size_t n) {
        return static_cast<double>(workload.within_bound[n * bounds + bound]);
      });
    }
    const auto answered = [&](std::size_t n) { return static_cast<double>(workload.completed[n]); };
    add_bound(kNoBound, answered);
    counter(kFamily, "_count", labels, answered);
    counter(kFamily, "_sum", labels, [&](std::size_t n) {
      return workload.mean[n] ? to_seconds(*workload.mean[n]) * answered(n) : 0;
    });
    add_quantile("slicewise_request_duration_p50_seconds", labels, workload.p50);
    add_quantile("slicewise_request_duration_p99_seconds", labels, workload.p99);
    if (!workload.latency_limit) return;
    gauge("slicewise_request_duration_limit_seconds", labels,
          [&](std::size_t) { return to_seconds(*workload.latency_limit); });
  }

  // No sample where nothing was answered.
  void add_quantile(std::string_view family, Labels labels,
                    const std::vector<std::optional<Duration>>& values) {
    auto series = samples_.series(family, "", labels);
    for (std::size_t n = 0; n < recording_.buckets(); ++n) {
      if (values[n]) series.at(recording_.bucket_end(n), to_seconds(*values[n]));
    }
  }

  void add_nodes() {
    for (const sim::RecordedPool& pool : recording_.pools) {
      const auto add = [&](const char* state, const std::vector<std::int64_t>& nodes) {
        gauge("slicewise_nodes", {{"node_pool", pool.name}, {"state", state}},
              [&](std::size_t n) { return static_cast<double>(nodes[n]); });
      };
      add("ready", pool.ready);
      add("billed", pool.billed);
      auto bill = samples_.series("slicewise_cost_usd", "_total", {{"node_pool", pool.name}});
      bill.at({}, 0);
      for (std::size_t n = 0; n < recording_.buckets(); ++n) {
        bill.at(recording_.bucket_end(n), to_dollars(billed_until(pool, recording_.bucket_end(n))));
      }
    }
  }

  // EC2 bills a node by the second, from its launch and for a minute at least.
  Usd billed_until(const sim::RecordedPool& pool, TimePoint now) const {
    Usd bill;
    for (const sim::RecordedNode& node : recording_.nodes) {
      if (node.pool_name != pool.name || !node.launched || *node.launched >= now) continue;
      if (now >= node.until) {
        bill += node.billed;
        continue;
      }
      const Duration billed = std::max(seconds(60), now - *node.launched);
      bill += std::min(node.billed, cost_of(node.price, billed));
    }
    return bill;
  }

  void add_run() {
    const sim::CostLedger& ledger = recording_.result.cost.ledger;
    for (const sim::LedgerPart& part : sim::kLedgerParts) {
      gauge("slicewise_run_cost_usd", {{"reason", std::string(part.label)}},
            [&](std::size_t) { return to_dollars(ledger.*part.usd); });
    }
    for (const sim::WorkloadResult& workload : recording_.result.workloads) {
      for (const sim::ObjectiveResult& objective : workload.objectives) {
        gauge("slicewise_slo_ok", {{"workload", workload.name}, {"objective", objective.name}},
              [&](std::size_t) {
                return standing_of(objective) == sim::ObjectiveStanding::Holds ? 1.0 : 0.0;
              });
      }
    }
  }

  const Recording& recording_;
  bool dcgm_;
  MetricSamples samples_;
};

}  // namespace

std::string openmetrics_text(const sim::Recording& recording, const OpenMetricsOptions& options) {
  return OpenMetricsWriter(recording, options).write();
}

}  // namespace slicewise::reports
