#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/max_load.hpp"

#include "comparison_columns.hpp"

// The cells and sentences that the table and the Markdown of a highest load share.
namespace slicewise::reports {

// "passes", "fails", "undecided".
std::string_view verdict_word(sim::LoadVerdict verdict);

// Load over the scenario's of what is scaled; nullopt when no load passed.
std::optional<double> headroom_of(const sim::ScaledLoad& load);

std::string max_load_heading(const sim::MaxLoad& found);
// The answer in sentences: up to which load, what gives way first, at what price.
std::vector<std::string> max_load_answer(const sim::MaxLoad& found, const TextStyle& style);
// One row per load that was scaled.
Cells load_cells(const sim::MaxLoad& found, const TextStyle& style);
// One row per objective: its figure at the highest load that passed and the lowest that failed.
Cells objective_cells(const sim::MaxLoad& found, const TextStyle& style);
// One row per probe, by load.
Cells probe_cells(const sim::MaxLoad& found, const TextStyle& style);
// Where the answer comes from, one sentence each.
std::vector<std::string> max_load_notes(const sim::MaxLoad& found, bool full);
std::string max_load_origin(const sim::MaxLoad& found, const TextStyle& style);

}  // namespace slicewise::reports
