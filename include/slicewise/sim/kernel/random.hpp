#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "slicewise/portable_math.hpp"

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
  Burst,         // starts and ends of bursts of traffic
  NodeStart,     // how long a node takes to start
  Interruption,  // of a spot node
  Input,         // a figure of a profile that is known within an interval only
  Wait,          // for kernels of others
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
  double uniform();      // in (0, 1), never 0
  double exponential();  // mean 1
  // The next eight of exponential(), in a third of the time.
  void exponentials(std::array<double, 8>& draws);
  double normal();  // mean 0, variance 1
  // Inverse Gaussian: the time in which a walk with a drift comes as far as it would in `mean`
  // without chance. Michael, Schucany, Haas, The American Statistician 30 (1976). Two numbers.
  // REQUIRES: mean > 0, variance > 0.
  double inverse_gaussian(double mean, double variance);
  std::uint32_t below(std::uint32_t n);  // in [0, n), unbiased. REQUIRES: n > 0

 private:
  // 52 random bits and a half: exact, symmetric about 1/2, neither 0 nor 1. The bits are the
  // mantissa of a number in [1, 2), from which all but half of the last place of 1 is taken.
  static double uniform_of(std::uint64_t bits) {
    return std::bit_cast<double>((bits >> 12) | std::bit_cast<std::uint64_t>(1.0)) -
           (1.0 - 0x1p-53);
  }

  static constexpr std::uint32_t kWords = 8;  // two blocks are made at once, side by side

  void refill();

  PhiloxKey key_;
  PhiloxCounter counter_;  // of the next block
  std::array<std::uint32_t, kWords> words_{};
  std::uint32_t used_ = kWords;  // words handed out
};

static_assert(sizeof(RandomStream) <= 64);

// The numbers that `stream`.exponential() would give, drawn eight ahead: an event that needs one
// does not wait for a logarithm. For streams that give nothing else. Mean 1.
class Exponentials {
 public:
  explicit Exponentials(const RandomStream& stream) : stream_(stream) {}

  double next() {
    if (used_ == ahead_.size()) {
      stream_.exponentials(ahead_);
      used_ = 0;
    }
    return ahead_[used_++];
  }

 private:
  RandomStream stream_;
  std::array<double, 8> ahead_{};
  std::size_t used_ = 8;
};

inline std::uint32_t RandomStream::next_u32() {
  if (used_ == kWords) refill();
  return words_[used_++];
}

inline std::uint64_t RandomStream::next_u64() {
  if (used_ + 1 >= kWords) {  // the rest of this pair of blocks, then the next pair
    const std::uint64_t low = next_u32();
    return low | (static_cast<std::uint64_t>(next_u32()) << 32);
  }
  const std::uint64_t low = words_[used_];
  const std::uint64_t high = words_[used_ + 1];
  used_ += 2;
  return low | (high << 32);
}

inline double RandomStream::uniform() { return uniform_of(next_u64()); }

inline double RandomStream::exponential() { return -portable_log(uniform()); }

inline double RandomStream::normal() { return normal_quantile(uniform()); }

}  // namespace slicewise::sim
