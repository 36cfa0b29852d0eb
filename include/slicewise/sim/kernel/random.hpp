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
  Host,
  Test,
  Fault,
  Tokens,
  Session,  // of a notebook: its times and memory
  Cell,
  Retry,
  Burst  // starts and ends of bursts of traffic
};

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Ten rounds of Philox4x32: a bijection of the counter for each key. Source: Salmon, Moraes, Dror,
// Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11; checked against Random123's vectors.
PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key);

// The value that a standard normal variable stays below with probability p (relative error about
// 1e-15). Source: Wichura, algorithm AS 241 PPND16, Applied Statistics 37 (1988).
// REQUIRES: 0 < p < 1.
double normal_quantile(double p);

// A counter-based stream (Philox 4x32-10), keyed by seed, replication, entity and purpose. The same
// entity draws the same numbers in every variant of a scenario (common random numbers), whatever
// the other entities do. Streams of one seed never overlap: replication, entity and purpose are
// parts of the counter, the seed is the key. Copyable; 64 bytes at most; allocation-free.
// All samplers use only + - * / and sqrt on doubles, so every machine draws the same bits; each
// inverts its distribution function at one uniform number, so that streams stay in step.
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
  void next_block();

  PhiloxKey key_;
  PhiloxCounter counter_;  // of the next block
  PhiloxCounter block_{};
  std::uint32_t used_ = 4;  // words of block_ handed out
};

static_assert(sizeof(RandomStream) <= 64);

}  // namespace slicewise::sim
