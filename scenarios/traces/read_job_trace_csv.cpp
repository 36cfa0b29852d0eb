#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

#include "../import/import_report.hpp"
#include "../text/csv_lines.hpp"
#include "../text/decimal.hpp"
#include "../text/name_pool.hpp"
#include "job_trace_columns.hpp"
#include "job_trace_header.hpp"
#include "job_trace_order.hpp"
#include "job_trace_readers.hpp"

namespace slicewise::scenarios {
namespace {

// Where the values of a column of the file go.
struct Target {
  ColumnRules rules;
  std::variant<std::vector<Duration>*, std::vector<std::int32_t>*, std::vector<Bytes>*,
               std::vector<JobState>*, std::vector<std::uint32_t>*>
      values;
};

std::optional<JobState> state_of(std::string_view name) {
  if (name.empty()) return JobState::Unknown;
  const auto* const found = std::find(kStateNames.begin(), kStateNames.end(), name);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<JobState>(found - kStateNames.begin());
}

class JobTraceReader {
 public:
  explicit JobTraceReader(const SourceText& source)
      : source_(source), lines_(source), pool_(trace_.names) {}

  Expected<JobTrace> read() {
    bool has_line = lines_.next();
    while (has_line && lines_.text().starts_with('#')) {
      read_remark(lines_.text());
      has_line = lines_.next();
    }
    if (!has_line) {
      add(Code::TraceFormat, {source_.name, 1, 1, 1}, "the trace is empty",
          "the first line names the columns, each further one is a job");
      return tl::unexpected(std::move(found_));
    }
    if (!read_header()) return tl::unexpected(std::move(found_));
    while (lines_.next()) {
      if (!read_row()) undo_row();
    }
    if (report_.has_failed()) return tl::unexpected(report_.errors());
    put_in_order(trace_);
    return std::move(trace_);
  }

 private:
  void add(Code code, SourceLocation where, std::string message, std::string help = {}) {
    found_.push_back(make_diagnostic(code, std::move(where), std::move(message), std::move(help)));
  }

  void read_remark(std::string_view text) {
    if (text.starts_with(kSharingLine)) trace_.run_under_sharing = true;
    if (!text.starts_with(kOriginLine)) return;
    const auto origin = whole_of(text.substr(kOriginLine.size()));
    if (origin) trace_.origin_unix_s = *origin;
  }

  bool read_header() {
    std::vector<std::string_view> known;
    std::vector<std::string_view> missing;
    visit_columns(trace_, [&](const ColumnRules& rules, auto& column) {
      known.push_back(rules.name);
      const std::size_t at = find(rules.name);
      if (at == lines_.size() && rules.must_exist) missing.push_back(rules.name);
      if (at < lines_.size()) {
        targets_.resize(lines_.size());
        targets_[at] = Target{rules, &column.owned};
      }
    });
    if (lines_.size() > known.size()) {
      add(Code::TraceFormat, lines_.place(),
          fmt::format("{} columns, a trace of jobs has at most {}", lines_.size(), known.size()),
          "logs of other systems are read by slicewise import");
      return false;
    }
    if (!missing.empty()) {
      add(Code::TraceColumnMissing, lines_.place(),
          fmt::format("the trace has no column {}", fmt::join(missing, ", ")),
          "logs of other systems are read by slicewise import");
      return false;
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view name = lines_.value(i);
      const bool is_known = std::ranges::find(known, name) != known.end();
      if (is_known && find(name) == i) continue;
      if (is_known) {
        add(Code::TraceFormat, lines_.place(i), fmt::format("the column {} is there twice", name));
        continue;
      }
      const auto nearest = nearest_name(name, known);
      add(Code::TraceFormat, lines_.place(i),
          fmt::format("a trace of jobs has no column \"{}\"", name),
          nearest ? fmt::format("did you mean {}?", *nearest) : "");
    }
    return found_.empty();
  }

  std::size_t find(std::string_view name) const {
    std::size_t at = 0;
    while (at < lines_.size() && lines_.value(at) != name) ++at;
    return at;
  }

  bool read_row() {
    if (lines_.is_broken())
      return bad(lines_.place(), "a quote that is not closed, or text after it");
    if (lines_.size() != targets_.size()) {
      return bad(lines_.place(), fmt::format("{} values where the header has {} columns",
                                             lines_.size(), targets_.size()));
    }
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const std::string_view text = lines_.value(i);
      const bool fine =
          std::visit([&](auto* values) { return read_value(text, targets_[i].rules, *values); },
                     targets_[i].values);
      if (!fine) return bad(lines_.place(i), explain(text, targets_[i].rules));
    }
    ++rows_;
    return true;
  }

  // A row that could not be read leaves nothing behind.
  void undo_row() {
    for (const Target& target : targets_) {
      std::visit([this](auto* values) { values->resize(std::min(values->size(), rows_)); },
                 target.values);
    }
  }

  static bool read_value(std::string_view text, const ColumnRules& rules,
                         std::vector<Duration>& values) {
    const auto value = text.empty() ? -1 : scaled_of(text, kNanosecondDigits);
    if (!value || !is_allowed(rules, *value) || text.starts_with('-')) return false;
    values.push_back(Duration{*value});
    return true;
  }
  static bool read_value(std::string_view text, const ColumnRules& rules,
                         std::vector<std::int32_t>& values) {
    const auto value =
        text.empty() ? (rules.may_be_unknown ? -1 : empty_number(rules)) : whole_of(text);
    if (!value || !is_allowed(rules, *value)) return false;
    values.push_back(static_cast<std::int32_t>(*value));
    return true;
  }
  static bool read_value(std::string_view text, const ColumnRules& rules,
                         std::vector<Bytes>& values) {
    const auto value = text.empty() ? -1 : whole_of(text);
    if (!value || !is_allowed(rules, *value)) return false;
    values.push_back(Bytes{*value});
    return true;
  }
  static bool read_value(std::string_view text, const ColumnRules& /*rules*/,
                         std::vector<JobState>& values) {
    const auto state = state_of(text);
    if (state) values.push_back(*state);
    return state.has_value();
  }
  bool read_value(std::string_view text, const ColumnRules& /*rules*/,
                  std::vector<std::uint32_t>& values) {
    const bool doubled = text.find("\"\"") != std::string_view::npos;
    values.push_back(pool_.number_of(doubled ? without_doubled_quotes(text) : std::string(text)));
    return true;
  }

  // A job without a priority has 0; without a number of GPUs it is no job.
  static std::optional<std::int64_t> empty_number(const ColumnRules& rules) {
    return rules.must_exist ? std::nullopt : std::optional<std::int64_t>(0);
  }

  static std::string explain(std::string_view text, const ColumnRules& rules) {
    constexpr std::size_t kLongest = 40;
    const std::string shown = text.size() <= kLongest ? fmt::format("\"{}\"", text) : "this text";
    if (rules.name == "state") {
      return fmt::format("{} is none of {}", shown, fmt::join(kStateNames, ", "));
    }
    const bool seconds = rules.name.ends_with("_s");
    return fmt::format("{} is no {} from {} to {}", shown,
                       seconds ? "number of seconds" : "whole number", rules.least,
                       seconds ? rules.most / 1'000'000'000 : rules.most);
  }

  bool bad(SourceLocation where, std::string message) {
    report_.bad_row(std::move(where), std::move(message));
    return false;
  }

  const SourceText& source_;
  CsvLines lines_;
  JobTrace trace_;
  NamePool pool_;
  std::vector<Target> targets_;  // by position in the line
  std::size_t rows_ = 0;
  ImportReport report_{/*skip_bad=*/false};
  Diagnostics found_;  // about the header
};

}  // namespace

Expected<JobTrace> read_job_trace_csv(const SourceText& source) {
  return JobTraceReader(source).read();
}

}  // namespace slicewise::scenarios
