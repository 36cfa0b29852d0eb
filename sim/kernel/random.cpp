#include "slicewise/sim/kernel/random.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace slicewise::sim {
namespace {

// Low word of a counter counts blocks and carries into the upper 24 bits of the purpose word.
constexpr std::uint32_t kCarry = 1U << 8;

void step(PhiloxCounter& counter) {
  if (++counter[0] == 0) counter[1] += kCarry;
}

constexpr int kRounds = 10;
constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // golden ratio
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1

std::uint32_t high_word(std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32); }

// Philox of 2 * kPairs blocks from `counter` on, which it leaves behind them. Side by side: the
// latency of ten rounds is paid once.
#ifdef __SSE2__
template <std::size_t kPairs>
void philox_blocks(PhiloxCounter& counter, PhiloxKey key, std::uint32_t* words) {
  // A 64-bit lane for each block. Products read the lower half of a lane only, so that what is in
  // the upper half does not matter until the end.
  struct Pair {
    __m128i word[4];
  };
  std::array<Pair, kPairs> pairs;
  for (Pair& pair : pairs) {
    const PhiloxCounter first = counter;
    step(counter);
    for (std::size_t word = 0; word < 4; ++word) {
      pair.word[word] = _mm_set_epi64x(counter[word], first[word]);
    }
    step(counter);
  }
  const __m128i multiplier0 = _mm_set1_epi64x(kMultiplier0);
  const __m128i multiplier1 = _mm_set1_epi64x(kMultiplier1);
  __m128i key0 = _mm_set1_epi64x(key[0]);
  __m128i key1 = _mm_set1_epi64x(key[1]);
  for (int round = 0; round < kRounds; ++round) {
    for (auto& [word] : pairs) {
      const __m128i product0 = _mm_mul_epu32(multiplier0, word[0]);
      const __m128i product1 = _mm_mul_epu32(multiplier1, word[2]);
      word[0] = _mm_xor_si128(_mm_srli_epi64(product1, 32), _mm_xor_si128(word[1], key0));
      word[2] = _mm_xor_si128(_mm_srli_epi64(product0, 32), _mm_xor_si128(word[3], key1));
      word[1] = product1;
      word[3] = product0;
    }
    key0 = _mm_add_epi64(key0, _mm_set1_epi64x(kWeyl0));
    key1 = _mm_add_epi64(key1, _mm_set1_epi64x(kWeyl1));
  }
  const __m128i low = _mm_set1_epi64x(0xFFFFFFFF);
  for (const auto& [word] : pairs) {
    const __m128i head = _mm_or_si128(_mm_and_si128(word[0], low), _mm_slli_epi64(word[1], 32));
    const __m128i tail = _mm_or_si128(_mm_and_si128(word[2], low), _mm_slli_epi64(word[3], 32));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words), _mm_unpacklo_epi64(head, tail));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words + 4), _mm_unpackhi_epi64(head, tail));
    words += 8;
  }
}
#else
template <std::size_t kPairs>
void philox_blocks(PhiloxCounter& counter, PhiloxKey key, std::uint32_t* words) {
  for (std::size_t block = 0; block < 2 * kPairs; ++block, words += 4) {
    std::ranges::copy(philox4x32_10(counter, key), words);
    step(counter);
  }
}
#endif

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = 0;
  for (std::size_t power = N; power-- > 0;) sum = sum * x + coefficients[power];
  return sum;
}

using Octic = std::array<double, 8>;
constexpr Octic kCentreTop = {3.3871328727963666080e+0, 1.3314166789178437745e+2,
                              1.9715909503065514427e+3, 1.3731693765509461125e+4,
                              4.5921953931549871457e+4, 6.7265770927008700853e+4,
                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr Octic kCentreBottom = {1.0,
                                 4.2313330701600911252e+1,
                                 6.8718700749205790830e+2,
                                 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4,
                                 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4,
                                 5.2264952788528545610e+3};
constexpr Octic kMiddleTop = {1.42343711074968357734e+0, 4.63033784615654529590e+0,
                              5.76949722146069140550e+0, 3.64784832476320460504e+0,
                              1.27045825245236838258e+0, 2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Octic kMiddleBottom = {1.0,
                                 2.05319162663775882187e+0,
                                 1.67638483018380384940e+0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
constexpr Octic kTailTop = {6.65790464350110377720e+0, 5.46378491116411436990e+0,
                            1.78482653991729133580e+0, 2.96560571828504891230e-1,
                            2.65321895265761230930e-2, 1.24266094738807843860e-3,
                            2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Octic kTailBottom = {1.0,
                               5.99832206555887937690e-1,
                               1.36929880922735805310e-1,
                               1.48753612908506148525e-2,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};

}  // namespace

PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {high_word(product1) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               high_word(product0) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

double normal_quantile(double p) {
  assert(p > 0 && p < 1);
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentreTop, r) / polynomial(kCentreBottom, r);
  }
  const double tail = q < 0 ? p : 1.0 - p;
  const double r = std::sqrt(-portable_log(tail));
  const double value = r <= 5.0
                           ? polynomial(kMiddleTop, r - 1.6) / polynomial(kMiddleBottom, r - 1.6)
                           : polynomial(kTailTop, r - 5.0) / polynomial(kTailBottom, r - 5.0);
  return q < 0 ? -value : value;
}

RandomStream::RandomStream(std::uint64_t seed, std::uint32_t replication, std::uint32_t entity,
                           Purpose purpose)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, static_cast<std::uint32_t>(purpose), entity, replication} {}

void RandomStream::refill() {
  philox_blocks<1>(counter_, key_, words_.data());
  used_ = 0;
}

void RandomStream::exponentials(std::array<double, 8>& draws) {
  if (used_ != kWords) {
    for (double& draw : draws) draw = exponential();
    return;
  }
  std::array<std::uint32_t, 16> words;
  philox_blocks<2>(counter_, key_, words.data());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const std::uint64_t bits = words[2 * i] | (static_cast<std::uint64_t>(words[2 * i + 1]) << 32);
    draws[i] = -portable::log_of_normal(uniform_of(bits), 0);
  }
}

// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019).
std::uint32_t RandomStream::below(std::uint32_t n) {
  assert(n > 0);
  std::uint64_t product = static_cast<std::uint64_t>(next_u32()) * n;
  if (static_cast<std::uint32_t>(product) >= n) return high_word(product);
  const std::uint32_t biased = (0U - n) % n;
  while (static_cast<std::uint32_t>(product) < biased) {
    product = static_cast<std::uint64_t>(next_u32()) * n;
  }
  return high_word(product);
}

// The smaller root x of lambda (x - mean)^2 = mean^2 x normal^2 in a form that loses no digits, or
// the other one.
double RandomStream::inverse_gaussian(double mean, double variance) {
  const double z = normal();
  const double half = z * z * variance / (2 * mean * mean);
  const double ratio = 1 + half + std::sqrt(half * (half + 2));
  return uniform() * (1 + 1 / ratio) <= 1 ? mean / ratio : mean * ratio;
}

}  // namespace slicewise::sim
