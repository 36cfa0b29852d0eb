#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace slicewise::tools {

// What a program writes to standard output; the reason when it cannot be had, with what it says on
// standard error. What one that succeeds says there is said in its place.
tl::expected<std::string, std::string> output_of(std::vector<std::string> words, std::size_t most);

}  // namespace slicewise::tools
