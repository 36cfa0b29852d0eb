#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace slicewise::tools {

struct ProgramOutput {
  std::string text;
  std::string failure;  // "exit code 1: " and the last line of what it says; "": it succeeded
};

// What a program writes to standard output; the reason when it cannot be had. What one that
// succeeds says on standard error is said in its place.
tl::expected<ProgramOutput, std::string> output_of(std::vector<std::string> words,
                                                   std::size_t most);

}  // namespace slicewise::tools
