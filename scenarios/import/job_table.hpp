#pragma once

#include "slicewise/scenarios/import.hpp"

#include "column_map.hpp"
#include "import_report.hpp"
#include "job_rows.hpp"
#include "pai_tables.hpp"
#include "table_rows.hpp"

namespace slicewise::scenarios {

// Reads the rows of one table of jobs by a map of its columns. `ready` is the map's log where it is
// a known one, nullptr otherwise. `pai`: tables beside that of tasks. What is wrong where columns
// that the map names are not in the table; with a ready map only those without which nothing can be
// read are missing. `since_epoch` becomes false where arrivals do not count from 1970.
Diagnostics read_jobs(TableRows& table, const ColumnMap& map, const ReadyMap* ready,
                      const ImportOptions& options, ImportReport& report, PaiTables& pai,
                      JobRows& rows, bool& since_epoch);

}  // namespace slicewise::scenarios
