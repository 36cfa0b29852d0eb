#include "slicewise/sim/kernel/portable_math.hpp"

#include <bit>
#include <cassert>
#include <cstdint>

// Argument reductions and polynomials of FreeBSD msun e_log.c and e_exp.c (Sun Microsystems, 1993),
// both below 1 ulp; every operation is IEEE-754 exact or correctly rounded.
namespace slicewise::sim {
namespace {

constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 bits: k * kLn2High is exact
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInverseLn2 = 1.44269504088896338700e+00;
constexpr double kSqrt2 = 1.41421356237309504880;
constexpr int kExponentBias = 1023;
constexpr int kMantissaBits = 52;

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kExponentBias)
                               << kMantissaBits);
}

}  // namespace

double portable_log(double x) {
  assert(x > 0);
  int exponent = 0;
  if (x < power_of_two(1 - kExponentBias)) {  // subnormal
    x *= power_of_two(54);
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
  exponent += static_cast<int>(bits >> kMantissaBits) - kExponentBias;
  double mantissa = std::bit_cast<double>((bits & kMantissa) | std::bit_cast<std::uint64_t>(1.0));
  if (mantissa > kSqrt2) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double f = mantissa - 1.0;
  const double k = exponent;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double even = w * (3.999999999940941908e-01 +
                           w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd = z * (6.666666666666735130e-01 +
                          w * (2.857142874366239149e-01 +
                               w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  return k * kLn2High - ((half_square - (s * (half_square + (even + odd)) + k * kLn2Low)) - f);
}

double portable_exp(double x) {
  assert(x > -700 && x < 700);
  const int k = static_cast<int>(kInverseLn2 * x + (x < 0 ? -0.5 : 0.5));
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double t = r * r;
  const double c =
      r - t * (1.66666666666666019037e-01 +
               t * (-2.77777777770155933842e-03 +
                    t * (6.61375632143793436117e-05 +
                         t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
  return y * power_of_two(k / 2) * power_of_two(k - k / 2);
}

}  // namespace slicewise::sim
