#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace slicewise {

// What the program tells the shell. Scripts rely on these numbers: add, never change.
enum class ExitCode : std::uint8_t {
  Success = 0,
  Different = 1,
  Usage = 2,
  InvalidInput = 3,
  Infeasible = 4,
  FileAccess = 5,
  PodsLost = 6,
  InternalError = 70,
  OutOfMemory = 71,
  ObjectiveMissed = 99,
  Interrupted = 130,
};

struct ExitCodeInfo {
  ExitCode code;
  std::string_view meaning;
};

inline constexpr std::array kExitCodes = {
    ExitCodeInfo{ExitCode::Success, "success, warnings included"},
    ExitCodeInfo{ExitCode::Different, "only from diff --exit-code: the documents differ"},
    ExitCodeInfo{ExitCode::Usage,
                 "wrong command line: an unknown or missing flag, or a value that no flag takes"},
    ExitCodeInfo{
        ExitCode::InvalidInput,
        "a scenario, a price file or a --set setting has mistakes; check: errors were found"},
    ExitCodeInfo{ExitCode::Infeasible,
                 "in some variant pods were submitted, but none ever ran; compare and plan: in no "
                 "option, or limits such as --max-cost leave none to try; max-load, neighbours and "
                 "sensitivity: as the scenario is; replay: no job"},
    ExitCodeInfo{ExitCode::FileAccess, "a file cannot be read or written"},
    ExitCodeInfo{
        ExitCode::PodsLost,
        "the run was fine, but some variant left pods Pending, failed or in "
        "CrashLoopBackOff, or ran out of GPU memory (--allow-pending: Pending ones do not "
        "count); compare and plan: every option did; sensitivity and neighbours: the "
        "scenario as it is; replay: jobs that the empty cluster cannot hold, that no share "
        "of a GPU is enough for, or that failed for want of GPU memory"},
    ExitCodeInfo{ExitCode::InternalError, "a bug in slicewise; the message says how to report it"},
    ExitCodeInfo{ExitCode::OutOfMemory, "the memory of this machine is not enough"},
    ExitCodeInfo{
        ExitCode::ObjectiveMissed,
        "the run was fine, but an objective was missed or its interval reaches over the limit, a "
        "policy denies it, or a Service without objectives answers fewer requests than come; "
        "compare and plan: by every option; max-load: the scenario's own load is too high, or a "
        "policy denies it; diff: a condition of --fail-on holds; validate: an error is beyond its "
        "bound; neighbours, sensitivity and report: never, they say so"},
    ExitCodeInfo{ExitCode::Interrupted,
                 "stopped by Ctrl-C; the result holds the runs that were done"},
};

}  // namespace slicewise
