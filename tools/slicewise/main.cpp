#include <exception>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bug_report.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace {

using slicewise::ExitCode;

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
    return static_cast<int>(slicewise::tools::run_program(argc, argv));
  } catch (const std::exception& error) {
    return static_cast<int>(report_bug(error.what()));
  } catch (...) {
    return static_cast<int>(report_bug("unknown exception"));
  }
}
