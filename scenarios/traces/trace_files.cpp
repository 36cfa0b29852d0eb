#include "trace_files.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostUnixSeconds = 9'200'000'000;  // what 64 bits of nanoseconds hold

// Takes what it reads off the front of a text.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : left_(text) {}

  bool at_end() const { return left_.empty(); }

  bool take(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  // Exactly `digits` digits.
  std::optional<int> take_number(std::size_t digits) {
    if (left_.size() < digits) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(left_[i])) return std::nullopt;
      value = value * 10 + (left_[i] - '0');
    }
    left_.remove_prefix(digits);
    return value;
  }

  // ".979960" as nanoseconds; 0 when there is no point, nullopt when no digit follows it.
  std::optional<std::int64_t> take_fraction() {
    if (!take('.')) return 0;
    std::int64_t value = 0;
    std::int64_t unit = kSecond / 10;
    std::size_t digits = 0;
    for (; digits < left_.size() && is_digit(left_[digits]); ++digits, unit /= 10) {
      value += unit * (left_[digits] - '0');
    }
    left_.remove_prefix(digits);
    return digits == 0 ? std::nullopt : std::optional(value);
  }

 private:
  std::string_view left_;
};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in(int year, int month) {
  if (month == 2) return is_leap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Days from 1970-01-01.
std::int64_t days_until(int year, int month, int day) {
  std::int64_t days = day - 1;
  for (int y = 1970; y < year; ++y) days += is_leap(y) ? 366 : 365;
  for (int m = 1; m < month; ++m) days += days_in(year, m);
  return days;
}

// "2023-11-16" as seconds.
std::optional<std::int64_t> take_date(TimeScanner& scanner) {
  const auto year = scanner.take_number(4);
  if (!year || !scanner.take('-')) return std::nullopt;
  const auto month = scanner.take_number(2);
  if (!month || !scanner.take('-')) return std::nullopt;
  const auto day = scanner.take_number(2);
  const bool valid = day && *year >= 1970 && *year <= 2260 && *month >= 1 && *month <= 12 &&
                     *day >= 1 && *day <= days_in(*year, *month);
  return valid ? std::optional(86'400 * days_until(*year, *month, *day)) : std::nullopt;
}

// "18:17" as seconds.
std::optional<std::int64_t> take_hours_and_minutes(TimeScanner& scanner) {
  const auto hour = scanner.take_number(2);
  if (!hour || *hour > 23) return std::nullopt;
  scanner.take(':');
  const auto minute = scanner.take_number(2);
  if (!minute || *minute > 59) return std::nullopt;
  return 3'600 * *hour + 60 * *minute;
}

// "", "Z", "+01:00" or "-0530": what local time is ahead of UTC, in seconds.
std::optional<std::int64_t> take_zone(TimeScanner& scanner) {
  if (scanner.at_end() || scanner.take('Z')) return 0;
  const bool ahead = scanner.take('+');
  if (!ahead && !scanner.take('-')) return std::nullopt;
  const auto offset = take_hours_and_minutes(scanner);
  if (!offset) return std::nullopt;
  return ahead ? *offset : -*offset;
}

std::optional<std::int64_t> parse_date_time(std::string_view text) {
  TimeScanner scanner(text);
  const auto date = take_date(scanner);
  if (!date || (!scanner.take(' ') && !scanner.take('T'))) return std::nullopt;
  const auto time = take_hours_and_minutes(scanner);
  if (!time) return std::nullopt;
  std::optional<int> second = 0;
  if (scanner.take(':')) second = scanner.take_number(2);
  const auto fraction = scanner.take_fraction();
  if (!second || *second > 59 || !fraction) return std::nullopt;
  const auto zone = take_zone(scanner);
  if (!zone || !scanner.at_end()) return std::nullopt;
  return (*date + *time + *second - *zone) * kSecond + *fraction;
}

std::optional<std::int64_t> parse_seconds_of_trace(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::int64_t seconds = 0;
  for (const char c : whole) {
    if (!is_digit(c)) return std::nullopt;
    seconds = seconds * 10 + (c - '0');
    if (seconds > kMostUnixSeconds) return std::nullopt;
  }
  if (whole.empty()) return std::nullopt;
  TimeScanner scanner(text.substr(whole.size()));
  const auto fraction = scanner.take_fraction();
  if (!fraction || !scanner.at_end()) return std::nullopt;
  return seconds * kSecond + *fraction;
}

}  // namespace

std::optional<std::int64_t> parse_trace_time(std::string_view text) {
  if (const auto seconds = parse_seconds_of_trace(text)) return seconds;
  return parse_date_time(text);
}

namespace {

Expected<SourceText> read_trace_file(const std::string& path, const FileReader& read_file) {
  const SourceLocation where{.file = path, .line = 0};
  if (!read_file) {
    return failure(Code::FileUnreadable, where,
                   fmt::format("cannot read \"{}\": no other file is read here", path));
  }
  Expected<SourceText> file = read_file(path);
  if (file && file->text.size() > kLargestTrace) {
    return failure(Code::ValueRange, where,
                   fmt::format("\"{}\" is larger than {} MiB", path, kLargestTrace >> 20U));
  }
  return file;
}

}  // namespace

TraceFiles::TraceFiles(const std::string& scenario, const FileReader& read_file)
    : folder_(scenario == "-" ? "" : std::filesystem::path(scenario).parent_path().string()),
      read_file_(read_file) {}

const SourceText* TraceFiles::find(const Located<std::string>& path, Findings& findings) {
  auto known = files_.find(path.value);
  if (known == files_.end()) {
    const std::string full = (std::filesystem::path(folder_) / path.value).string();
    known = files_.emplace(path.value, read_trace_file(full, read_file_)).first;
  }
  if (known->second) return &*known->second;
  const Diagnostic& reason = known->second.error().front();
  findings.add(reason.code, path.where, reason.message,
               "the path is relative to the folder of the scenario file");
  return nullptr;
}

std::shared_ptr<const JobTrace> TraceFiles::find_jobs(const Located<std::string>& path,
                                                      Findings& findings) {
  const auto known = jobs_.find(path.value);
  if (known != jobs_.end()) return known->second;
  const SourceText* file = find(path, findings);
  if (file == nullptr) return nullptr;
  Expected<JobTrace> trace = read_job_trace(*file);
  if (!trace) {
    for (Diagnostic& problem : trace.error()) findings.add(std::move(problem));
    return nullptr;
  }
  return jobs_[path.value] = std::make_shared<const JobTrace>(std::move(*trace));
}

std::vector<SourceText> TraceFiles::take() {
  std::vector<SourceText> texts;
  for (auto& [path, file] : files_) {
    if (file) texts.push_back(std::move(*file));
  }
  files_.clear();
  return texts;
}

}  // namespace slicewise::scenarios
