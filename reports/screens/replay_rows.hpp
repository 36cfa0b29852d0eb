#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/replay/replay_study.hpp"

#include "comparison_columns.hpp"

// The cells and sentences that table and Markdown of a replay share.
namespace slicewise::reports {

std::string replay_heading(const sim::ReplayStudy& study);
// One row per scheduler.
Cells scheduler_cells(const sim::ReplayStudy& study);
// One row per size of job under one scheduler.
Cells size_cells(const sim::ReplayOutcome& outcome);
// "fifo", "srtf, best-fit": on nodes with the placement.
std::string scheduler_name(const sim::ReplayStudy& study, const sim::Scheduling& scheduling);
// What the figures rest on and leave out, one sentence each.
std::vector<std::string> replay_notes(const sim::ReplayStudy& study);

std::string inflation_heading(const sim::InflationStudy& study);
Cells inflation_cells(const sim::InflationStudy& study);
std::vector<std::string> inflation_notes(const sim::InflationStudy& study);

// Trace, seed and version on one line.
std::string replay_origin(const sim::ReplayOrigin& origin, std::uint64_t seed);

}  // namespace slicewise::reports
