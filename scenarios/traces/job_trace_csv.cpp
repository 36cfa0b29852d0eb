#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "slicewise/scenarios/job_trace.hpp"

#include "../text/decimal.hpp"
#include "job_trace_columns.hpp"
#include "job_trace_header.hpp"

// Writing a trace of jobs as CSV.
namespace slicewise::scenarios {
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

}  // namespace slicewise::scenarios
