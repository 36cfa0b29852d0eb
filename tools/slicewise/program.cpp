#include "program.hpp"

#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "slicewise/sim/cluster/cluster.hpp"

#include "command_line.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {

ExitCode run_program(int argc, const char* const* argv) {
  const auto invocation = parse_command_line(argc, argv);
  if (!invocation) {
    if (!invocation.error().shown_first.empty()) {
      print_error(invocation.error().shown_first);
    }
    return usage_error(invocation.error().message, invocation.error().help);
  }
  if (!invocation->flags.quiet) {
    for (const std::string& warning : invocation->warnings) {
      print_error(warning);
    }
  }
  try {
    return std::visit([&](const auto& command) { return execute(command, invocation->flags); },
                      invocation->command);
  } catch (const sim::Standstill& standstill) {
    std::vector<SourceText> sources;
    if (auto source = read_source(standstill.problem().where.file)) {
      sources.push_back(std::move(*source));
    }
    return fail({standstill.problem()}, sources, invocation->flags);
  } catch (const std::bad_alloc&) {
    print_error(
        "error: out of memory; fewer replications, pods or requests, or --jobs 1, take less");
    return ExitCode::OutOfMemory;
  }
}

ExitCode execute(const ShowTextCommand& command, const CommonFlags& /*flags*/) {
  return write_text("", command.text);
}

}  // namespace slicewise::tools
