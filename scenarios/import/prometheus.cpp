#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "../text/decimal.hpp"
#include "../traces/trace_time.hpp"
#include "cluster_metrics.hpp"
#include "gpu_metrics.hpp"
#include "importers.hpp"
#include "prometheus_answer.hpp"

namespace slicewise::scenarios {
namespace {

constexpr double kBlank = 2'147'483'632.0;  // DCGM's blanks of 32 and 64 bits, and all above them

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

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
        report_.remark(ImportRemark::Kind::Note, "Prometheus says: " + text.scalar().substr(0, 400),
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
          "series without a name: query the metrics themselves, not what is computed "
          "from them",
          [&] { return where; });
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
    const auto number = number_of(value.raw_scalar());
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

Diagnostics read_answers(const SourceText& file, const SeriesVisitor& visit, ImportReport& report) {
  const auto documents = read_json(file);
  if (!documents) return documents.error();
  AnswerReader reader(file, visit, report);
  for (const JsonValue document : *documents) reader.read(document);
  return reader.take_failed();
}

Expected<Imported> import_prometheus(std::span<const SourceText> files,
                                     const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  ClusterMetrics cluster;
  GpuMetrics gpus;
  Diagnostics problems;
  const SeriesVisitor visit = [&](const Labels& labels, const std::vector<Sample>& samples,
                                  const SourceLocation& where) {
    if (cluster.add(labels, samples, where) || gpus.add(labels, samples, where)) return;
    report.skipped(fmt::format("series of {}, which is not used", labels.metric().substr(0, 60)),
                   [&] { return where; });
  };
  for (const SourceText& file : files) {
    for (Diagnostic& problem : read_answers(file, visit, report)) {
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  if (report.has_failed()) return tl::unexpected(report.errors());
  if (cluster.empty() && gpus.empty()) {
    return not_the_format(
        {files.front().name, 1, 1},
        "no series of kube-state-metrics (kube_pod_...) or DCGM exporter (DCGM_FI_...)",
        "query kube_pod_created, kube_pod_container_resource_requests, "
        "DCGM_FI_DEV_GPU_UTIL, ...");
  }
  std::vector<PodRecord> pods = cluster.pods(cluster.latest(), report);
  if (!gpus.empty()) gpus.credit(pods, options, report);
  std::erase_if(pods, [&](const PodRecord& pod) {
    if (pod.arrival) return false;
    report.skipped("pods without a time of creation or start: query kube_pod_created",
                   [&] { return pod.where; });
    return true;
  });
  JobTrace trace = trace_of_pods(std::move(pods), options, report);
  const auto jobs = static_cast<std::int64_t>(trace.size());
  return Imported{std::move(trace), report.take_log(jobs)};
}

}  // namespace slicewise::scenarios
