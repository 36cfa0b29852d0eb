#include "slicewise/sim/kernel/random.hpp"

#include <cassert>
#include <cmath>

#include "slicewise/portable_math.hpp"

namespace slicewise::sim {
namespace {

// Low word of a counter counts blocks and carries into the upper 24 bits of the purpose word.
constexpr std::uint32_t kCarry = 1U << 8;

std::uint32_t high_word(std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32); }

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
  constexpr int kRounds = 10;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1
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

void RandomStream::next_block() {
  block_ = philox4x32_10(counter_, key_);
  used_ = 0;
  if (++counter_[0] == 0) counter_[1] += kCarry;
}

std::uint32_t RandomStream::next_u32() {
  if (used_ == block_.size()) next_block();
  return block_[used_++];
}

std::uint64_t RandomStream::next_u64() {
  const std::uint64_t low = next_u32();
  return low | (static_cast<std::uint64_t>(next_u32()) << 32);
}

// 52 random bits and a half: exact, symmetric about 1/2, neither 0 nor 1.
double RandomStream::uniform() {
  constexpr double kTwoToMinus52 = 1.0 / 4503599627370496.0;
  return (static_cast<double>(next_u64() >> 12) + 0.5) * kTwoToMinus52;
}

double RandomStream::exponential() { return -portable_log(uniform()); }

double RandomStream::normal() { return normal_quantile(uniform()); }

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

}  // namespace slicewise::sim
