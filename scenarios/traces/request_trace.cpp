#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/csv_lines.hpp"
#include "slicewise/nearest_name.hpp"

#include "../fields/check_scalar.hpp"
#include "prompt_blocks.hpp"
#include "trace_files.hpp"

namespace slicewise::scenarios {
namespace {

// The names that public traces use, in lower case, without blanks, - and _. Azure: TIMESTAMP,
// ContextTokens, GeneratedTokens; BurstGPT: Timestamp, Request tokens, Response tokens; Vidur:
// arrived_at, num_prefill_tokens, num_decode_tokens; `slicewise import`: arrival_s, input_tokens,
// output_tokens.
constexpr std::array<std::string_view, 8> kTimeNames = {
    "timestamp",        "time",      "arrival", "arrivals", "arrivaltime",
    "arrivaltimestamp", "arrivedat", "at"};
constexpr std::array<std::string_view, 7> kInputNames = {
    "contexttokens", "inputtokens",  "prompttokens",    "requesttokens",
    "inputlength",   "promptlength", "numprefilltokens"};
constexpr std::array<std::string_view, 7> kOutputNames = {
    "generatedtokens", "outputtokens",     "completiontokens", "responsetokens",
    "outputlength",    "completionlength", "numdecodetokens"};

// Mooncake's and Alibaba's traces.
constexpr std::array<std::string_view, 2> kBlocksNames = {"hashids", "blockhashes"};

using Column = std::optional<std::size_t>;

struct TimedRow {
  std::int64_t ns = 0;
  RequestTrace::Row row;
};

class TraceReader {
 public:
  TraceReader(const SourceText& csv, RequestTrace& trace, Findings& findings, Diagnostics& notes)
      : csv_(csv),
        lines_(csv),
        name_(csv.name),
        trace_(trace),
        findings_(findings),
        notes_(notes),
        numbers_(trace.block_tokens) {}

  void read() {
    if (is_binary_requests(csv_.text)) return read_binary();
    if (!lines_.next()) {
      findings_.add(Code::ValueRange, {name_, 1, 1, 1}, "the trace is empty",
                    "the first line names the columns, each further one is a request");
      return;
    }
    if (!read_header()) return;
    read_lines();
    if (bad_lines_.hidden() > 0) {
      findings_.add(Code::FieldType, bad_lines_.first_hidden(),
                    fmt::format("{} more lines of the trace cannot be read", bad_lines_.hidden()));
    }
    if (bad_lines_.count() > 0) return;
    if (rows_.empty()) {
      findings_.add(Code::ValueRange, {name_, 1, 1, 1}, "the trace has a header but no requests");
      return;
    }
    put_in_order();
    cut_to_window();
  }

 private:
  void read_binary() {
    Expected<RequestLog> log = read_request_binary(csv_);
    if (!log) {
      for (Diagnostic& problem : log.error()) findings_.add(std::move(problem));
      return;
    }
    if (log->rows.empty()) {
      findings_.add(Code::ValueRange, {name_, 0}, "the trace has no requests");
      return;
    }
    for (const RequestTrace::Row& row : log->rows) rows_.push_back({row.at.ns, row});
    has_tokens_ = log->has_tokens;
    trace_.blocks = std::move(log->blocks);
    cut_to_window();
  }

  // Columns.

  bool read_header() {
    header_.clear();
    for (std::size_t i = 0; i < lines_.size(); ++i) header_.emplace_back(lines_.value(i));
    time_ = find_column(trace_.time_column, kTimeNames);
    input_ = find_column(trace_.input_column, kInputNames);
    output_ = find_column(trace_.output_column, kOutputNames);
    blocks_ = find_column(trace_.blocks_column, kBlocksNames);
    if (unknown_column_) return false;
    if (!time_) {
      findings_.add(Code::FieldMissing, lines_.place(), "no column of this trace is known as time",
                    fmt::format("name one in timeColumn: {}", fmt::join(header_, ", ")));
      return false;
    }
    if (!both_or_neither()) return false;
    if (!input_) blocks_.reset();
    note_other_columns();
    return true;
  }

  template <std::size_t N>
  Column find_column(const Located<std::string>& wanted,
                     const std::array<std::string_view, N>& usual) {
    if (wanted.value.empty()) {
      for (const std::string_view name : usual) {
        const auto found = std::ranges::find(header_, name, letters_of);
        if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
      }
      return std::nullopt;
    }
    const auto found = std::ranges::find(header_, wanted.value);
    if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
    unknown_column_ = true;
    const std::vector<std::string_view> names(header_.begin(), header_.end());
    const auto nearest = nearest_name(wanted.value, names);
    findings_.add(Code::FieldUnknown, wanted.where,
                  fmt::format("\"{}\" has no column \"{}\"", name_, wanted.value),
                  nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                          : fmt::format("it has: {}", fmt::join(header_, ", ")));
    return std::nullopt;
  }

  // Tokens of prompt and answer are of use together only.
  bool both_or_neither() {
    if (input_.has_value() == output_.has_value()) return true;
    const Located<std::string>& asked = input_ ? trace_.input_column : trace_.output_column;
    (input_ ? input_ : output_).reset();
    if (asked.value.empty()) return true;
    findings_.add(Code::FieldMissing, asked.where,
                  "the trace has only one of the two columns of tokens",
                  "name both inputTokensColumn and outputTokensColumn, or neither");
    return false;
  }

  void note_other_columns() {
    std::vector<std::string_view> others;
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (i != time_ && i != input_ && i != output_ && i != blocks_)
        others.emplace_back(header_[i]);
    }
    if (others.empty()) return;
    note(Code::FieldUnknown, lines_.place(),
         fmt::format("{} of the trace not used: {}", others.size() == 1 ? "a column" : "columns",
                     fmt::join(others, ", ")));
  }

  // Lines.

  void read_lines() {
    while (lines_.next()) {
      TimedRow row;
      if (read_line(row)) rows_.push_back(row);
    }
  }

  bool read_line(TimedRow& row) {
    if (const std::string wrong = lines_.misfit(header_.size()); !wrong.empty()) {
      return bad(lines_.place(), wrong);
    }
    const auto time = parse_trace_time(lines_.value(*time_));
    if (!time) {
      return bad(lines_.place(*time_), fmt::format("{} is no time", quoted(*time_)),
                 "write seconds up to 9.2e9 (12.5) or date and time (2023-11-16 18:17:03.97)");
    }
    row.ns = *time;
    if (!input_) return true;
    return read_tokens(*input_, row.row.input_tokens) &&
           read_tokens(*output_, row.row.output_tokens) && (!blocks_ || read_blocks_of(row.row));
  }

  // The last may be of fewer tokens: no server keeps a part of a block.
  bool read_blocks_of(RequestTrace::Row& row) {
    std::string_view left = lines_.value(*blocks_);
    std::int64_t before = 0;  // tokens
    for (std::string_view hash = next_word(left); !hash.empty(); hash = next_word(left)) {
      const auto number = to_integer(hash);
      if (!number) {
        return bad(lines_.place(*blocks_), fmt::format("{} are no hashes", quoted(*blocks_)),
                   "write whole numbers with blanks between: 0 1 2");
      }
      if (before >= row.input_tokens) {
        return bad(lines_.place(*blocks_),
                   fmt::format("more blocks of {} tokens than the prompt has", numbers_.tokens()),
                   "say in blockTokens how many tokens each has");
      }
      before += numbers_.tokens();
      if (before <= row.input_tokens) row.prompt = numbers_.number(row.prompt, *number);
    }
    return true;
  }

  static std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
  }

  bool read_tokens(std::size_t column, std::int32_t& tokens) {
    const auto count = to_integer(lines_.value(column));
    if (count && *count >= 0 && *count <= kMostTokens) {
      tokens = static_cast<std::int32_t>(*count);
      return true;
    }
    return bad(lines_.place(column), fmt::format("{} is no number of tokens", quoted(column)),
               "write a whole number from 0 to 100000000");
  }

  std::string quoted(std::size_t column) const {
    constexpr std::size_t kLongest = 40;
    const std::string_view value = lines_.value(column);
    return value.size() <= kLongest ? fmt::format("\"{}\"", value) : "this text";
  }

  bool bad(const SourceLocation& where, std::string message, std::string help = {}) {
    if (bad_lines_.shows(where)) {
      findings_.add(Code::FieldType, where, std::move(message), std::move(help));
    }
    return false;
  }

  // Rows.

  void put_in_order() {
    std::size_t late = 0;
    for (std::size_t i = 1; i < rows_.size(); ++i) late += rows_[i].ns < rows_[i - 1].ns ? 1 : 0;
    if (late == 0) return;
    std::ranges::stable_sort(rows_, {}, &TimedRow::ns);
    note(Code::ValueRange, {name_, 1, 1, 1},
         fmt::format(
             "{} of the trace {} earlier than the line above; they were put in order of time",
             late == 1 ? "one line" : fmt::format("{} lines", late), late == 1 ? "is" : "are"));
  }

  void cut_to_window() {
    const std::int64_t begin = rows_.front().ns;
    std::int64_t first = 0;
    for (const TimedRow& timed : rows_) {
      const Duration at{timed.ns - begin};
      if (at < trace_.from || (trace_.length && at - trace_.from >= *trace_.length)) {
        ++trace_.skipped;
        continue;
      }
      if (trace_.rows.empty()) first = timed.ns;
      trace_.rows.push_back(timed.row);
      trace_.rows.back().at = Duration{timed.ns - first};
    }
    trace_.has_tokens = has_tokens_ || input_.has_value();
    if (blocks_) trace_.blocks = numbers_.take();
    if (!trace_.rows.empty()) return;
    findings_.add(Code::ValueRange, trace_.file.where, "no request of the trace is in its window",
                  fmt::format("the trace is {:.6g} s long: change from or length",
                              to_seconds({rows_.back().ns - begin})));
  }

  void note(Code code, SourceLocation where, std::string message) {
    Diagnostic found = make_diagnostic(code, std::move(where), std::move(message));
    found.severity = Severity::Note;
    if (!holds(notes_, found)) notes_.push_back(std::move(found));
  }

  const SourceText& csv_;
  CsvLines lines_;
  const std::string& name_;
  RequestTrace& trace_;
  Findings& findings_;
  Diagnostics& notes_;
  std::vector<std::string> header_;
  Column time_;
  Column input_;
  Column output_;
  Column blocks_;
  PromptNumbers numbers_;
  bool unknown_column_ = false;
  std::vector<TimedRow> rows_;
  bool has_tokens_ = false;  // of a binary trace
  BadLines bad_lines_;
};

}  // namespace

void read_request_trace(const SourceText& csv, RequestTrace& trace, Findings& findings,
                        Diagnostics& notes) {
  TraceReader(csv, trace, findings, notes).read();
}

}  // namespace slicewise::scenarios
