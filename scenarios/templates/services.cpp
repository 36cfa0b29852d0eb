#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "slicewise/csv_lines.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/flow_text.hpp"
#include "../text/kubernetes_names.hpp"
#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace services_table {
namespace {

enum Column : std::uint8_t { Name, Memory, MsPerRequest, RequestsPerS, P95, Gpu, Columns };

struct KnownColumn {
  std::string_view name;
  std::string_view other_name;
};
constexpr std::array<KnownColumn, Columns> kColumns = {{{"name", "service"},
                                                        {"memory", "gpu_memory"},
                                                        {"ms_per_request", "ms"},
                                                        {"requests_per_s", "requests/s"},
                                                        {"p95", "latency_p95"},
                                                        {"gpu", "gpu_measured_on"}}};
constexpr Column kFirstOptional = P95;
constexpr std::string_view kAllColumns =
    "the columns are name, memory, ms_per_request, requests_per_s, p95 and gpu; the last two may "
    "be left out";
// Figures have six decimals: milliseconds to the nanosecond, rates to the millionth of 1/s.
constexpr int kDecimals = 6;
constexpr std::int64_t kLeastFigure = 1;                    // 0.000001
constexpr std::int64_t kLargestFigure = 1'000'000'000'000;  // 1 000 000
constexpr std::int64_t kMostPods = 10'000;

using FindGpu = std::function<tl::expected<TableGpu, std::string>(const std::string&)>;

struct Service {
  std::string name;
  Bytes memory;
  Duration gpu_time;                  // of a request
  std::int64_t millionths_per_s = 0;  // requests
  std::optional<Duration> p95;
  std::optional<TableGpu> gpu;
};

// Replicas that are busy 60 % of the time: enough for most objectives, and where plans begin.
std::int64_t replicas_of(const Service& service) {
  constexpr std::int64_t kPercent = 60;
  constexpr Int128 kBusyReplica = Int128{1'000'000'000} * 1'000'000 * kPercent / 100;
  const Int128 work = static_cast<Int128>(service.gpu_time.ns) * service.millionths_per_s;
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>((work + kBusyReplica - 1) / kBusyReplica));
}

// "ms per request" is ms_per_request.
std::string column_name(std::string_view text) {
  std::string name;
  for (const char c : text) name += c == ' ' ? '_' : lower(c);
  return name;
}

class TableReader {
 public:
  TableReader(const SourceText& table, const FindGpu& find_gpu)
      : table_(table),
        find_gpu_(find_gpu),
        lines_(table, {.separator = separator_of(table.text), .quotes = true}) {}

  Expected<std::vector<Service>> read() {
    if (!lines_.next()) {
      report(Code::TraceFormat, {table_.name, 1, 1}, "there is no service in it",
             std::string(kAllColumns));
    } else if (read_header()) {
      while (lines_.next()) read_row();
      if (services_.empty() && found_.empty()) {
        report(Code::TraceFormat, lines_.place(), "there is no service below the header", "");
      }
    }
    if (!found_.empty()) return tl::unexpected(std::move(found_));
    return std::move(services_);
  }

 private:
  void report(Code code, SourceLocation where, std::string message, std::string help) {
    found_.push_back(make_diagnostic(code, std::move(where), std::move(message), std::move(help)));
  }

  bool read_header() {
    std::vector<std::string_view> names;
    names.reserve(std::size(kColumns));
    for (const KnownColumn& column : kColumns) names.push_back(column.name);
    columns_ = filled();
    for (std::size_t i = 0; i < columns_; ++i) {
      const std::string name = column_name(lines_.value(i));
      const auto known = std::ranges::find_if(kColumns, [&](const KnownColumn& column) {
        return name == column.name || name == column.other_name;
      });
      if (known == kColumns.end()) {
        const auto near = nearest_name(name, names);
        report(Code::TraceColumnMissing, lines_.place(i),
               fmt::format("unknown column \"{}\"{}", lines_.value(i),
                           near ? fmt::format("; did you mean \"{}\"?", *near) : ""),
               std::string(kAllColumns));
        continue;
      }
      std::optional<std::size_t>& place =
          places_.at(static_cast<std::size_t>(known - kColumns.begin()));
      if (place) {
        report(Code::TraceColumnMissing, lines_.place(i),
               fmt::format("the column {} is there twice", known->name), "remove one of the two");
      }
      place = i;
    }
    // A column that is unknown may be the one that is missing.
    const bool all_known = found_.empty();
    for (std::size_t column = 0; column < kFirstOptional; ++column) {
      if (places_.at(column) || !all_known) continue;
      report(Code::TraceColumnMissing, lines_.place(),
             fmt::format("the column {} is missing", kColumns.at(column).name),
             std::string(kAllColumns));
    }
    return found_.empty();
  }

  // Values of the line without empty ones at its end, of which spreadsheets write many.
  std::size_t filled() const {
    std::size_t size = lines_.size();
    while (size > 0 && lines_.value(size - 1).empty()) --size;
    return size;
  }

  void read_row() {
    const bool is_sound = lines_.flaw().empty();
    if (is_sound && filled() == 0) return;
    if (!is_sound || lines_.size() < columns_ || filled() > columns_) {
      return report(Code::TraceRow, lines_.place(), lines_.misfit(columns_), "");
    }
    Service service;
    service.name = lines_.value(*places_[Name]);
    read_name(service.name);
    read_quantity(Memory, parse_bytes, service.memory);
    read_figure(MsPerRequest, "milliseconds of GPU time, such as 20", service.gpu_time.ns);
    read_figure(RequestsPerS, "requests per second, such as 12.5", service.millionths_per_s);
    if (!text_of(P95).empty()) read_quantity(P95, parse_duration, service.p95.emplace());
    if (!text_of(Gpu).empty()) read_gpu(service.gpu);
    count_pods(service);
    services_.push_back(std::move(service));
  }

  void read_gpu(std::optional<TableGpu>& gpu) {
    auto found = find_gpu_(std::string(text_of(Gpu)));
    if (found) {
      gpu = std::move(*found);
      return;
    }
    report(Code::GpuUnknown, lines_.place(*places_[Gpu]),
           fmt::format("GPU model \"{}\" is not in the catalogue", text_of(Gpu)), found.error());
  }

  // Reports the service with which they are too many.
  void count_pods(const Service& service) {
    const bool fitted = pods_ <= kMostPods;
    pods_ += replicas_of(service);
    if (!fitted || pods_ <= kMostPods) return;
    report(Code::TraceRow, lines_.place(*places_[RequestsPerS]),
           fmt::format("with this service there are {} pods, each busy 60 % at most", pods_),
           fmt::format("at most {} are simulated: are ms_per_request and requests_per_s right?",
                       kMostPods));
  }

  std::string_view text_of(Column column) const {
    return places_.at(column) ? lines_.value(*places_.at(column)) : std::string_view();
  }

  void read_name(const std::string& name) {
    if (!is_dns_label(name)) {
      report(Code::NameInvalid, lines_.place(*places_[Name]),
             fmt::format("\"{}\" is not a name that Kubernetes accepts", name),
             "a name has at most 63 lower-case letters, digits and '-', and starts and ends with a "
             "letter or digit");
    }
    const auto [first, is_new] = lines_by_name_.emplace(name, lines_.line());
    if (is_new) return;
    report(Code::NameDuplicate, lines_.place(*places_[Name]),
           fmt::format("two services are called \"{}\"", name),
           fmt::format("the first is on line {}: give each its own name", first->second));
  }

  template <class Value>
  void read_quantity(Column column, Parsed<Value> (*parse)(std::string_view), Value& value) {
    const auto parsed = parse(text_of(column));
    if (!parsed) {
      return report(parsed.error().code, lines_.place(*places_.at(column)), parsed.error().message,
                    parsed.error().help);
    }
    value = *parsed;
    if (value > Value{}) return;
    report(
        Code::ValueRange, lines_.place(*places_.at(column)),
        fmt::format("{}: \"{}\" must be more than zero", kColumns.at(column).name, text_of(column)),
        "");
  }

  void read_figure(Column column, std::string_view example, std::int64_t& value) {
    const auto scaled = scaled_of(text_of(column), kDecimals);
    value = scaled.value_or(0);
    if (value >= kLeastFigure && value <= kLargestFigure) return;
    report(Code::TraceRow, lines_.place(*places_.at(column)),
           fmt::format("{}: \"{}\" is {}", kColumns.at(column).name, text_of(column),
                       value > kLargestFigure ? "more than 1000000" : "no number above 0"),
           fmt::format("write {}, from 0.000001 to 1000000", example));
    value = kLeastFigure;
  }

  const SourceText& table_;
  const FindGpu& find_gpu_;
  CsvLines lines_;
  std::array<std::optional<std::size_t>, Columns> places_;
  std::size_t columns_ = 0;
  std::vector<Service> services_;
  std::map<std::string, int> lines_by_name_;
  std::int64_t pods_ = 0;
  Diagnostics found_;
};

// The GPU that most services were measured on; nothing when nobody says.
std::optional<TableGpu> usual_gpu(const std::vector<Service>& services) {
  std::map<std::string, int> counts;
  std::optional<TableGpu> usual;
  for (const Service& service : services) {
    if (!service.gpu) continue;
    const int count = ++counts[service.gpu->name];
    if (!usual || count > counts[usual->name]) usual = service.gpu;
  }
  return usual;
}

// 8500000 -> "8.5".
std::string decimals_text(std::int64_t millionths) {
  std::string text;
  append_scaled(text, millionths, kDecimals);
  return text;
}

std::string workload_text(const Service& service) {
  constexpr std::int64_t kMebibyte = 1'048'576;
  std::string text = fmt::format(
      "  - name: {}\n    kind: Service\n    replicas: {}\n    podTemplate:\n      resources:\n     "
      "   requests: {{cpu: 500m, memory: 2Gi}}  # Assumed. TODO: yours\n        limits: "
      "{{nvidia.com/gpu: 1}}\n    gpuMemory: {{resident: {}Mi}}\n    measured:\n",
      scalar_text(service.name), replicas_of(service), (service.memory.count - 1) / kMebibyte + 1);
  if (service.gpu) text += fmt::format("      device: {}\n", scalar_text(service.gpu->name));
  text += fmt::format(
      "      requestGpuTime: {{mean: {}ms, distribution: Exponential}}  # the spread is Assumed. "
      "TODO: p50 and p99\n      # TODO: smActive: 60% (DCGM_FI_PROF_SM_ACTIVE) says how it scales "
      "to other GPUs\n      provenance: Measured\n    traffic: {{shape: Poisson, mean: {}/s}}\n",
      decimals_text(service.gpu_time.ns), decimals_text(service.millionths_per_s));
  if (service.p95) {
    text += fmt::format("    slo: {{latencyP95: {}ms}}\n", decimals_text(service.p95->ns));
  }
  return text;
}

}  // namespace
}  // namespace services_table

Expected<std::string> scenario_of_services(
    const SourceText& table, const std::string& name,
    const std::function<tl::expected<TableGpu, std::string>(const std::string& gpu)>& find_gpu) {
  using services_table::replicas_of;
  using services_table::Service;
  using services_table::TableReader;
  using services_table::usual_gpu;
  using services_table::workload_text;
  const auto services = TableReader(table, find_gpu).read();
  if (!services) return tl::unexpected(services.error());
  TableGpu gpu = usual_gpu(*services).value_or(TableGpu{});
  std::string note = "  # Assumed: 1 x A10G. TODO: yours";
  if (gpu.instance_type.empty()) {
    gpu = {.name = "A10G", .instance_type = "g5.xlarge", .gpus_of_instance = 1};
  } else if (gpu.gpus_of_instance == 1) {
    note = fmt::format("  # has a {}", gpu.name);
  } else {
    note = fmt::format("  # has {} x {}", gpu.gpus_of_instance, gpu.name);
  }
  std::int64_t pods = 0;
  for (const Service& service : *services) pods += replicas_of(service);
  const std::int64_t nodes = (pods + gpu.gpus_of_instance - 1) / gpu.gpus_of_instance;
  std::string text = fmt::format(
      "# {} services, made by `slicewise init --from {}`. TODO marks what the table does not "
      "say.\n#\n#   slicewise run -f THIS_FILE     each pod on a GPU of its own, as below\n#   "
      "slicewise plan -f THIS_FILE    the cheapest way to share GPUs that meets every "
      "slo\napiVersion: slicewise.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: {}}}\nspec:\n  "
      "region: us-east-1  # TODO: yours\n  duration: 10m\n  warmup: 1m\n  nodePools:\n  - name: "
      "gpu\n    instanceType: {}{}\n    nodes: {}  # one GPU for each pod, busy 60 % at most\n  "
      "workloads:\n",
      services->size(), table.name, scalar_text(name), gpu.instance_type, note, nodes);
  for (const Service& service : *services) text += workload_text(service);
  return text;
}

}  // namespace slicewise::scenarios
