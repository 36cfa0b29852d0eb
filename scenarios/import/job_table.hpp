#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "slicewise/scenarios/import.hpp"

#include "column_map.hpp"
#include "import_report.hpp"
#include "job_rows.hpp"
#include "pai_tables.hpp"
#include "table_rows.hpp"

namespace slicewise::scenarios {

// Reads the rows of one table of jobs by a map of its columns.
class JobTableRows {
 public:
  // `ready` is the map's log where it is a known one, nullptr otherwise.
  // `pai`: tables beside that of tasks.
  JobTableRows(TableRows& table, const ColumnMap& map, const ReadyMap* ready,
               const ImportOptions& options, ImportReport& report, PaiTables& pai, JobRows& rows);

  // Of columns that the map names and the table lacks; with a ready map only those without which
  // nothing can be read are missing.
  Diagnostics missing_columns();

  void read();
  bool counts_since_epoch() const { return since_epoch_; }

 private:
  const std::optional<std::size_t>& at(JobField field) const {
    return columns_[static_cast<std::size_t>(field)];
  }
  std::string_view text(JobField field) const { return table_.value(at(field)); }
  bool has(JobField field) const { return at(field) && !is_missing_value(field); }
  bool is_missing_value(JobField field) const;

  struct Range {
    std::int64_t least;
    std::int64_t most;
  };
  // The number that was read of the field, which may be missing.
  template <class Number>
  bool take(JobField field, std::optional<std::int64_t> read, Range range, const char* otherwise,
            Number& value) {
    if (!has(field)) return true;
    if (!read || *read < range.least || *read > range.most) {
      return table_.bad(at(field), otherwise);
    }
    value = static_cast<Number>(*read);
    return true;
  }
  bool read_gpus(JobRow& row);
  bool read_host(JobRow& row);
  bool read_share(JobField field, const char* otherwise, std::int32_t& permille);
  bool read_memory(JobField field, Bytes& memory);
  bool read_pods(Bytes& memory);
  bool read_times(JobRow& row);
  bool read_arrival(JobRow& row, const std::optional<std::int64_t>& start, bool& skip);
  bool read_deadline(JobRow& row);
  bool read_run(JobRow& row, const std::optional<std::int64_t>& start);
  void compare_runs(const JobRow& row, Duration said, std::int64_t start, std::int64_t end);
  bool read_instant(JobField field, std::optional<std::int64_t>& time);
  bool read_span(JobField field, Duration& span);
  void read_names(JobRow& row);
  bool read_instances(std::int64_t& instances);
  void check_iterations(const JobRow& row);
  void add(JobRow& row, std::int64_t instances);

  TableRows& table_;
  const ColumnMap& map_;
  const ReadyMap* ready_;
  const ImportOptions& options_;
  ImportReport& report_;
  PaiTables& pai_;
  JobRows& rows_;
  std::array<std::optional<std::size_t>, kJobFields> columns_;
  std::int32_t most_use_ = 0;  // permille, of any row
  std::optional<std::size_t> iterations_;
  std::optional<std::size_t> iteration_time_;
  bool since_epoch_ = true;
};

}  // namespace slicewise::scenarios
