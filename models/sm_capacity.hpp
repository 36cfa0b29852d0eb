#pragma once

#include <optional>
#include <string_view>

#include "slicewise/units.hpp"

namespace slicewise::models {

// What a multiprocessor holds of the kernels on it: a context switch saves it.
struct SmCapacity {
  Bytes register_file;
  Bytes shared_memory;  // the most that kernels may use
};

// By compute capability, "8.9"; nullopt: not in the table. Source: CUDA programming guide,
// technical specifications per compute capability.
std::optional<SmCapacity> sm_capacity(std::string_view compute_capability);

}  // namespace slicewise::models
