#pragma once

#include <cstdint>

namespace slicewise {

// What the program tells the shell. Scripts rely on these numbers: add, never change.
// reports/explain/exit_codes.txt says what each means.
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

constexpr bool failed(ExitCode code) { return code != ExitCode::Success; }

}  // namespace slicewise
