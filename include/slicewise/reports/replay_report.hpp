#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/replay/replay_study.hpp"

// Replays of a trace of jobs, in each of the formats of `slicewise replay -o`. Pure functions: same
// study, same bytes.
namespace slicewise::reports {

// A row per scheduler, then waits by size of job; `wide` adds the sizes of every scheduler and
// keeps the columns that do not fit.
std::string replay_table(const sim::ReplayStudy& study, const TextStyle& style, bool wide);
std::string replay_markdown(const sim::ReplayStudy& study);
// slicewise.dev/replay.v1alpha1, sorted keys, SI units in the keys, absent fields left out.
std::string replay_json(const sim::ReplayStudy& study);
std::string replay_yaml(const sim::ReplayStudy& study);
// One row per scheduler and size of job, "all" first (RFC 4180, header first).
std::string replay_csv(const sim::ReplayStudy& study);

// The same for the inflation experiment: a row per placement; documents hold the curve as well.
std::string inflation_table(const sim::InflationStudy& study, const TextStyle& style, bool wide);
std::string inflation_markdown(const sim::InflationStudy& study);
std::string inflation_json(const sim::InflationStudy& study);
std::string inflation_yaml(const sim::InflationStudy& study);
// One row per placement, seed and percent that arrived.
std::string inflation_csv(const sim::InflationStudy& study);

// Start and end of each job of the first scheduler, in the order of the trace: id, arrival, start,
// end in exact seconds. REQUIRES: ReplaySettings::keep_jobs.
std::string job_times_csv(const scenarios::JobTrace& trace, const sim::ReplayStudy& study);

// The JSON Schema (draft-07) of both documents.
std::string replay_schema_json();

}  // namespace slicewise::reports
