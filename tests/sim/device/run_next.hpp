#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {

// Runs a GPU to its next completion, which must be that of `expected_context`; answers when, in ns.
template <class Engine>
std::int64_t run_next(Engine& gpu, std::uint32_t expected_context) {
  const Completion next = gpu.next();
  EXPECT_EQ(next.context, expected_context);
  gpu.advance(next.at);
  EXPECT_EQ(gpu.complete(), expected_context);
  return next.at.ns;
}

}  // namespace slicewise::sim
