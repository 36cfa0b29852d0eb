#include "nsys_report.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "user_table.hpp"

namespace slicewise::models {
namespace {

constexpr std::string_view kNsysHeader = "Time (%),Total Time (ns),";
constexpr std::string_view kMeanColumn = "Avg (ns)";
constexpr std::string_view kRangeColumn = "Range";
constexpr std::array<std::string_view, 2> kRangeColumns = {kMeanColumn, kRangeColumn};
constexpr std::array<std::string_view, 8> kOtherColumns = {
    "Time (%)", "Total Time (ns)", "Instances",   "Med (ns)",
    "Min (ns)", "Max (ns)",        "StdDev (ns)", "Style"};

std::size_t header_of(std::string_view text) {
  if (text.starts_with(kNsysHeader)) return 0;
  const std::size_t at = text.find(fmt::format("\n{}", kNsysHeader));
  return at == std::string_view::npos ? at : at + 1;
}

// "Generating SQLite file ..." stands before the table: empty lines keep the numbers of its own.
SourceText table_of(const SourceText& file) {
  const std::size_t at = header_of(file.text);
  const auto lines = static_cast<std::size_t>(
      std::count(file.text.begin(), file.text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  return {file.name, std::string(lines, '\n') + file.text.substr(at)};
}

bool has_ranges(const SourceText& file) {
  const std::size_t at = header_of(file.text);
  const std::string_view header(file.text.data() + at, file.text.find('\n', at) - at);
  return header.find(fmt::format(",{}", kRangeColumn)) != std::string_view::npos;
}

// ":step" of the default domain is "step".
std::string name_of(const UserTable& table, const CsvRow& row) {
  const std::string name = table.text(row, kRangeColumn);
  return name.starts_with(':') ? name.substr(1) : name;
}

class RangeReader {
 public:
  RangeReader(const SourceText& file, const MeasuredContext& context)
      : name_(file.name), context_(context), table_(table_of(file), kRangeColumns, kOtherColumns) {}

  Expected<std::vector<Measurement>> read(const Catalogue& catalogue) {
    constexpr double kMostNanoseconds = 1e14;
    const CsvRow* row = table_.is_sound() ? chosen() : nullptr;
    const auto mean = row == nullptr ? std::optional<double>()
                                     : table_.number(*row, kMeanColumn, 1'000, kMostNanoseconds);
    Diagnostics problems = table_.take_problems();
    const GpuModel* gpu = gpu_of(context_, catalogue, name_, problems);
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    const CsvField& at = *table_.field(*row, kRangeColumn);
    Measurement alone;
    alone.where = {name_, at.line, at.column, at.length};
    alone.workload = context_.workload.empty() ? name_of(table_, *row) : context_.workload;
    alone.gpu = gpu->name;
    alone.batch = context_.batch.value_or(1);
    alone.time = from_seconds(*mean * 1e-9);
    return std::vector<Measurement>{std::move(alone)};
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
  return header_of(file.text) != std::string_view::npos;
}

Expected<std::vector<Measurement>> read_nsys_report(const SourceText& file,
                                                    const Catalogue& catalogue,
                                                    const MeasuredContext& context) {
  if (has_ranges(file)) return RangeReader(file, context).read(catalogue);
  const auto line = static_cast<int>(
      std::count(file.text.begin(),
                 file.text.begin() + static_cast<std::ptrdiff_t>(header_of(file.text)), '\n'));
  return tl::unexpected(Diagnostics{make_diagnostic(
      Code::FieldMissing, {file.name, line + 1, 1, 1},
      "this summary says how long kernels or calls took, and not how long a step does",
      "put an NVTX range around a step: nsys stats --report nvtx_sum --format csv; the mean of all "
      "kernels is the column `kernel_us` of a table, and measured.kernelTime")});
}

}  // namespace slicewise::models
