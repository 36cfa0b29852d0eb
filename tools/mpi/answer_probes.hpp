#pragma once

#include <boost/mpi/communicator.hpp>

#include "commands.hpp"

namespace slicewise::tools {

// Every rank but 0: reads the scenario when it is first asked, and answers until it is told to
// stop. What it cannot read, or reads otherwise than rank 0 did, is printed and ends all ranks.
ExitCode answer_probes(const boost::mpi::communicator& world, const PlanCommand& command,
                       const CommonFlags& flags);

}  // namespace slicewise::tools
