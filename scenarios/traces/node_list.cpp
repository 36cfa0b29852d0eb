#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/csv_lines.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/job_trace.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostGpus = 16;
constexpr std::int64_t kMostMillicores = 1'000'000'000;
constexpr std::int64_t kMostMebibytes = 1'000'000'000;
constexpr std::int64_t kMostNodes = 1'000'000;

enum NodeField : std::size_t { Name, Cpu, Memory, Gpus, Model, Count, Fields };

constexpr std::array<std::pair<std::string_view, NodeField>, 10> kNodeColumns = {
    {{"name", Name},
     {"sn", Name},
     {"cpu_milli", Cpu},
     {"memory_mib", Memory},
     {"gpu", Gpus},
     {"gpus", Gpus},
     {"num_gpu", Gpus},
     {"model", Model},
     {"gpu_model", Model},
     {"count", Count}}};
constexpr std::array<std::string_view, Fields> kFieldNames = {"name", "cpu_milli", "memory_mib",
                                                              "gpu",  "model",     "count"};

class NodeListReader {
 public:
  explicit NodeListReader(const SourceText& csv) : csv_(csv), lines_(csv) {}

  Expected<std::vector<NodeRow>> read() {
    if (!lines_.next()) {
      problems_.push_back(make_diagnostic(Code::TraceFormat, {csv_.name, 1, 1, 1},
                                          "the list of nodes is empty",
                                          "the first line names the columns"));
    } else if (read_header()) {
      while (lines_.next()) read_line();
      if (bad_lines_.hidden() > 0) {
        problems_.push_back(
            make_diagnostic(Code::TraceRow, bad_lines_.first_hidden(),
                            fmt::format("{} more lines cannot be read", bad_lines_.hidden())));
      }
    }
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    return std::move(nodes_);
  }

 private:
  bool read_header() {
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      const auto known = std::ranges::find(kNodeColumns, lines_.value(at),
                                           &std::pair<std::string_view, NodeField>::first);
      if (known != kNodeColumns.end() && !columns_[known->second]) {
        columns_[known->second] = at;
        continue;
      }
      const std::string name(lines_.value(at));
      const auto near = nearest_name(name, kFieldNames);
      problems_.push_back(make_diagnostic(
          Code::TraceFormat, lines_.place(at),
          known == kNodeColumns.end() ? fmt::format("\"{}\" is no column of a list of nodes", name)
                                      : fmt::format("a second column \"{}\"", name),
          near && known == kNodeColumns.end() ? fmt::format("did you mean {}?", *near) : ""));
    }
    for (const NodeField field : {Name, Cpu, Memory, Gpus}) {
      if (columns_[field]) continue;
      problems_.push_back(
          make_diagnostic(Code::TraceColumnMissing, lines_.place(),
                          fmt::format("there is no column {}", kFieldNames[field]),
                          "a list of nodes is name,cpu_milli,memory_mib,gpu,model"));
    }
    width_ = lines_.size();
    return problems_.empty();
  }

  void bad_line(const SourceLocation& where, std::string message) {
    if (bad_lines_.shows(where)) {
      problems_.push_back(make_diagnostic(Code::TraceRow, where, std::move(message)));
    }
  }

  // A whole number, also written as 64000.0; nullopt after reporting.
  std::optional<std::int64_t> number(NodeField field, std::int64_t most) {
    const std::string_view text = lines_.value(*columns_[field]);
    std::string_view digits = text;
    if (digits.ends_with(".0")) digits.remove_suffix(2);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && end == digits.data() + digits.size() && value >= 0 &&
        value <= most && !digits.empty()) {
      return value;
    }
    bad_line(
        lines_.place(*columns_[field]),
        fmt::format("{} is a whole number up to {}, not \"{}\"", kFieldNames[field], most, text));
    return std::nullopt;
  }

  void read_line() {
    if (const std::string wrong = lines_.misfit(width_); !wrong.empty()) {
      return bad_line(lines_.place(), wrong);
    }
    const auto cpu = number(Cpu, kMostMillicores);
    const auto memory = number(Memory, kMostMebibytes);
    const auto gpus = number(Gpus, kMostGpus);
    const auto count = columns_[Count] ? number(Count, kMostNodes) : 1;
    if (!cpu || !memory || !gpus || !count) return;
    total_ += *count;
    if (total_ > kMostNodes) {
      bad_line(lines_.place(), fmt::format("more than {} nodes", kMostNodes));
      return;
    }
    NodeRow node{without_doubled_quotes(lines_.value(*columns_[Name])),
                 {*cpu},
                 mebibytes(*memory),
                 static_cast<int>(*gpus),
                 "",
                 *count};
    if (columns_[Model]) node.gpu_model = without_doubled_quotes(lines_.value(*columns_[Model]));
    nodes_.push_back(std::move(node));
  }

  const SourceText& csv_;
  CsvLines lines_;
  std::array<std::optional<std::size_t>, Fields> columns_;
  std::size_t width_ = 0;
  std::vector<NodeRow> nodes_;
  std::int64_t total_ = 0;
  Diagnostics problems_;
  BadLines bad_lines_;
};

}  // namespace

Expected<std::vector<NodeRow>> read_node_list(const SourceText& csv) {
  return NodeListReader(csv).read();
}

}  // namespace slicewise::scenarios
