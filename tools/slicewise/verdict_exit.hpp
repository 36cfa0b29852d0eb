#pragma once

#include <vector>

#include "slicewise/exit_code.hpp"
#include "slicewise/sim/judge.hpp"

#include "scenario_file.hpp"

// What the verbs exit with after what they simulated was judged.
namespace slicewise::tools {

// Of one variant, or of the best that there is.
ExitCode exit_code_of(const sim::Verdict& verdict);

// All of them are asked for, as by `run`: one that does not stand decides; pods that were lost say
// less than an objective that was missed.
ExitCode worst_exit_code(const std::vector<sim::Verdict>& verdicts);

// One of them is enough, as for `compare` and `plan`.
ExitCode best_exit_code(const std::vector<sim::Verdict>& verdicts);

// Of a replay under several ways: no job at all, where none of them runs one.
ExitCode exit_code_of_ways(const std::vector<sim::Verdict>& ways);

// Of a scenario that a study asks around: whether it keeps its objectives is not the question, but
// what pods lost says nothing of.
ExitCode lost_pods_code(const sim::Verdict& verdict);
// Of all that a report is about.
ExitCode lost_pods_code(const std::vector<sim::Verdict>& verdicts);

// Says at the variant's first workload that no pod of it ever ran; and why, where what was found is
// known.
ExitCode nothing_ran(const scenarios::Scenario& variant, const ScenarioFile& file,
                     const CommonFlags& flags, const sim::Verdict* found = nullptr);

}  // namespace slicewise::tools
