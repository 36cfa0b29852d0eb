#pragma once

#include "slicewise/scenarios/job_trace.hpp"

namespace slicewise::scenarios {

// Puts the rows of a trace whose columns are all its own in order of arrival; rows that arrive
// together keep their order. How many arrived before the row above them.
std::size_t put_in_order(JobTrace& trace);

}  // namespace slicewise::scenarios
