#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "commands.hpp"

namespace slicewise::tools {

struct Invocation {
  CommonFlags flags;
  Command command;
  std::vector<std::string> warnings;  // about the environment
};

// Why the command line is not understood, with the nearest known name where there is one.
struct UsageError {
  std::string message;
  std::string help;
  std::string shown_first = {};  // the help of the program, for who typed its name and nothing else
};

// Reads flags, then SLICEWISE_* for the flags that are absent. Prints nothing.
tl::expected<Invocation, UsageError> parse_command_line(int argc, const char* const* argv);

}  // namespace slicewise::tools
