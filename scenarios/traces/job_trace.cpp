#include "job_trace.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/csv_lines.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/printable.hpp"

#include "../import/import_report.hpp"
#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

// FNV-1a; the low bits are well mixed, which is all that the table needs.
std::size_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return static_cast<std::size_t>(hash ^ hash >> 32U);
}

}  // namespace

NamePool::NamePool(std::vector<std::string>& names) : names_(names), slots_(64) {
  if (names_.empty()) names_.emplace_back();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (2 * i >= slots_.size()) grow();
    std::size_t slot = hash_of(names_[i]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(i) + 1;
  }
}

std::uint32_t NamePool::number_of(std::string_view name) {
  if (name.empty()) return 0;
  std::string clean;
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(name, is_plain)) name = clean = printable(name);
  std::size_t slot = hash_of(name) & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (names_[slots_[slot] - 1] == name) return slots_[slot] - 1;
  }
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  slots_[slot] = number + 1;
  if (2 * names_.size() > slots_.size()) grow();
  return number;
}

void NamePool::grow() {
  std::vector<std::uint32_t> larger(slots_.size() * 2);
  for (const std::uint32_t entry : slots_) {
    if (entry == 0) continue;
    std::size_t slot = hash_of(names_[entry - 1]) & (larger.size() - 1);
    while (larger[slot] != 0) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = entry;
  }
  slots_ = std::move(larger);
}

// Traces of jobs in either form, written and read as CSV.

std::string_view apart_text(Apart why) {
  constexpr std::string_view kTexts[] = {
      "that ran for no time",
      "whose run time is not known",
      "with another number of GPUs",
      "without a GPU",
      "of a gang, whose rows start each by itself",
      "with a time limit, which ends none of them",
      ("that ask for a part of each of several GPUs: they get whole ones"),
      "with a resource that is not the one they ask for here",
      "that ask for more GPUs than nodes have for one",
      "that ask for more CPU than a node has",
      "that ask for more memory than a node has"};
  return kTexts[static_cast<std::size_t>(why)];
}

std::string_view state_name(JobState state) { return kStateNames[static_cast<std::size_t>(state)]; }

bool is_binary_job_trace(std::string_view bytes) {
  return bytes.starts_with(std::string_view(kBinaryMagic.data(), kBinaryMagic.size()));
}

Expected<JobTrace> read_job_trace(const SourceText& source, std::shared_ptr<const void> backing,
                                  Diagnostics* skipped) {
  if (is_binary_job_trace(source.text)) {
    return map_job_trace(source.name, source.text, std::move(backing));
  }
  ImportReport report(skipped != nullptr);
  auto trace = read_job_trace_csv(source, report);
  if (!trace || skipped == nullptr) return trace;
  for (ImportRemark& remark : report.take_log(static_cast<std::int64_t>(trace->size())).remarks) {
    const std::string where = fmt::format("the first is line {}", remark.first.line);
    skipped->push_back(make_diagnostic(Code::TraceRow, std::move(remark.first),
                                       fmt::format("{} {}; {}", remark.count, remark.what, where)));
    skipped->back().severity = Severity::Warning;
  }
  return trace;
}

std::size_t put_in_order(JobTrace& trace) {
  const std::vector<Duration>& arrival = trace.arrival.owned;
  std::size_t late = 0;
  for (std::size_t i = 1; i < arrival.size(); ++i) late += arrival[i] < arrival[i - 1] ? 1 : 0;
  if (late == 0) return 0;
  std::vector<std::size_t> order(arrival.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return arrival[row]; });
  visit_columns(trace, [&](const ColumnRules& /*rules*/, auto& column) {
    if (column.empty()) return;
    auto sorted = column.owned;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column.owned[order[i]];
    column.owned = std::move(sorted);
  });
  if (trace.lines.empty()) return late;
  const std::vector<std::uint32_t> lines = trace.lines;
  for (std::size_t i = 0; i < order.size(); ++i) trace.lines[i] = lines[order[i]];
  return late;
}

namespace {

void append_number(std::string& text, std::int64_t value) {
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  text.append(buffer.data(), end);
}

// In quotes where the reader would else see something different.
void append_name(std::string& text, std::string_view name) {
  const bool plain = name.find_first_of(",\"") == std::string_view::npos &&
                     (name.empty() || (name.front() != ' ' && name.back() != ' '));
  if (plain) {
    text += name;
    return;
  }
  text += '"';
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

class Writer {
 public:
  explicit Writer(const JobTrace& trace) : trace_(trace) {}

  std::string write() {
    if (trace_.origin_unix_s) {
      text_ += kOriginLine;
      append_number(text_, *trace_.origin_unix_s);
      text_ += '\n';
    }
    if (trace_.run_under_sharing) {
      text_ += kSharingLine;
      text_ += '\n';
    }
    visit_columns(trace_, [&](const ColumnRules& rules, const auto& column) {
      if (column.empty() && !rules.must_exist) return;
      text_ += text_.empty() || text_.back() == '\n' ? "" : ",";
      text_ += rules.name;
    });
    text_ += '\n';
    for (std::size_t row = 0; row < trace_.size(); ++row) write_row(row);
    return std::move(text_);
  }

 private:
  void write_row(std::size_t row) {
    bool first = true;
    visit_columns(trace_, [&](const ColumnRules& rules, const auto& column) {
      if (column.empty()) return;
      if (!first) text_ += ',';
      first = false;
      write_value(rules, column[row]);
    });
    text_ += '\n';
  }

  void write_value(const ColumnRules& /*rules*/, Duration value) {
    if (value != kUnknownDuration) append_scaled(text_, value.ns, kNanosecondDigits);
  }
  void write_value(const ColumnRules& rules, std::int32_t value) {
    if (value != kUnknownNumber || !rules.may_be_unknown) append_number(text_, value);
  }
  void write_value(const ColumnRules& /*rules*/, Bytes value) {
    if (value.count >= 0) append_number(text_, value.count);
  }
  void write_value(const ColumnRules& /*rules*/, JobState value) { text_ += state_name(value); }
  void write_value(const ColumnRules& /*rules*/, std::uint32_t value) {
    append_name(text_, trace_.names[value]);
  }

  const JobTrace& trace_;
  std::string text_;
};

}  // namespace

std::string job_trace_csv(const JobTrace& trace) { return Writer(trace).write(); }

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
  const auto* const found = std::ranges::find(kStateNames, name);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<JobState>(found - kStateNames.begin());
}

class JobTraceReader {
 public:
  JobTraceReader(const SourceText& source, ImportReport& report)
      : source_(source), lines_(source), pool_(trace_.names), report_(report) {}

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
      report_.read();
      if (!read_row()) undo_row();
    }
    if (report_.has_failed()) return tl::unexpected(report_.errors());
    name_places();
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

  // What it is instead, by how it begins.
  std::string who_reads_it() const {
    const auto by = [&](std::string_view kind, std::string_view what) {
      return fmt::format("{}: slicewise import {} -f {} | slicewise replay -f - ...", what, kind,
                         source_.name);
    };
    if (source_.text.starts_with("JobID")) return by("sacct", "that is what sacct -P prints");
    if (source_.text.starts_with(";")) return by("swf", "that is the Standard Workload Format");
    return "logs of other systems are read by slicewise import";
  }

  bool read_header() {
    if (!lines_.flaw().empty()) {
      add(Code::TraceFormat, lines_.place(), std::string(lines_.flaw()));
      return false;
    }
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
          who_reads_it());
      return false;
    }
    if (!missing.empty()) {
      add(Code::TraceColumnMissing, lines_.place(),
          fmt::format("the trace has no column {}", fmt::join(missing, ", ")), who_reads_it());
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

  void name_places() {
    trace_.file = source_.name;
    trace_.first_line = trace_.lines.empty() ? 0 : trace_.lines.front();
    const bool follow =
        trace_.lines.empty() || trace_.lines.back() - trace_.first_line + 1 == trace_.lines.size();
    if (put_in_order(trace_) == 0 && follow) trace_.lines = {};
  }

  std::size_t find(std::string_view name) const {
    std::size_t at = 0;
    while (at < lines_.size() && lines_.value(at) != name) ++at;
    return at;
  }

  bool read_row() {
    if (const std::string wrong = lines_.misfit(targets_.size()); !wrong.empty()) {
      return bad(lines_.place(), wrong);
    }
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const std::string_view text = lines_.value(i);
      const bool fine =
          std::visit([&](auto* values) { return read_value(text, targets_[i].rules, *values); },
                     targets_[i].values);
      if (!fine) {
        constexpr std::size_t kLongest = 40;
        const ColumnRules& rules = targets_[i].rules;
        return bad(
            lines_.place(i),
            explain(text.size() <= kLongest ? fmt::format("\"{}\"", text) : "this text", rules),
            explain(rules.name, rules));
      }
    }
    ++rows_;
    trace_.lines.push_back(static_cast<std::uint32_t>(lines_.line()));
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

  static std::string explain(std::string_view shown, const ColumnRules& rules) {
    if (rules.name == "state") {
      return fmt::format("{} is none of {}", shown, fmt::join(kStateNames, ", "));
    }
    const bool seconds = rules.name.ends_with("_s");
    return fmt::format("{} is no {} from {} to {}", shown,
                       seconds ? "number of seconds" : "whole number", rules.least,
                       seconds ? rules.most / 1'000'000'000 : rules.most);
  }

  bool bad(SourceLocation where, std::string message, std::string reason = {}) {
    report_.bad_row(std::move(where), std::move(message), {}, std::move(reason));
    return false;
  }

  const SourceText& source_;
  CsvLines lines_;
  JobTrace trace_;
  NamePool pool_;
  std::vector<Target> targets_;  // by position in the line
  std::size_t rows_ = 0;
  ImportReport& report_;
  Diagnostics found_;  // about the header
};

}  // namespace

Expected<JobTrace> read_job_trace_csv(const SourceText& source, ImportReport& report) {
  return JobTraceReader(source, report).read();
}

}  // namespace slicewise::scenarios
