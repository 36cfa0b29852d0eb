#pragma once

#include "slicewise/scenarios/job_trace.hpp"

namespace slicewise::scenarios {

// A trace as CSV. Rows may be in any order.
Expected<JobTrace> read_job_trace_csv(const SourceText& source);

}  // namespace slicewise::scenarios
