#pragma once

#include <cstdint>

#include "node_table.hpp"

namespace slicewise::sim {

// Every node that fits is as good as any other: the first is taken, or one at random.
struct AnyFit {
  static std::uint8_t score(const NodeTable&, const NodeDemand&, std::uint32_t) { return 0; }
};

}  // namespace slicewise::sim
