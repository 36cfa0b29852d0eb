#pragma once

#include <functional>

#include "slicewise/sim/plan.hpp"

#include "commands.hpp"
#include "scenario_file.hpp"

// `slicewise plan`, whoever simulates for it.
namespace slicewise::tools {

// Flags that say what a plan may choose from.
void add_plan_choices(CLI::App& verb, PlanCommand& plan);

// Who answers, for a scenario that has been read. An empty runner: threads of this process.
using MakeProbeRunner =
    std::function<sim::ProbeRunner(const OneVariant& opened, const sim::PlanOptions& options)>;

ExitCode run_plan(const PlanCommand& command, const CommonFlags& flags,
                  const MakeProbeRunner& make_runner);

}  // namespace slicewise::tools
