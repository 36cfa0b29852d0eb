#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/sim/plan.hpp"

#include "comparison_columns.hpp"

// What a plan says in words and cells, the same in text and Markdown.
namespace slicewise::reports {

// "feasibility", "bound", "simulation".
std::string_view stage_word(sim::RejectedChoice::Stage stage);

std::string plan_heading(const sim::Plan& plan);
// One row per option, today's last.
Cells plan_cells(const sim::Plan& plan, const TextStyle& style);
// Why configurations were rejected, a row for each reason: those of the choices that came nearest,
// or all.
struct RejectedLines {
  Cells cells;
  std::size_t more = 0;  // configurations that are left out
};
RejectedLines rejected_lines(const sim::Plan& plan, bool all);
// More and more pods on a GPU; empty without a curve.
Cells replicas_cells(const sim::Plan& plan, const TextStyle& style);
// "Recommended: ...", why, risk, what flips it.
std::vector<std::string> plan_answer(const sim::Plan& plan, const TextStyle& style);
std::vector<std::string> plan_notes(const sim::Plan& plan);
std::string plan_origin(const sim::Plan& plan, const TextStyle& style);

}  // namespace slicewise::reports
