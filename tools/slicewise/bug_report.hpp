#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// What is said where a bug ends the program: an exception that nobody expects, or a signal.
namespace slicewise::tools {

// At the start of the program: remembers the command line, and has crashes say how to report them.
// Sanitizers say more: they keep their signals.
void catch_crashes(int argc, const char* const* argv);

// What is worked on from now on.
void remember_scenario(std::string_view sha256, std::uint64_t seed);

// Version, commit, compiler, command line and scenario, and what to do with them.
std::string bug_report(std::string_view what);

// Where this binary comes from. None of it enters a result.
struct BuildInfo {
  std::string version;
  std::string commit;  // "" when it was not built from a checkout
  std::string compiler;
};

BuildInfo build_info();

}  // namespace slicewise::tools
