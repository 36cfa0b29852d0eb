#pragma once

#include <functional>
#include <string>

#include "slicewise/sim/plan.hpp"

#include "commands.hpp"
#include "scenario_file.hpp"

// `slicewise plan`, whoever simulates for it.
namespace slicewise::tools {

// Flags that say what a plan may choose from.
void add_plan_choices(CLI::App& verb, PlanCommand& plan);

// All that the answers of a plan depend on, but the questions themselves: one line.
std::string plan_subject(const PlanCommand& command, const OneVariant& opened);

// Who answers, for a scenario that has been read. An empty runner: threads of this process.
using MakeProbeRunner =
    std::function<sim::ProbeRunner(const OneVariant& opened, const sim::PlanOptions& options)>;

ExitCode run_plan(const PlanCommand& command, const CommonFlags& flags,
                  const MakeProbeRunner& make_runner);

}  // namespace slicewise::tools
