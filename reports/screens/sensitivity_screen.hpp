#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "slicewise/sim/sensitivity.hpp"

#include "screen.hpp"

// What the screen of a sensitivity study has in common with the page.
namespace slicewise::reports {

// "$/job", "classifier latencyP99".
std::string outcome_title(const std::string& workload, const std::string& name);
std::string outcome_title(const sim::OutcomeFigure& figure);

// "classifier latencyP99: 24.8 ms of at most 50.0 ms"; "$/month: $384".
std::string figure_heading(const sim::OutcomeFigure& figure, const TextStyle& style);

// The inputs that change figure `figure`, the most at the top, with bars. All of them, or those
// that matter: `left_out` says how many are not shown.
struct Tornado {
  Cells cells;
  std::size_t left_out = 0;
};
Tornado tornado(const sim::SensitivityStudy& study, std::size_t figure, const TextStyle& style,
                bool all);

// One sentence for each objective that starts or stops failing, for pods that die or wait, and for
// what cannot be simulated.
std::vector<std::string> flip_lines(const sim::SensitivityStudy& study);

}  // namespace slicewise::reports
