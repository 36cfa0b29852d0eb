#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/csv_lines.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/units.hpp"

#include "import_report.hpp"

// Single values of logs, in the notations that logs have.
namespace slicewise::scenarios {

// What a number of a column of times counts; Auto: seconds, or a date where it looks like one.
enum class TimeUnit : std::uint8_t { Auto, Iso, Seconds, Millis, Micros, Minutes, Hours };

// "ms", "iso"; "" is Auto. nullopt for another word.
std::optional<TimeUnit> time_unit(std::string_view word);

// "", "-", "None", "Unknown", "NaN" and their like.
bool is_missing(std::string_view text);

// A point in time in nanoseconds; for dates since 1970, in `zone` where they name none.
std::optional<std::int64_t> instant_of(std::string_view text, TimeUnit unit, const TimeZone& zone);

// A length of time from 0 to 126 years: a number of the unit or Slurm's
// [days-]hours:minutes:seconds.
std::optional<Duration> span_of(std::string_view text, TimeUnit unit);

// Whether the text is a date and time rather than a number.
bool is_date(std::string_view text);

// The words of Slurm, Kubernetes, Philly, PAI and others; Unknown for any other.
JobState job_state_of(std::string_view word);

// "65536M", "64G", "1.5T", plain bytes; units are powers of 1024, as Slurm's.
std::optional<Bytes> memory_of(std::string_view text);

// The rows of a table whose first line names its columns. Rows that are not like the header are
// reported as bad and passed over.
class TableRows {
 public:
  TableRows(const SourceText& source, ImportReport& report, CsvForm form = {})
      : lines_(source, form), report_(report) {}

  // False when there is no line at all.
  bool read_header();
  // "a,b,c", for files without one. Their first line is a row.
  void use_header(std::string_view names);

  // The first of "NAME|OTHER NAME" that the header has, case aside.
  std::optional<std::size_t> column(std::string_view names);
  const std::vector<std::string>& names() const { return names_; }
  // Columns that nobody asked for, as "a, b".
  std::string unused() const;

  // A separator behind the last value, as `sacct -p` has it, is no value.
  void allow_last_separator() { last_separator_ = true; }

  bool next();

  std::string_view value(std::size_t column) const { return lines_.value(column); }
  std::string_view value(std::optional<std::size_t> column) const {
    return column ? lines_.value(*column) : std::string_view();
  }
  SourceLocation place() const { return lines_.place(); }
  SourceLocation place(std::size_t column) const { return lines_.place(column); }

  // Reports the row as bad; false, so that readers can return it.
  bool bad(std::optional<std::size_t> column, const std::string& what, std::string help = {});

 private:
  bool fits_header();

  CsvLines lines_;
  ImportReport& report_;
  std::vector<std::string> names_;
  std::vector<char> used_;
  bool last_separator_ = false;
};

}  // namespace slicewise::scenarios
