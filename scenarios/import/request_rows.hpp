#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/scenarios/import.hpp"

#include "../traces/trace_files.hpp"
#include "import_report.hpp"

namespace slicewise::scenarios {

// One request of a log, in nanoseconds of the log's own clock.
using LoggedRequest = RequestTrace::Row;

// Puts the requests in order and cuts the window of the options out of them; what was done is in
// the report. `origin_unix_s`: what `at` counts from.
Expected<Imported> requests_imported(std::vector<LoggedRequest> requests,
                                     std::optional<std::int64_t> origin_unix_s,
                                     const SourceText& file, const ImportOptions& options,
                                     ImportReport& report);

}  // namespace slicewise::scenarios
