#pragma once

#include <string>

#include <tl/expected.hpp>

#include "commands.hpp"

namespace slicewise::tools {

struct Invocation {
  CommonFlags flags;
  Command command;
};

// Why the command line is not understood, with the nearest known name where there is one.
struct UsageError {
  std::string message;
  std::string help;
};

// Reads flags, then SLICEWISE_* for the flags that are absent. Prints nothing.
tl::expected<Invocation, UsageError> parse_command_line(int argc, const char* const* argv);

}  // namespace slicewise::tools
