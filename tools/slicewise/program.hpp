#pragma once

#include "slicewise/exit_code.hpp"

namespace slicewise::tools {

// Reads the command line and does what it says. argv[0] is the name of the program. A mistake of
// the user is printed; what is thrown is a bug.
ExitCode run_program(int argc, const char* const* argv);

}  // namespace slicewise::tools
