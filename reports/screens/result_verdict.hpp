#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// What the result says to somebody who reads one sentence only: which variant does the work for
// the least money, and by how much against the first one. Variants that do not stand cannot win.
std::string verdict(const sim::Result& result);

// What sim::judge() said, as every report shows it; "" of one that stands. For a cell: "16 failed";
// for a line: "16 of 20 pods of "cifar10" failed; ...".
std::string brief_reasons(const sim::Verdict& verdict);
std::string full_reasons(const sim::Verdict& verdict);
// "4 of 5 jobs unfinished", of all workloads together; "" where there are none.
std::string unfinished_text(const std::vector<sim::UnfinishedJobs>& left);
// "4 of 5 jobs of cifar10 and 1 of 1 of trainer".
std::string unfinished_by_workload(const std::vector<sim::UnfinishedJobs>& left);
// Of a study around a scenario that does not stand: "✗ as the scenario is: 2 of 3 pods ...".
ScreenPart as_it_is_part(const sim::Verdict& verdict, const TextStyle& style);

// How many runs would decide each objective whose limit lies within its interval, if the figures
// stay what they are; nullopt where none does, or no number of them is enough.
std::optional<int> deciding_runs(const sim::Result& result);

// Whether both finished the same units of the same workloads, so that their prices per job can be
// compared: a node that is full by many jobs is cheap for each of them, however it is shared.
bool finished_the_same(const sim::VariantResult& a, const sim::VariantResult& b);
// Likewise of prices per request: whether as many came to each workload.
bool were_asked_the_same(const sim::VariantResult& a, const sim::VariantResult& b);

// "met", "MISSED", "undecided".
std::string_view standing_word(sim::ObjectiveStanding standing);
// A tick, a cross, or that it is uncertain.
std::string_view standing_sign(sim::ObjectiveStanding standing, const TextStyle& style);

}  // namespace slicewise::reports
