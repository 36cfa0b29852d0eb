#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "slicewise/models/gpu_names.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/portable_math.hpp"

#include "../located_json.hpp"
#include "../probe_document.hpp"
#include "llm_benchmark.hpp"
#include "nsys_report.hpp"
#include "tool_output.hpp"
#include "user_table.hpp"

namespace slicewise::models {
namespace {

struct QuantileColumn {
  std::string_view name;
  double z;  // of the normal distribution
};
// The highest that a row has says the most of how times scatter.
constexpr std::array kQuantiles = {QuantileColumn{"p99_ms", 2.3263},
                                   QuantileColumn{"p95_ms", 1.6449},
                                   QuantileColumn{"p90_ms", 1.2816}, QuantileColumn{"p50_ms", 0}};

constexpr std::string_view kArrivals = "requests_per_s";
constexpr std::array<std::string_view, 23> kMeasuredColumns = {"workload",
                                                               "gpu",
                                                               "latency_ms",
                                                               "rate_per_s",
                                                               "batch",
                                                               "slice",
                                                               "sharing",
                                                               "threads_percent",
                                                               "clients",
                                                               "beside",
                                                               "beside_batch",
                                                               kArrivals,
                                                               "kernel_us",
                                                               "host_cpu_ms",
                                                               "driver",
                                                               "date",
                                                               "gpu_util_percent",
                                                               "sm_active_percent",
                                                               "dram_active_percent",
                                                               kQuantiles[0].name,
                                                               kQuantiles[1].name,
                                                               kQuantiles[2].name,
                                                               kQuantiles[3].name};

// Of a lognormal distribution with this ratio of a quantile to its mean, exp(z sigma - sigma^2 /
// 2); no more than z, where the ratio is largest.
double sigma_of(double ratio, double z) {
  return z - std::sqrt(std::max(0.0, z * z - 2 * portable_log(ratio)));
}

// Of perf_analyzer's CSV; times in microseconds.
constexpr std::string_view kConcurrency = "Concurrency";
constexpr std::string_view kCompute = "Server Compute Infer";
constexpr std::array<std::string_view, 2> kPerfNeeded = {kConcurrency, kCompute};
constexpr std::string_view kInferences = "Inferences/Second";
constexpr std::string_view kUtilisation = "Avg GPU Utilization";
constexpr std::array<std::string_view, 16> kPerfOptional = {kInferences,
                                                            "Client Send",
                                                            "Network+Server Send/Recv",
                                                            "Server Queue",
                                                            "Server Compute Input",
                                                            "Client Recv",
                                                            "Server Compute Output",
                                                            "Avg latency",
                                                            "request/response",
                                                            "response wait",
                                                            "Server Cache Hit",
                                                            "Server Cache Miss",
                                                            kUtilisation,
                                                            "Avg GPU Power Usage",
                                                            "Max GPU Memory Usage",
                                                            "Total GPU Memory"};
constexpr std::string_view kPercentile = " latency";

// The percentiles are those that perf_analyzer was asked for: "p97 latency".
std::vector<std::string_view> perf_columns(std::string_view text) {
  std::vector<std::string_view> columns(kPerfOptional.begin(), kPerfOptional.end());
  text = text.substr(0, text.find_first_of("\r\n"));
  while (!text.empty()) {
    const std::string_view column = text.substr(0, text.find(','));
    if (column.starts_with('p') && column.ends_with(kPercentile) &&
        number_in(column.substr(1, column.size() - 1 - kPercentile.size()))) {
      columns.push_back(column);
    }
    text.remove_prefix(std::min(text.size(), column.size() + 1));
  }
  return columns;
}

// Of "GPU-abc:0.55;"; nullopt where several GPUs are named: which of them served is not said.
std::optional<double> share_of_one_gpu(std::string_view text) {
  const std::size_t begin = text.find(':') + 1;
  const std::size_t end = text.find(';', begin);
  if (begin == 0 || end == std::string_view::npos || end + 1 < text.size()) return std::nullopt;
  return number_in(text.substr(begin, end - begin));
}

constexpr int kMostBatch = 1'000'000;
constexpr double kLeastMilliseconds = 1e-3;
constexpr double kMostMilliseconds = 1e8;
constexpr const char* kDateForm = "write year-month-day: 2026-11-01";

class MeasurementReader {
 public:
  MeasurementReader(const SourceText& file, const Catalogue& catalogue,
                    const MeasuredContext& context, bool of_perf_analyzer)
      : name_(file.name),
        catalogue_(catalogue),
        context_(context),
        table_(file,
               of_perf_analyzer ? std::span<const std::string_view>(kPerfNeeded)
                                : std::span<const std::string_view>(),
               of_perf_analyzer ? perf_columns(file.text)
                                : std::vector<std::string_view>(kMeasuredColumns.begin(),
                                                                kMeasuredColumns.end())) {}

  Expected<std::vector<Measurement>> read(bool of_perf_analyzer) {
    std::vector<Measurement> out;
    if (of_perf_analyzer) {
      read_least_concurrency(out);
    } else {
      for (const CsvRow& row : table_.rows()) {
        if (auto measured = read_row(row)) out.push_back(std::move(*measured));
      }
    }
    if (!table_.is_sound()) return tl::unexpected(table_.take_problems());
    return out;
  }

 private:
  SourceLocation place(const CsvField& field) const {
    return {name_, field.line, field.column, field.length};
  }

  // What the row says in a column, or the flag that stands for it.
  std::string said_or(const CsvRow& row, std::string_view column,
                      const std::string& otherwise) const {
    std::string text = table_.text(row, column);
    return text.empty() ? otherwise : text;
  }

  std::string named(const CsvRow& row, std::string_view column, const std::string& otherwise) {
    std::string text = said_or(row, column, otherwise);
    if (text.empty()) {
      table_.report(Code::FieldMissing, row.front(), fmt::format("no `{}` is given", column),
                    fmt::format("add the column `{0}`, or say it with --{0}", column));
    }
    return text;
  }

  const GpuModel* read_gpu(const CsvRow& row) {
    const std::string name = named(row, "gpu", context_.gpu);
    if (name.empty()) return nullptr;
    const GpuModel* gpu = catalogue_.find_gpu(name);
    if (gpu != nullptr) return gpu;
    const CsvField* field = table_.field(row, "gpu");
    table_.report(Code::GpuUnknown, field == nullptr ? row.front() : *field,
                  fmt::format("GPU model {} is not in the catalogue", name),
                  gpus_meant(catalogue_, name));
    return nullptr;
  }

  std::optional<double> maybe_number(const CsvRow& row, std::string_view column, double least,
                                     double most, double otherwise) {
    if (table_.field(row, column) == nullptr) return otherwise;
    return table_.number(row, column, least, most);
  }

  std::optional<int> maybe_count(const CsvRow& row, std::string_view column, int most,
                                 int otherwise) {
    const auto value = maybe_number(row, column, 1, most, otherwise);
    if (value && *value == std::floor(*value)) return static_cast<int>(*value);
    if (value) {
      table_.report(Code::FieldType, *table_.field(row, column),
                    fmt::format("`{}` must be a whole number", column));
    }
    return std::nullopt;
  }

  std::optional<Duration> read_time(const CsvRow& row, int batch) {
    const CsvField* latency = table_.field(row, "latency_ms");
    const CsvField* rate = table_.field(row, "rate_per_s");
    if ((latency == nullptr) == (rate == nullptr)) {
      table_.report(latency == nullptr ? Code::FieldMissing : Code::SettingConflict,
                    latency == nullptr ? row.front() : *rate,
                    latency == nullptr ? "neither latency_ms nor rate_per_s is given"
                                       : "latency_ms and rate_per_s are both given",
                    "give the mean time of a step, or the items per second of one process");
      return std::nullopt;
    }
    const auto value = latency != nullptr
                           ? table_.number(row, "latency_ms", kLeastMilliseconds, kMostMilliseconds)
                           : table_.number(row, "rate_per_s", 1e-6, 1e9);
    if (!value) return std::nullopt;
    return from_seconds(latency != nullptr ? *value / 1'000 : batch / *value);
  }

  bool read_slice(const CsvRow& row, const GpuModel& gpu, Measurement& out) {
    const CsvField* slice = table_.field(row, "slice");
    if (slice == nullptr || slice->text == out.slice) return true;
    const MigGeometry* geometry = catalogue_.find_mig(gpu.name);
    std::vector<std::string> known;
    for (std::size_t i = 0; geometry != nullptr && i < geometry->profiles.size(); ++i) {
      const MigProfile& profile = geometry->profiles[i];
      known.push_back(profile.name);
      if (profile.name != slice->text) continue;
      out.slice = slice->text;
      out.share = mig_share(*geometry, profile);
      return true;
    }
    const auto nearest = nearest_name(slice->text, known);
    table_.report(Code::MigConfigUnknown, *slice,
                  fmt::format("{} has no MIG profile {}", gpu.name, slice->text),
                  nearest ? fmt::format("did you mean {}?", *nearest) : "leave it out, or: full");
    return false;
  }

  bool read_sharing(const CsvRow& row, Measurement& out) {
    constexpr std::array<std::pair<std::string_view, MeasuredSharing>, 3> kWays = {
        {{"alone", MeasuredSharing::Alone},
         {"mps", MeasuredSharing::Mps},
         {"time-slicing", MeasuredSharing::TimeSlicing}}};
    const CsvField* field = table_.field(row, "sharing");
    if (field != nullptr) {
      const auto* found = std::ranges::find_if(
          kWays, [&](const auto& way) { return is_spelling_of(field->text, way.first); });
      if (found == kWays.end()) {
        std::array<std::string_view, kWays.size()> words;
        std::ranges::transform(kWays, words.begin(), [](const auto& way) { return way.first; });
        const auto near = nearest_name(field->text, words);
        table_.report(
            Code::EnumUnknown, *field, fmt::format("\"{}\" is no way of sharing", field->text),
            near ? fmt::format("did you mean {}?", *near) : "one of alone, mps, time-slicing");
        return false;
      }
      out.sharing = found->second;
    }
    if (out.clients > 1 && out.sharing == MeasuredSharing::Alone) {
      const CsvField* clients = table_.field(row, "clients");
      table_.report(field == nullptr ? Code::FieldMissing : Code::SettingConflict,
                    field == nullptr ? *clients : *field,
                    fmt::format("{} processes need a way of sharing", out.clients),
                    "write mps or time-slicing in the column `sharing`");
      return false;
    }
    const bool is_said =
        table_.field(row, "clients") != nullptr || table_.field(row, "beside") != nullptr;
    if (out.sharing != MeasuredSharing::Alone && !is_said) {
      table_.report(
          Code::FieldMissing, *field, "nobody says who shares the GPU",
          "write how many processes in the column `clients`, 1 where one had it alone, or "
          "the other workload in `beside`");
      return false;
    }
    return out.sharing != MeasuredSharing::TimeSlicing || of_whole_gpu(row, out, "turns are");
  }

  // What is held against the time alone on the whole GPU.
  bool of_whole_gpu(const CsvRow& row, const Measurement& out, const std::string& what) {
    const bool is_slice = out.slice != "full";
    if (!is_slice && out.active_threads >= 1) return true;
    table_.report(Code::SettingConflict, *table_.field(row, is_slice ? "slice" : "threads_percent"),
                  fmt::format("{} measured on the whole GPU only", what),
                  "leave the column empty; slices and thread limits are measured alone or by mps");
    return false;
  }

  bool read_neighbour(const CsvRow& row, Measurement& out) {
    const CsvField* beside = table_.field(row, "beside");
    const CsvField* batch = table_.field(row, "beside_batch");
    if (beside == nullptr) {
      if (batch == nullptr) return true;
      table_.report(Code::SettingConflict, *batch, "`beside_batch` is of a neighbour",
                    "name it in the column `beside`");
      return false;
    }
    out.beside = beside->text;
    if (batch != nullptr) {
      out.beside_batch = maybe_count(row, "beside_batch", kMostBatch, 1);
      if (!out.beside_batch) return false;
    }
    if (out.sharing != MeasuredSharing::Alone && out.clients == 1) {
      return of_whole_gpu(row, out, "neighbours are");
    }
    if (out.clients > 1) {
      table_.report(Code::SettingConflict, *table_.field(row, "clients"),
                    "`clients` counts equal processes, and this one has another beside it",
                    "leave it empty, or write 1: the row is of one process beside one other");
      return false;
    }
    table_.report(Code::SettingConflict, *beside, "`beside` is for one process that shares the GPU",
                  "write mps or time-slicing in the column `sharing`, and one row for each of the "
                  "two");
    return false;
  }

  // A figure that only a row alone on the whole GPU can have; false when there is a mistake in it.
  template <class Take>
  bool read_alone(const CsvRow& row, std::string_view column, double least, double most,
                  const Measurement& out, const Take& take) {
    const CsvField* field = table_.field(row, column);
    if (field == nullptr) return true;
    const auto value = table_.number(row, column, least, most);
    if (!value) return false;
    take(*value);
    if (out.sharing == MeasuredSharing::Alone) {
      return of_whole_gpu(row, out, fmt::format("`{}` is", column));
    }
    table_.report(Code::SettingConflict, *field, fmt::format("`{}` is of a process alone", column),
                  "write it in the row of the workload alone on the whole GPU");
    return false;
  }

  bool read_use(const CsvRow& row, Measurement& out) {
    constexpr double kMostMicroseconds = 1e11;
    // Who keeps the GPU busy for no time at all was not measured.
    constexpr double kLeastPercent = 0.01;
    const auto share = [&](std::string_view column, double least, std::optional<double>& to) {
      return read_alone(row, column, least, 100, out, [&](double value) { to = value / 100; });
    };
    bool sound = read_alone(row, "kernel_us", 1e-3, kMostMicroseconds, out,
                            [&](double value) { out.kernel_time = from_seconds(value * 1e-6); });
    sound &= read_alone(row, "host_cpu_ms", kLeastMilliseconds, kMostMilliseconds, out,
                        [&](double value) { out.host_time = from_seconds(value * 1e-3); });
    sound &= read_spread(row, out);
    sound &= share("gpu_util_percent", kLeastPercent, out.activity.gpu_util);
    sound &= share("sm_active_percent", kLeastPercent, out.activity.sm_active);
    sound &= share("dram_active_percent", 0, out.activity.dram_active);
    return sound;
  }

  // Quantiles grow from the 50th to the 99th; `out` has its time. Of a process alone they say how
  // its steps scatter; no law is fitted to the tails of those that share a GPU.
  bool read_spread(const CsvRow& row, Measurement& out) {
    const double mean_ms = 1e3 * to_seconds(out.time);
    if (mean_ms == 0) return true;  // whose mistake is said
    double above = kMostMilliseconds;
    for (const QuantileColumn& column : kQuantiles) {
      const CsvField* field = table_.field(row, column.name);
      if (field == nullptr) continue;
      double quantile = above;
      if (out.sharing != MeasuredSharing::Alone) {
        const auto value = table_.number(row, column.name, kLeastMilliseconds, kMostMilliseconds);
        if (!value) return false;
        quantile = *value;
        out.has_unused_quantiles = true;
        if (column.name == kQuantiles[0].name) out.p99 = from_seconds(quantile * 1e-3);
      } else if (!read_alone(row, column.name, kLeastMilliseconds, kMostMilliseconds, out,
                             [&](double value) { quantile = value; })) {
        return false;
      }
      const bool is_median = column.z == 0;
      if (quantile > above || (!is_median && quantile < mean_ms)) {
        table_.report(
            Code::ValueRange, *field,
            fmt::format("`{}` is {}, {}", column.name, field->text,
                        quantile > above ? "and a higher quantile is less" : "less than the mean"),
            "give the mean time of a step, and quantiles of the same steps");
        return false;
      }
      above = quantile;
      if (out.time_sigma || out.has_unused_quantiles) continue;
      // The median of a lognormal distribution lies below the mean.
      out.time_sigma = is_median ? std::sqrt(std::max(0.0, 2 * portable_log(mean_ms / quantile)))
                                 : sigma_of(quantile / mean_ms, column.z);
    }
    return true;
  }

  // REQUIRES: read_use(row, out).
  bool read_arrivals(const CsvRow& row, Measurement& out) {
    constexpr double kLeastPerSecond = 1e-3;
    constexpr double kMostPerSecond = 1e6;
    const CsvField* field = table_.field(row, kArrivals);
    if (field == nullptr) return true;
    const auto rate = table_.number(row, kArrivals, kLeastPerSecond, kMostPerSecond);
    if (!rate) return false;
    if (out.sharing == MeasuredSharing::Alone || out.p99.ns == 0) {
      table_.report(Code::SettingConflict, *field,
                    fmt::format("`{}` without a GPU that is shared and p99_ms", kArrivals),
                    "it says at which load a p99 of processes that share was measured");
      return false;
    }
    out.requests_per_second = *rate;
    out.has_unused_quantiles = false;
    return true;
  }

  std::optional<Measurement> read_row(const CsvRow& row) {
    constexpr int kMostClients = 1'000;
    constexpr double kPercent = 0.01;
    Measurement out;
    out.where = place(row.front());
    out.workload = named(row, "workload", context_.workload);
    const GpuModel* gpu = read_gpu(row);
    const auto batch = maybe_count(row, "batch", kMostBatch, context_.batch.value_or(1));
    const auto clients = maybe_count(row, "clients", kMostClients, 1);
    const auto threads = maybe_number(row, "threads_percent", 1, 100, 100);
    out.driver = said_or(row, "driver", context_.driver);
    out.date = said_or(row, "date", context_.date);
    if (!out.date.empty() && !is_date(out.date)) {
      table_.report(Code::FieldType, *table_.field(row, "date"),
                    fmt::format("`{}` is not a date", out.date), kDateForm);
    }
    if (gpu == nullptr || !batch || !clients || !threads) return std::nullopt;
    out.gpu = gpu->name;
    out.batch = *batch;
    out.clients = *clients;
    out.active_threads = *threads * kPercent;
    const auto time = read_time(row, out.batch);
    if (time) out.time = *time;
    const bool sound = read_slice(row, *gpu, out) && read_sharing(row, out) &&
                       read_neighbour(row, out) && read_use(row, out) && read_arrivals(row, out);
    if (!time || !sound) return std::nullopt;
    return out;
  }

  // With more requests at a time they wait for each other inside the server.
  void read_least_concurrency(std::vector<Measurement>& out) {
    constexpr double kMostMicroseconds = 1e11;
    constexpr double kPerSecond = 1e6;
    const CsvRow* least = nullptr;
    double concurrency = 0;
    for (const CsvRow& row : table_.rows()) {
      const auto level = table_.number(row, kConcurrency, 1, kMostMicroseconds);
      if (!level || (least != nullptr && *level >= concurrency)) continue;
      least = &row;
      concurrency = *level;
    }
    if (least == nullptr) return;
    const auto compute = table_.number(*least, kCompute, 1, kMostMicroseconds);
    Measurement alone;
    alone.driver = context_.driver;
    alone.date = context_.date;
    alone.where = place(least->front());
    alone.workload = named(*least, "workload", context_.workload);
    const GpuModel* gpu = read_gpu(*least);
    if (gpu == nullptr || !compute) return;
    alone.gpu = gpu->name;
    alone.batch = context_.batch.value_or(1);
    alone.time = from_seconds(*compute / kPerSecond);
    alone.activity.gpu_util = share_of_compute(*least, alone);
    out.push_back(std::move(alone));
  }

  // In between requests the GPU is idle, which is no part of a step: of the time that the server
  // computed the share in which kernels ran.
  std::optional<double> share_of_compute(const CsvRow& row, const Measurement& alone) {
    constexpr double kMostPerSecond = 1e9;
    const CsvField* field = table_.field(row, kUtilisation);
    if (field == nullptr || table_.field(row, kInferences) == nullptr) return std::nullopt;
    const auto busy = share_of_one_gpu(field->text);
    const auto inferences = table_.number(row, kInferences, 0, kMostPerSecond);
    if (!busy || !inferences || *busy <= 0 || *inferences <= 0) return std::nullopt;
    const double computing = *inferences / alone.batch * to_seconds(alone.time);
    return std::min(1.0, *busy / computing);
  }

  std::string name_;
  const Catalogue& catalogue_;
  const MeasuredContext& context_;
  UserTable table_;
};

}  // namespace

Expected<std::vector<Measurement>> read_measurements(const SourceText& file,
                                                     const Catalogue& catalogue,
                                                     const MeasuredContext& context) {
  if (auto problem = unusable_output(file)) {
    return tl::unexpected(Diagnostics{std::move(*problem)});
  }
  if (!context.date.empty() && !is_date(context.date)) {
    return tl::unexpected(Diagnostics{
        make_diagnostic(Code::FieldType, {file.name, 1, 1, 1},
                        fmt::format("--date: `{}` is not a date", context.date), kDateForm)});
  }
  if (is_probe_document(file)) return read_probe(file, catalogue);
  if (is_llm_benchmark(file)) return read_llm_benchmark(file, catalogue, context);
  if (is_nsys_report(file)) return read_nsys_report(file, catalogue, context);
  const bool of_perf_analyzer = file.text.starts_with(kConcurrency);
  return MeasurementReader(file, catalogue, context, of_perf_analyzer).read(of_perf_analyzer);
}

namespace {

// The concurrencies stand first in their rows.
double least_concurrency(std::string_view text) {
  double least = 0;
  while ((text = text.substr(std::min(text.size(), text.find('\n'))), text.size() > 1)) {
    text.remove_prefix(1);
    const auto level = number_in(text.substr(0, text.find(',')));
    if (level && (least == 0 || *level < least)) least = *level;
  }
  return least;
}

}  // namespace

std::string what_is_read_of(const SourceText& file) {
  if (!file.text.starts_with(kConcurrency)) return {};
  std::string what = fmt::format(
      "of perf_analyzer the row of the lowest concurrency is read, and of it {}: the workload "
      "alone, without what waits; a step is a request, or the items of --batch",
      kCompute);
  if (const double least = least_concurrency(file.text); least > 1) {
    what += fmt::format(
        ". Its lowest concurrency is {:.0f}: if Triton puts requests together (dynamic_batching), "
        "that is the time of such a batch, and not of a request: measure --concurrency-range 1, or "
        "say with --batch how many there were",
        least);
  }
  return what;
}

}  // namespace slicewise::models
