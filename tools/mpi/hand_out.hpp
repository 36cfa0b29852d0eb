#pragma once

#include <string>

#include <boost/mpi/communicator.hpp>

#include "slicewise/sim/plan.hpp"

namespace slicewise::tools {

// Rank 0: gives each other rank one probe, and the next one as soon as it has answered. `subject`
// goes to all of them at once; those that have read something else end the run.
// REQUIRES: world.size() > 1, and that `world` and `options.run` outlive the runner.
sim::ProbeRunner hand_out(const boost::mpi::communicator& world, const std::string& subject,
                          const sim::PlanOptions& options);

// No more probes. Every other rank returns from answer_probes().
void stop_ranks(const boost::mpi::communicator& world);

}  // namespace slicewise::tools
