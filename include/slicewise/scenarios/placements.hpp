#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// Which policy chooses nodes, as files and flags spell it, in the order of sim::NodePolicy.
namespace slicewise::scenarios {

inline constexpr auto kPlacementWords = std::to_array<std::string_view>(
    {"first-fit", "least-allocated", "most-allocated", "random", "best-fit", "dot-product", "fgd",
     "clustering", "packing", "memory-binpack", "utilization-binpack", "gavel", "lucid",
     "interference-aware"});
// The last of them look at who shares a GPU.
inline constexpr std::size_t kSharingPlacements = 5;

}  // namespace slicewise::scenarios
