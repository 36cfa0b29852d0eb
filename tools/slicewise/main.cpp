#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "slicewise/sim/cluster/cluster.hpp"

#include "bug_report.hpp"
#include "command_line.hpp"
#include "files.hpp"
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
  try {
    return std::visit(
        [&](const auto& command) { return slicewise::tools::execute(command, invocation->flags); },
        invocation->command);
  } catch (const slicewise::sim::Standstill& standstill) {
    std::vector<slicewise::SourceText> sources;
    if (auto source = slicewise::tools::read_source(standstill.problem().where.file)) {
      sources.push_back(std::move(*source));
    }
    return slicewise::tools::fail({standstill.problem()}, sources, invocation->flags);
  } catch (const std::bad_alloc&) {
    slicewise::tools::print_error(
        "error: out of memory; fewer replications, pods or requests, or --jobs 1, take less");
    return ExitCode::OutOfMemory;
  }
}

// Whatever arrives here is a bug: mistakes of the user are diagnostics.
ExitCode report_bug(const char* what) {
  slicewise::tools::print_error(slicewise::tools::bug_report(what));
  return ExitCode::InternalError;
}

// Replications come one after the other and take about the same memory. Given back in between, it
// would be cleared by the system for each of them: a tenth of the time of short ones.
void keep_memory() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  mallopt(M_TRIM_THRESHOLD, 512 * kMiB);
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory();
  slicewise::tools::catch_crashes(argc, argv);
  try {
    return static_cast<int>(run_program(argc, argv));
  } catch (const std::exception& error) {
    return static_cast<int>(report_bug(error.what()));
  } catch (...) {
    return static_cast<int>(report_bug("unknown exception"));
  }
}
