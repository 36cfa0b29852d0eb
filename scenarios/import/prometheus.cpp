#include "prometheus.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "../traces/trace_files.hpp"
#include "importers.hpp"

namespace slicewise::scenarios {
namespace {

constexpr double kBlank = 2'147'483'632.0;  // DCGM's blanks of 32 and 64 bits, and all above them

class AnswerReader {
 public:
  AnswerReader(const SourceText& file, const SeriesVisitor& visit, ImportReport& report)
      : places_(file), visit_(visit), report_(report) {}

  void read(JsonValue answer) {
    if (answer["status"].raw_scalar() == "error") {
      failed_.push_back(make_diagnostic(Code::TraceFormat, places_.of(answer),
                                        fmt::format("Prometheus answered with an error ({}): {}",
                                                    answer["errorType"].scalar().substr(0, 40),
                                                    answer["error"].scalar().substr(0, 400))));
      return;
    }
    for (const std::string_view list : {"warnings", "infos"}) {
      JsonCursor texts(answer[list]);
      while (texts.next()) {
        const JsonValue text = texts.value();
        report_.noted("Prometheus says: " + text.scalar().substr(0, 400),
                      [&] { return places_.of(text); });
      }
    }
    const JsonValue data = answer["data"].is_object() ? answer["data"] : answer;
    const JsonValue result = data.is_array() ? data : data["result"];
    if (!result.is_array()) {
      failed_.push_back(make_diagnostic(Code::TraceFormat, places_.of(answer),
                                        "no answer of a Prometheus query: there is no result",
                                        "save what /api/v1/query_range answers"));
      return;
    }
    JsonCursor series(result);
    while (series.next()) read_series(series.value());
  }

  Diagnostics take_failed() { return std::move(failed_); }

 private:
  void read_series(JsonValue series) {
    report_.read();
    SourceLocation where = places_.of(series);
    if (!series["metric"].is_object()) {
      report_.bad_row(where, "a series without its labels (metric)");
      return;
    }
    const Labels labels(series["metric"]);
    if (labels.metric().empty()) {
      report_.skipped(
          "series without a name: query the metrics themselves, not what is computed from them",
          where);
      return;
    }
    samples_.clear();
    is_gpu_metric_ = labels.metric().starts_with("DCGM_");
    read_sample(series["value"]);
    JsonCursor values(series["values"]);
    while (values.next()) read_sample(values.value());
    visit_(labels, samples_, where);
  }

  void read_sample(JsonValue pair) {
    if (pair.kind() == JsonValue::Kind::Missing) return;
    JsonCursor parts(pair);
    const JsonValue time = parts.next() ? parts.value() : JsonValue();
    const JsonValue value = parts.next() ? parts.value() : JsonValue();
    constexpr int kNanoseconds = 9;
    const auto at = scaled_of(time.raw_scalar(), kNanoseconds);
    const auto number = decimal_of(value.raw_scalar());
    if (!pair.is_array() || !at || *at < 0 || *at > kLatest || !number) {
      report_.bad_row(places_.of(pair), "a sample is [time, \"value\"]");
      return;
    }
    const auto place = [&] { return places_.of(pair); };
    if (!std::isfinite(*number)) {
      report_.skipped("samples that are no number (NaN)", place);
    } else if (is_gpu_metric_ && *number >= kBlank) {
      report_.skipped("samples without a value (DCGM's blanks)", place);
    } else {
      samples_.push_back({*at, *number});
    }
  }

  JsonPlaces places_;
  const SeriesVisitor& visit_;
  ImportReport& report_;
  bool is_gpu_metric_ = false;
  std::vector<Sample> samples_;
  Diagnostics failed_;
};

// Calls `visit` for every series of the answers of a Prometheus server that a file holds: those of
// range and instant queries, as they came or what `promtool query` prints of them. Samples that
// are no number are left out of them and counted; an answer that reports a failure is one.
Diagnostics read_answers(const SourceText& file, const SeriesVisitor& visit, ImportReport& report) {
  constexpr std::size_t kBeginning = 4'096;
  const auto documents = read_json(file);
  if (!documents && file.text.substr(0, kBeginning).find("DCGM_FI_") != std::string::npos) {
    return {make_diagnostic(
        Code::TraceFormat, {file.name, 1, 1},
        "figures of DCGM in a file of their own: whose pods or jobs they are does not stand there",
        "let `slicewise import prometheus --url` ask the Prometheus that scrapes the exporter, or "
        "join them to jobs: `slicewise import jobs --columns run=COLUMN,gpu_util=COLUMN`")};
  }
  if (!documents) return documents.error();
  AnswerReader reader(file, visit, report);
  for (const JsonValue document : *documents) reader.read(document);
  return reader.take_failed();
}

}  // namespace

Labels::Labels(JsonValue metric) {
  JsonCursor members(metric);
  while (members.next()) labels_.emplace_back(members.key(), members.value().scalar());
}

std::string_view Labels::operator[](std::string_view name) const {
  for (const auto& [label, value] : labels_) {
    if (label == name) return value;
  }
  return {};
}

std::string Labels::key(std::span<const std::string_view> without) const {
  std::string key;
  for (const auto& [label, value] : labels_) {
    if (std::ranges::find(without, label) != without.end()) continue;
    key += fmt::format("{}\n{}\n", label, value);
  }
  return key;
}

Expected<RecordedSeries> read_series(std::span<const SourceText> files, const std::string& latency,
                                     ImportReport& report) {
  RecordedSeries all{{}, {}, {}, LatencyHistogram(latency)};
  Diagnostics problems;
  const SeriesVisitor visit = [&](const Labels& labels, const std::vector<Sample>& samples,
                                  const SourceLocation& where) {
    if (all.cluster.add(labels, samples, where) || all.gpus.add(labels, samples, where) ||
        all.requests.add(labels, samples, where) || all.latency.add(labels, samples, where)) {
      return;
    }
    report.skipped(fmt::format("series of {}, which is not used", labels.metric().substr(0, 60)),
                   where);
  };
  for (const SourceText& file : files) {
    for (Diagnostic& problem : read_answers(file, visit, report)) {
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  if (report.has_failed()) return tl::unexpected(report.errors());
  if (all.cluster.empty() && all.gpus.empty()) {
    return not_the_format(
        {files.front().name, 1, 1},
        "no series of kube-state-metrics (kube_pod_...) or DCGM exporter (DCGM_FI_...)",
        "query kube_pod_created, kube_pod_container_resource_requests, DCGM_FI_DEV_GPU_UTIL, ...");
  }
  return all;
}

Expected<Imported> import_prometheus(std::span<const SourceText> files,
                                     const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  auto series = read_series(files, options.latency, report);
  if (!series) return tl::unexpected(series.error());
  std::vector<PodRecord> pods = series->cluster.pods(series->cluster.latest(), report);
  if (!series->gpus.empty()) series->gpus.credit(pods, options, report);
  std::erase_if(pods, [&](const PodRecord& pod) {
    if (pod.arrival) return false;
    report.skipped("pods without a time of creation or start: query kube_pod_created", pod.where);
    return true;
  });
  std::vector<RecordedWorkload> recorded = recorded_workloads(pods, series->latency);
  std::set<std::string> greedy = greedy_pods(pods);
  std::map<std::string, RequestCount> counted = series->requests.counts(report);
  JobTrace trace = trace_of_pods(std::move(pods), options, report);
  const auto jobs = static_cast<std::int64_t>(trace.size());
  return Imported{std::move(trace), report.take_log(jobs), std::move(counted), std::move(greedy),
                  std::move(recorded)};
}

namespace {

constexpr std::int64_t kMostPointsAsked = 100'000'000;

// Resources that the importer reads, as kube-state-metrics spells them.
constexpr std::string_view kResourceMatcher =
    "{resource=~\"nvidia_com_.*|k8s_amazonaws_com_vgpu|cpu|memory|amd_com_gpu|aws_amazon_com_"
    "neuron.*\"}";

struct WantedSeries {
  std::string_view metric;
  std::string_view matchers;
  bool is_optional = false;
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
    WantedSeries{"DCGM_FI_DEV_FB_USED", ""},
    WantedSeries{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "", true},
    WantedSeries{"DCGM_FI_PROF_SM_ACTIVE", "", true},
    WantedSeries{"DCGM_FI_PROF_DRAM_ACTIVE", "", true},
    WantedSeries{"kube_pod_container_info", "", true},
    WantedSeries{"kube_pod_container_state_started", "", true},
    WantedSeries{"vllm:request_success_total", "", true},
    WantedSeries{"nv_inference_request_success", "", true},
    WantedSeries{"ts_inference_requests_total", "", true},
    WantedSeries{"istio_requests_total", "{reporter=\"destination\"}", true},
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
  return failure(code, {}, std::move(message), std::move(help));
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

std::vector<PrometheusQuery> prometheus_queries(const PrometheusWindow& window,
                                                const std::string& latency) {
  std::vector<PrometheusQuery> queries;
  const std::int64_t span = (kMostPoints - 1) * window.step_s;
  const auto ask = [&](const std::string& metric, const std::string& query, bool is_optional) {
    for (std::int64_t start = window.start_s; start <= window.end_s;
         start += span + window.step_s) {
      queries.push_back({metric, is_optional,
                         fmt::format("/api/v1/query_range?query={}&start={}&end={}&step={}",
                                     percent_encoded(query), start,
                                     std::min(window.end_s, start + span), window.step_s)});
    }
  };
  for (const WantedSeries& wanted : kWanted) {
    const std::string metric(wanted.metric);
    ask(metric, metric + std::string(wanted.matchers), wanted.is_optional);
  }
  const std::string bucket = histogram_of(latency) + "_bucket";
  if (!latency.empty()) ask(bucket, bucket, false);
  return queries;
}

}  // namespace slicewise::scenarios
