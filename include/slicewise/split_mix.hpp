#pragma once

#include <cstdint>

namespace slicewise {

// From the state of one number to that of the next.
inline constexpr std::uint64_t kSplitMixStep = 0x9E3779B97F4A7C15ULL;

// Spreads numbers over all 64 bits. Source: Steele, Lea, Flood, "Fast splittable pseudorandom
// number generators", OOPSLA'14 (SplitMix64).
constexpr std::uint64_t split_mix(std::uint64_t number) {
  number += kSplitMixStep;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EBULL;
  return number ^ (number >> 31U);
}

}  // namespace slicewise
