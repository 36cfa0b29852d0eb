#pragma once

#include <string>

#include <boost/mpi/communicator.hpp>

#include "slicewise/sim/plan.hpp"

#include "commands.hpp"

// Rank 0 searches and asks, the other ranks simulate and answer.
namespace slicewise::tools {

// Rank 0: gives each other rank one probe, and the next one as soon as it has answered. `subject`
// goes to all of them at once; those that have read something else end the run.
// REQUIRES: world.size() > 1, and that `world` and `options.run` outlive the runner.
sim::ProbeRunner hand_out(const boost::mpi::communicator& world, const std::string& subject,
                          const sim::PlanOptions& options);

// No more probes. Every other rank returns from answer_probes().
void stop_ranks(const boost::mpi::communicator& world);

// Every rank but 0: reads the scenario when it is first asked, and answers until it is told to
// stop. What it cannot read, or reads otherwise than rank 0 did, is printed and ends all ranks.
ExitCode answer_probes(const boost::mpi::communicator& world, const PlanCommand& command,
                       const CommonFlags& flags);

}  // namespace slicewise::tools
