#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

#include "../text/text_table.hpp"
#include "screen.hpp"

// The variants of a result side by side: the first block of the table and of the Markdown report;
// then each by itself.
namespace slicewise::reports {

// One row per variant. Columns that no variant has anything for (services in a run of jobs) are
// left out.
// `alone`: nothing else tells of the variants.
Cells comparison(const sim::Result& result, const TextStyle& style, bool alone);

// What `Cost::per_1k_requests_in_slo` is the price of: without objectives, of any requests.
std::string thousand_requests(bool in_slo);

// Jobs finished, over all Job workloads.
double jobs_done(const sim::VariantResult& variant);

// Of each curve of a sweep, variants whose names differ in their last number only: where the price
// of a job or request stops falling, among those that stand.
std::vector<std::string> knee_lines(const sim::Result& result);

// Everything about each variant: what it is, its workloads, GPUs, nodes, bill and warnings.
// `every`: also the rows and columns that a short report leaves out.
std::vector<ScreenPart> variant_parts(const sim::Result& result, const TextStyle& style,
                                      bool every);

}  // namespace slicewise::reports
