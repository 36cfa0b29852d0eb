#include "bug_report.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "slicewise/printable.hpp"

#include "prometheus_server.hpp"

namespace slicewise::tools {
namespace {

constexpr std::size_t kLongestReport = 8192;

// Written ahead: a handler of signals must not allocate, and is called with nothing but a number.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::array<char, kLongestReport> crash_text;
std::size_t crash_text_size = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void add_to_report(std::string_view text) {
  const std::size_t size = std::min(text.size(), crash_text.size() - crash_text_size);
  std::memcpy(crash_text.data() + crash_text_size, text.data(), size);
  crash_text_size += size;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLICEWISE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLICEWISE_SANITIZED 1
#endif
#endif

#ifndef SLICEWISE_SANITIZED
constexpr std::size_t kHandlerStack = 65'536;  // a stack that overflowed cannot be used

std::string_view crash_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "slicewise: crashed (SIGSEGV: a wrong address)";
    case SIGBUS:
      return "slicewise: crashed (SIGBUS: memory that is gone, such as of a file that was cut)";
    case SIGFPE:
      return "slicewise: crashed (SIGFPE: a division by zero)";
    case SIGILL:
      return "slicewise: crashed (SIGILL: an instruction that this processor lacks)";
    default:
      return "slicewise: crashed (SIGABRT: an assertion)";
  }
}

extern "C" void report_crash(int signal) {
  const std::string_view name = crash_name(signal);
  (void)!write(STDERR_FILENO, name.data(), name.size());
  (void)!write(STDERR_FILENO, crash_text.data(), crash_text_size);
  raise(signal);  // SA_RESETHAND: ends as it would have
}

void watch_signals() {
  alignas(std::max_align_t) static std::array<char, kHandlerStack> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = report_crash;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}
#else
void watch_signals() {}
#endif

}  // namespace

void catch_crashes(int argc, const char* const* argv) {
  const BuildInfo build = build_info();
  add_to_report(fmt::format(
      "\nThis is a bug. Please report it with the scenario file (which holds the seed), or what "
      "`slicewise bugreport` makes of it, and these lines:\n  version: {}\n  commit:  {}\n  built: "
      " "
      " {}\n  command:",
      build.version, build.commit, build.compiler));
  for (int i = 0; i < argc; ++i) {
    add_to_report(" " + printable(without_credentials(argv[i])));
  }
  add_to_report("\n");
  watch_signals();
}

void remember_scenario(std::string_view sha256, std::uint64_t seed) {
  add_to_report(fmt::format("  scenario: {}, seed {}\n", sha256, seed));
}

std::string bug_report(std::string_view what) {
  return "slicewise: internal error: " + std::string(what) +
         std::string(crash_text.data(), crash_text_size);
}

BuildInfo build_info() {
  return {.version = SLICEWISE_VERSION, .commit = SLICEWISE_COMMIT, .compiler = SLICEWISE_COMPILER};
}

}  // namespace slicewise::tools
