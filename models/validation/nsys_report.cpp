#include "nsys_report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"

#include "user_table.hpp"

namespace slicewise::models {
namespace {

constexpr std::string_view kNsysHeader = "Time (%),Total Time (ns),";
constexpr std::string_view kTotalColumn = "Total Time (ns)";
constexpr std::string_view kCountColumn = "Instances";
constexpr std::string_view kMeanColumn = "Avg (ns)";
constexpr std::string_view kRangeColumn = "Range";
constexpr std::array<std::string_view, 2> kRangeColumns = {kMeanColumn, kRangeColumn};
constexpr std::array<std::string_view, 8> kOtherRangeColumns = {
    "Time (%)", kTotalColumn, kCountColumn,  "Med (ns)",
    "Min (ns)", "Max (ns)",   "StdDev (ns)", "Style"};
constexpr std::array<std::string_view, 3> kKernelColumns = {kTotalColumn, kCountColumn, "Name"};
constexpr std::array<std::string_view, 8> kOtherKernelColumns = {
    "Time (%)", kMeanColumn,   "Med (ns)", "Min (ns)",
    "Max (ns)", "StdDev (ns)", "GridXYZ",  "BlockXYZ"};

// One of the tables of a file: each ends at an empty line, or where the tool says what it does
// next.
struct NsysTable {
  std::string_view header;
  SourceText text;  // empty lines before keep the numbers of its own
};

std::string_view line_at(std::string_view text, std::size_t begin) {
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

std::vector<NsysTable> tables_of(const SourceText& file) {
  const std::string_view text = file.text;
  std::vector<NsysTable> tables;
  bool inside = false;
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size(); ++lines) {
    const std::string_view line = line_at(text, begin);
    if (line.starts_with(kNsysHeader)) {
      inside = true;
      tables.push_back({line, {file.name, std::string(lines, '\n')}});
    }
    inside = inside && !line.empty() && !line.starts_with("Processing [");
    if (inside) tables.back().text.text += fmt::format("{}\n", line);
    const std::size_t end = text.find('\n', begin);
    begin = end == std::string_view::npos ? text.size() : end + 1;
  }
  return tables;
}

bool has_ranges(const NsysTable& table) {
  return table.header.ends_with(fmt::format(",{}", kRangeColumn));
}

// Calls of an API have "Num Calls", copies of memory a "Count".
bool has_kernels(const NsysTable& table) {
  return table.header.ends_with(",Name") &&
         table.header.find(fmt::format(",{},", kCountColumn)) != std::string_view::npos;
}

Expected<Duration> mean_kernel(const NsysTable& kernels) {
  constexpr double kMost = 1e17;
  UserTable table(kernels.text, kKernelColumns, kOtherKernelColumns);
  double nanoseconds = 0;
  double count = 0;
  for (const CsvRow& row : table.rows()) {
    nanoseconds += table.number(row, kTotalColumn, 1, kMost).value_or(0);
    count += table.number(row, kCountColumn, 1, kMost).value_or(0);
  }
  if (!table.is_sound()) return tl::unexpected(table.take_problems());
  return from_seconds(nanoseconds / count * 1e-9);
}

// ":step" of the default domain is "step".
std::string name_of(const UserTable& table, const CsvRow& row) {
  const std::string name = table.text(row, kRangeColumn);
  return name.starts_with(':') ? name.substr(1) : name;
}

class RangeReader {
 public:
  RangeReader(const SourceText& ranges, const MeasuredContext& context)
      : name_(ranges.name), context_(context), table_(ranges, kRangeColumns, kOtherRangeColumns) {}

  Expected<Measurement> read(const Catalogue& catalogue) {
    constexpr double kMostNanoseconds = 1e14;
    const CsvRow* row = table_.is_sound() ? chosen() : nullptr;
    const auto mean = row == nullptr ? std::optional<double>()
                                     : table_.number(*row, kMeanColumn, 1'000, kMostNanoseconds);
    Diagnostics problems = table_.take_problems();
    const GpuModel* gpu = gpu_of(context_, catalogue, name_, problems);
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    const CsvField& at = *table_.field(*row, kRangeColumn);
    Measurement alone;
    alone.driver = context_.driver;
    alone.date = context_.date;
    alone.where = {name_, at.line, at.column, at.length};
    alone.workload = context_.workload.empty() ? name_of(table_, *row) : context_.workload;
    alone.gpu = gpu->name;
    alone.batch = context_.batch.value_or(1);
    alone.time = from_seconds(*mean * 1e-9);
    return alone;
  }

 private:
  // The range that is named, else the only one.
  const CsvRow* chosen() {
    std::vector<std::string> names;
    for (const CsvRow& row : table_.rows()) {
      names.push_back(name_of(table_, row));
      if (names.back() == context_.workload) return &row;
    }
    if (names.size() == 1) return &table_.rows().front();
    table_.report(
        Code::FieldMissing, *table_.field(table_.rows().front(), kRangeColumn),
        context_.workload.empty()
            ? fmt::format("{} ranges, and the file does not say which is a step", names.size())
            : fmt::format("no range is called {}", context_.workload),
        fmt::format("name one with --workload: {}", fmt::join(names, ", ")));
    return nullptr;
  }

  std::string name_;
  const MeasuredContext& context_;
  UserTable table_;
};

}  // namespace

bool is_nsys_report(const SourceText& file) {
  return file.text.starts_with(kNsysHeader) ||
         file.text.find(fmt::format("\n{}", kNsysHeader)) != std::string::npos;
}

Expected<std::vector<Measurement>> read_nsys_report(const SourceText& file,
                                                    const Catalogue& catalogue,
                                                    const MeasuredContext& context) {
  const std::vector<NsysTable> tables = tables_of(file);
  const NsysTable* ranges = find_if_or_null(tables, has_ranges);
  if (ranges == nullptr) {
    const std::string& before = tables.front().text.text;
    const auto line = static_cast<int>(before.find_first_not_of('\n')) + 1;
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::FieldMissing, {file.name, line, 1, 1},
        "this summary says how long kernels or calls took, and not how long a step does",
        "put an NVTX range around a step: nsys stats --report nvtx_sum,cuda_gpu_kern_sum --format "
        "csv; or give the summary of kernels beside a file that has the workload alone")});
  }
  auto alone = RangeReader(ranges->text, context).read(catalogue);
  if (!alone) return tl::unexpected(alone.error());
  if (const NsysTable* kernels = find_if_or_null(tables, has_kernels)) {
    const auto mean = mean_kernel(*kernels);
    if (!mean) return tl::unexpected(mean.error());
    alone->kernel_time = *mean;
  }
  return std::vector<Measurement>{std::move(*alone)};
}

bool is_kernel_summary(const SourceText& file) {
  if (!is_nsys_report(file)) return false;
  const std::vector<NsysTable> tables = tables_of(file);
  return find_if_or_null(tables, has_kernels) != nullptr &&
         find_if_or_null(tables, has_ranges) == nullptr;
}

Expected<Duration> read_kernel_summary(const SourceText& file) {
  const std::vector<NsysTable> tables = tables_of(file);
  return mean_kernel(*find_if_or_null(tables, has_kernels));
}

}  // namespace slicewise::models
