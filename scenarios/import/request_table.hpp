#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../text/csv_lines.hpp"
#include "../traces/request_trace.hpp"
#include "import_report.hpp"

namespace slicewise::scenarios {

// One request of a log, in nanoseconds of the log's own clock.
using LoggedRequest = RequestTrace::Row;

// The lines of a CSV file with a header, one request a line.
class RequestTable {
 public:
  // Names of columns, in any case.
  struct Columns {
    std::string_view time;
    std::string_view input;
    std::string_view output;
  };

  RequestTable(const SourceText& file, ImportReport& report);

  // Reads the header; the diagnostic when a column is missing.
  std::optional<Diagnostics> open(const Columns& columns);

  // The next request that can be read; false at the end. What cannot be read is a bad row.
  bool next(LoggedRequest& request);

  const CsvLines& line() const { return lines_; }
  std::string_view time() const { return lines_.value(time_); }
  std::optional<std::size_t> find(std::string_view column) const;

 private:
  bool read(LoggedRequest& request);
  bool read_tokens(std::size_t column, std::int32_t& tokens);

  const SourceText& file_;
  CsvLines lines_;
  ImportReport& report_;
  std::vector<std::string> header_;
  std::size_t time_ = 0;
  std::size_t input_ = 0;
  std::size_t output_ = 0;
};

// Puts the requests in order and cuts the window of the options out of them; what was done is in
// the report. `origin_unix_s`: what `at` counts from.
Expected<Imported> requests_imported(std::vector<LoggedRequest> requests,
                                     std::optional<std::int64_t> origin_unix_s,
                                     const SourceText& file, const ImportOptions& options,
                                     ImportReport& report);

}  // namespace slicewise::scenarios
