#pragma once

#include <array>
#include <cstdint>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// What a stream of random numbers is for. Part of the key: two purposes never share numbers.
enum class Purpose : std::uint32_t {
  Arrival,
  Service,
  Routing,
  Placement,
  ScheduleTie,
  UnitTime,
  Startup,
  Test
};

// A counter-based stream (Philox 4x32-10, Salmon et al., SC'11), keyed by seed, replication,
// entity and purpose. The same entity draws the same numbers in every variant of a scenario
// (common random numbers), whatever the other entities do. Copyable; 64 bytes; allocation-free.
// All samplers use only + - * / and sqrt on doubles, so every machine draws the same bits.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint32_t replication, std::uint32_t entity,
               Purpose purpose);

  std::uint32_t next_u32();
  std::uint64_t next_u64();
  double uniform();                      // in (0, 1), never 0
  double exponential();                  // mean 1
  double normal();                       // mean 0, variance 1
  std::uint32_t below(std::uint32_t n);  // in [0, n), unbiased. REQUIRES: n > 0

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_;
  int used_ = 4;
};

}  // namespace slicewise::sim
