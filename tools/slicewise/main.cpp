#include <cstdio>
#include <exception>
#include <string>
#include <variant>

#include "build_info.hpp"
#include "command_line.hpp"
#include "terminal.hpp"

namespace {

using slicewise::ExitCode;

ExitCode run_program(int argc, const char* const* argv) {
  const auto invocation = slicewise::tools::parse_command_line(argc, argv);
  if (!invocation) {
    if (!invocation.error().shown_first.empty()) {
      slicewise::tools::print_error(invocation.error().shown_first);
    }
    return slicewise::tools::usage_error(invocation.error().message, invocation.error().help);
  }
  if (!invocation->flags.quiet) {
    for (const std::string& warning : invocation->warnings) {
      slicewise::tools::print_error(warning);
    }
  }
  return std::visit(
      [&](const auto& command) { return slicewise::tools::execute(command, invocation->flags); },
      invocation->command);
}

// Whatever arrives here is a bug: mistakes of the user are diagnostics.
ExitCode report_bug(const char* what, int argc, const char* const* argv) {
  const slicewise::tools::BuildInfo build = slicewise::tools::build_info();
  std::string text = "slicewise: internal error: " + std::string(what) +
                     "\nThis is a bug. Please report it with the scenario file (which holds the "
                     "seed) and these lines:\n  version: " +
                     build.version + "\n  commit:  " + build.commit +
                     "\n  built:   " + build.compiler + "\n  command:";
  for (int i = 0; i < argc; ++i) {
    text += ' ';
    text += argv[i];
  }
  slicewise::tools::print_error(text);
  return ExitCode::InternalError;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run_program(argc, argv));
  } catch (const std::exception& error) {
    return static_cast<int>(report_bug(error.what(), argc, argv));
  } catch (...) {
    return static_cast<int>(report_bug("unknown exception", argc, argv));
  }
}
