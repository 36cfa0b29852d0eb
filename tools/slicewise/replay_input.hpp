#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/job_trace.hpp"

#include "commands.hpp"

namespace slicewise::tools {

struct ReplayInput {
  scenarios::JobTrace trace;
  std::string sha256;  // of the bytes of its file
};

// Reads what -f names: a trace, or a file of kind: Replay, which names the trace and fills in what
// no flag says; command.file is the trace's then. A binary trace is mapped into memory. `sources`
// gets the texts that the errors are about.
Expected<ReplayInput> open_replay(ReplayCommand& command, std::vector<SourceText>& sources);

}  // namespace slicewise::tools
