#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/csv_lines.hpp"
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
    "be "
    "left out";

struct Service {
  std::string name;
  Bytes memory;
  double ms = 0;
  double per_second = 0;
  std::optional<Duration> p95;
  std::string gpu;
};

// "ms per request" is ms_per_request.
std::string column_name(std::string_view text) {
  std::string name;
  for (const char c : text) name += c == ' ' ? '_' : lower(c);
  return name;
}

class TableReader {
 public:
  explicit TableReader(const SourceText& table) : table_(table), lines_(table) {}

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
    for (std::size_t i = 0; i < lines_.size(); ++i) {
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
    for (std::size_t column = 0; column < kFirstOptional; ++column) {
      if (places_.at(column)) continue;
      report(Code::TraceColumnMissing, lines_.place(),
             fmt::format("the column {} is missing", kColumns.at(column).name),
             std::string(kAllColumns));
    }
    columns_ = lines_.size();
    return found_.empty();
  }

  void read_row() {
    if (lines_.is_broken() || lines_.size() != columns_) {
      return report(
          Code::TraceRow, lines_.place(),
          fmt::format("{} values where the header has {} columns", lines_.size(), columns_), "");
    }
    Service service;
    service.name = lines_.value(*places_[Name]);
    read_name(service.name);
    read_quantity(Memory, parse_bytes, service.memory);
    read_positive(MsPerRequest, "milliseconds of GPU time, such as 20", service.ms);
    read_positive(RequestsPerS, "requests per second, such as 12.5", service.per_second);
    if (!text_of(P95).empty()) read_quantity(P95, parse_duration, service.p95.emplace());
    service.gpu = text_of(Gpu);
    services_.push_back(std::move(service));
  }

  std::string_view text_of(Column column) const {
    return places_.at(column) ? lines_.value(*places_.at(column)) : std::string_view();
  }

  void read_name(const std::string& name) {
    const auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; };
    constexpr std::size_t kLongest = 63;
    if (name.empty() || name.size() > kLongest || !std::ranges::all_of(name, fits) ||
        name.front() == '-' || name.back() == '-') {
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
    if (parsed) {
      value = *parsed;
      return;
    }
    report(parsed.error().code, lines_.place(*places_.at(column)), parsed.error().message,
           parsed.error().help);
  }

  void read_positive(Column column, std::string_view example, double& value) {
    constexpr int kMicro = 6;
    constexpr double kMost = 1e9;
    const auto scaled = scaled_of(text_of(column), kMicro);
    value = scaled ? static_cast<double>(*scaled) / 1e6 : 0;
    if (value > 0 && value <= kMost) return;
    report(
        Code::TraceRow, lines_.place(*places_.at(column)),
        fmt::format("{}: \"{}\" is no number above 0", kColumns.at(column).name, text_of(column)),
        fmt::format("write {}", example));
  }

  const SourceText& table_;
  CsvLines lines_;
  std::array<std::optional<std::size_t>, Columns> places_;
  std::size_t columns_ = 0;
  std::vector<Service> services_;
  std::map<std::string, int> lines_by_name_;
  Diagnostics found_;
};

// Replicas that are busy 60 % of the time: enough for most objectives, and where plans begin.
std::int64_t replicas_of(const Service& service) {
  constexpr double kLoad = 0.6;
  return std::max<std::int64_t>(
      1, std::llround(std::ceil(service.ms / 1e3 * service.per_second / kLoad - 1e-9)));
}

// The GPU that most services were measured on; "" when nobody says.
std::string usual_gpu(const std::vector<Service>& services) {
  std::map<std::string, int> counts;
  std::string usual;
  for (const Service& service : services) {
    if (!service.gpu.empty() && ++counts[service.gpu] > counts[usual]) usual = service.gpu;
  }
  return usual;
}

std::string workload_text(const Service& service) {
  constexpr std::int64_t kMebibyte = 1'048'576;
  std::string text = fmt::format(
      "  - name: {}\n"
      "    kind: Service\n"
      "    replicas: {}\n"
      "    podTemplate:\n"
      "      resources:\n"
      "        requests: {{cpu: 500m, memory: 2Gi}}  # Assumed. TODO: yours\n"
      "        limits: {{nvidia.com/gpu: 1}}\n"
      "    gpuMemory: {{resident: {}Mi}}\n"
      "    measured:\n",
      service.name, replicas_of(service), (service.memory.count + kMebibyte - 1) / kMebibyte);
  if (!service.gpu.empty()) text += fmt::format("      device: {}\n", service.gpu);
  text += fmt::format(
      "      requestGpuTime: {{mean: {:.10g}ms, distribution: Exponential}}  # the spread is "
      "Assumed. "
      "TODO: p50 and p99\n"
      "      # TODO: smActive: 60% (DCGM_FI_PROF_SM_ACTIVE) says how it scales to other GPUs\n"
      "      provenance: Measured\n"
      "    traffic: {{shape: Poisson, mean: {:.10g}/s}}\n",
      service.ms, service.per_second);
  if (service.p95) {
    text += fmt::format("    slo: {{latencyP95: {:.10g}ms}}\n", to_seconds(*service.p95) * 1e3);
  }
  return text;
}

}  // namespace
}  // namespace services_table

Expected<std::string> scenario_of_services(
    const SourceText& table, const std::string& name,
    const std::function<std::string(const std::string& gpu)>& instance_of) {
  using services_table::replicas_of;
  using services_table::Service;
  using services_table::TableReader;
  using services_table::usual_gpu;
  using services_table::workload_text;
  const auto services = TableReader(table).read();
  if (!services) return tl::unexpected(services.error());
  const std::string gpu = usual_gpu(*services);
  std::string type = gpu.empty() ? "" : instance_of(gpu);
  const std::string note =
      type.empty() ? "  # Assumed: 1 x A10G. TODO: yours" : fmt::format("  # has a {}", gpu);
  if (type.empty()) type = "g5.xlarge";
  std::int64_t pods = 0;
  for (const Service& service : *services) pods += replicas_of(service);
  std::string text = fmt::format(
      "# {} services, made by `slicewise init --from {}`. TODO marks what the table does not say.\n"
      "#\n"
      "#   slicewise run -f THIS_FILE     each pod on a GPU of its own, as below\n"
      "#   slicewise plan -f THIS_FILE    the cheapest way to share GPUs that meets every slo\n"
      "apiVersion: slicewise.dev/v1alpha1\n"
      "kind: Scenario\n"
      "metadata: {{name: {}}}\n"
      "spec:\n"
      "  region: us-east-1  # TODO: yours\n"
      "  duration: 10m\n"
      "  warmup: 1m\n"
      "  nodePools:\n"
      "  - name: gpu\n"
      "    instanceType: {}{}\n"
      "    nodes: {}  # one for each pod, which is busy 60 % of the time\n"
      "  workloads:\n",
      services->size(), table.name, name, type, note, std::min<std::int64_t>(pods, 10'000));
  for (const Service& service : *services) text += workload_text(service);
  return text;
}

}  // namespace slicewise::scenarios
