#include "table_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "../traces/trace_files.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostInstant = 9'200'000'000'000'000'000;

// A number of units in nanoseconds.
std::optional<std::int64_t> in_nanoseconds(std::string_view text, TimeUnit unit) {
  int digits = kNanosecondDigits;
  std::int64_t seconds = 1;
  if (unit == TimeUnit::Millis) digits = 6;
  if (unit == TimeUnit::Micros) digits = 3;
  if (unit == TimeUnit::Minutes) seconds = 60;
  if (unit == TimeUnit::Hours) seconds = 3'600;
  const auto value = scaled_of(text, digits);
  if (!value || *value > kMostInstant / seconds || *value < -kMostInstant / seconds) {
    return std::nullopt;
  }
  return *value * seconds;
}

bool names_zone(std::string_view date) {
  constexpr std::size_t kAfterDay = 10;
  return date.ends_with('Z') || date.find_first_of("+-", kAfterDay) != std::string_view::npos;
}

// "1-02:03:04", "02:03:04" or "03:04.5".
std::optional<Duration> clock_span(std::string_view text) {
  std::int64_t days = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto number = whole_of(text.substr(0, dash));
    if (!number || *number < 0 || *number > 40'000) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  std::int64_t minutes = days * 24 * 60;
  std::int64_t unit = 1;
  const std::size_t last = text.rfind(':');
  if (last == std::string_view::npos) return std::nullopt;
  const auto rest = scaled_of(text.substr(last + 1), kNanosecondDigits);
  if (!rest || *rest < 0 || *rest >= 60'000'000'000) return std::nullopt;
  text = text.substr(0, last);
  while (true) {
    const std::size_t colon = text.rfind(':');
    const auto number = whole_of(text.substr(colon == std::string_view::npos ? 0 : colon + 1));
    if (!number || *number < 0 || *number > 1'000'000 || unit > 60) return std::nullopt;
    minutes += *number * unit;
    unit *= 60;
    if (colon == std::string_view::npos) break;
    text = text.substr(0, colon);
  }
  const Duration span = seconds(minutes * 60) + Duration{*rest};
  return span.ns <= kLongestInTrace ? std::optional(span) : std::nullopt;
}

}  // namespace

std::optional<TimeUnit> time_unit(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, TimeUnit>, 8> kWords = {{
      {"", TimeUnit::Auto},
      {"iso", TimeUnit::Iso},
      {"s", TimeUnit::Seconds},
      {"ms", TimeUnit::Millis},
      {"us", TimeUnit::Micros},
      {"min", TimeUnit::Minutes},
      {"m", TimeUnit::Minutes},
      {"h", TimeUnit::Hours},
  }};
  for (const auto& [known, unit] : kWords) {
    if (known == word) return unit;
  }
  return std::nullopt;
}

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 10> kWords = {"-",   "--",  "none", "null",    "nan",
                                                       "nat", "n/a", "na",   "unknown", "<na>"};
  if (text.empty()) return true;
  // Nearly every value is a number.
  if (text.size() > 7 || (text[0] >= '0' && text[0] <= '9')) return false;
  const std::string word = lower_case(text);
  return std::ranges::find(kWords, word) != kWords.end();
}

bool is_date(std::string_view text) {
  constexpr std::size_t kAfterYear = 4;
  return text.size() > kAfterYear && text[kAfterYear] == '-' && text.find(':') != text.npos;
}

std::optional<std::int64_t> instant_of(std::string_view text, TimeUnit unit, const TimeZone& zone) {
  const bool date = unit == TimeUnit::Iso || (unit == TimeUnit::Auto && is_date(text));
  if (!date) {
    const auto value = in_nanoseconds(text, unit);
    return value && *value >= 0 ? value : std::nullopt;
  }
  if (!is_date(text)) return std::nullopt;
  const auto value = parse_trace_time(text);
  if (!value || names_zone(text)) return value;
  return *value - zone.offset_at(*value).ns;
}

std::optional<Duration> span_of(std::string_view text, TimeUnit unit) {
  if (unit == TimeUnit::Auto && text.find(':') != std::string_view::npos) return clock_span(text);
  const auto value = in_nanoseconds(text, unit);
  if (!value || *value < 0 || *value > kLongestInTrace) return std::nullopt;
  return Duration{*value};
}

JobState job_state_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, JobState>, 38> kWords = {{
      {"completed", JobState::Completed},  {"complete", JobState::Completed},
      {"succeeded", JobState::Completed},  {"success", JobState::Completed},
      {"successful", JobState::Completed}, {"pass", JobState::Completed},
      {"passed", JobState::Completed},     {"terminated", JobState::Completed},
      {"finished", JobState::Completed},   {"done", JobState::Completed},
      {"failed", JobState::Failed},        {"fail", JobState::Failed},
      {"failure", JobState::Failed},       {"error", JobState::Failed},
      {"node_fail", JobState::Failed},     {"out_of_memory", JobState::Failed},
      {"boot_fail", JobState::Failed},     {"launch_failed", JobState::Failed},
      {"cancelled", JobState::Cancelled},  {"canceled", JobState::Cancelled},
      {"killed", JobState::Cancelled},     {"stopped", JobState::Cancelled},
      {"preempted", JobState::Cancelled},  {"revoked", JobState::Cancelled},
      {"requeued", JobState::Cancelled},   {"interrupted", JobState::Cancelled},
      {"timeout", JobState::TimedOut},     {"timedout", JobState::TimedOut},
      {"deadline", JobState::TimedOut},    {"running", JobState::Running},
      {"suspended", JobState::Running},    {"completing", JobState::Running},
      {"resizing", JobState::Running},     {"pending", JobState::Pending},
      {"waiting", JobState::Pending},      {"queued", JobState::Pending},
      {"ready", JobState::Pending},        {"configuring", JobState::Pending},
  }};
  const std::string known = lower_case(word.substr(0, 32));
  for (const auto& [name, state] : kWords) {
    if (name == known) return state;
  }
  return JobState::Unknown;
}

std::optional<Bytes> memory_of(std::string_view text) {
  constexpr std::string_view kUnits = "KMGTP";
  constexpr std::int64_t kMost = 1LL << 60U;
  if (text.ends_with('B') || text.ends_with('i')) text.remove_suffix(1);
  if (text.ends_with('i')) text.remove_suffix(1);
  std::int64_t unit = 1;
  if (!text.empty() && kUnits.find(text.back()) != std::string_view::npos) {
    unit = std::int64_t{1} << (10 * (kUnits.find(text.back()) + 1));
    text.remove_suffix(1);
  }
  constexpr int kDigits = 3;
  const auto thousandths = scaled_of(text, kDigits);
  if (!thousandths || *thousandths < 0) return std::nullopt;
  const Int128 bytes = static_cast<Int128>(*thousandths) * unit / 1'000;
  if (bytes > kMost) return std::nullopt;
  return Bytes{static_cast<std::int64_t>(bytes)};
}

bool TableRows::read_header() {
  constexpr std::size_t kMostColumns = 1'000;
  if (!lines_.next()) return false;
  for (std::size_t i = 0; i < std::min(lines_.size(), kMostColumns); ++i) {
    names_.emplace_back(lines_.value(i));
  }
  if (last_separator_ && names_.size() > 1 && names_.back().empty()) names_.pop_back();
  return true;
}

void TableRows::use_header(std::string_view names) {
  for (const std::string_view name : parts_of(names, ',')) names_.emplace_back(name);
}

std::optional<std::size_t> TableRows::column(std::string_view names) {
  used_.resize(names_.size());
  while (!names.empty()) {
    const std::size_t bar = std::min(names.find('|'), names.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (same_name(names_[i], names.substr(0, bar))) {
        used_[i] = 1;
        return i;
      }
    }
    names.remove_prefix(std::min(bar + 1, names.size()));
  }
  return std::nullopt;
}

std::string TableRows::unused() const {
  std::string text;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i < used_.size() && used_[i] != 0) continue;
    if (!text.empty()) text += ", ";
    text += names_[i].empty() ? fmt::format("the {}. (without a name)", i + 1) : names_[i];
  }
  return text;
}

bool TableRows::next() {
  while (lines_.next()) {
    report_.read();
    if (fits_header()) return true;
  }
  return false;
}

bool TableRows::fits_header() {
  const std::string wrong = lines_.misfit(names_.size());
  const bool has_last = last_separator_ && lines_.flaw().empty() &&
                        lines_.size() == names_.size() + 1 && lines_.value(names_.size()).empty();
  return wrong.empty() || has_last || bad(std::nullopt, wrong);
}

bool TableRows::bad(std::optional<std::size_t> column, const std::string& what, std::string help) {
  constexpr std::size_t kLongest = 40;
  if (!column) {
    report_.bad_row(lines_.place(), what, std::move(help));
    return false;
  }
  const std::string_view value = lines_.value(*column);
  const std::string shown = value.size() <= kLongest ? fmt::format("\"{}\"", value) : "this text";
  report_.bad_row(lines_.place(*column), fmt::format("{}: {} {}", names_[*column], shown, what),
                  std::move(help), fmt::format("{} {}", names_[*column], what));
  return false;
}

}  // namespace slicewise::scenarios
