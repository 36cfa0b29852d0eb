#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

// log, exp, cos and the logarithm of the gamma function from + - * / alone: libm differs in the
// last bit between versions and CPUs, and one bit moves an event. Argument reductions and
// polynomials of FreeBSD msun e_log.c, e_exp.c, k_cos.c and k_sin.c (Sun Microsystems, 1993), each
// below 1 ulp; every operation is IEEE-754 exact or correctly rounded.
namespace slicewise {
namespace portable {

inline constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 bits: k * kLn2High is exact
inline constexpr double kLn2Low = 1.90821492927058770002e-10;
inline constexpr double kInverseLn2 = 1.44269504088896338700e+00;
inline constexpr double kSqrt2 = 1.41421356237309504880;
inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kTwoOverPi = 6.36619772367581382433e-01;
inline constexpr double kHalfPiHigh = 1.57079632673412561417e+00;  // 33 bits: k * it is exact
inline constexpr double kHalfPiLow = 6.07710050650619224932e-11;
inline constexpr int kExponentBias = 1023;
inline constexpr int kMantissaBits = 52;

inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kExponentBias)
                               << kMantissaBits);
}

// log(x / 2^shift) for normal x > 0, without branches: random numbers fall on either side of any,
// and a loop over an array runs two or more at a time.
inline double log_of_normal(double x, double shift) {
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
  constexpr std::uint64_t kAboveSqrt2 =
      (std::uint64_t{1} << kMantissaBits) - 1 - (std::bit_cast<std::uint64_t>(kSqrt2) & kMantissa);
  constexpr double kTwoTo52 = 4503599627370496.0;
  // x = mantissa * 2^k with the mantissa in (sqrt(1/2), sqrt(2)].
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t halved = ((bits & kMantissa) + kAboveSqrt2) >> kMantissaBits;  // 0 or 1
  const std::uint64_t biased = (bits >> kMantissaBits) + halved;
  const double k = std::bit_cast<double>(biased | std::bit_cast<std::uint64_t>(kTwoTo52)) -
                   (kTwoTo52 + kExponentBias + shift);
  const double mantissa = std::bit_cast<double>(
      ((bits & kMantissa) | std::bit_cast<std::uint64_t>(1.0)) - (halved << kMantissaBits));
  const double f = mantissa - 1.0;
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

}  // namespace portable

// REQUIRES: x > 0, finite. Relative error < 4e-16 (tested against libm).
inline double portable_log(double x) {
  assert(x > 0);
  if (x < portable::power_of_two(1 - portable::kExponentBias)) {  // subnormal
    return portable::log_of_normal(x * portable::power_of_two(54), 54);
  }
  return portable::log_of_normal(x, 0);
}

// REQUIRES: |x| < 700. Relative error < 4e-16.
inline double portable_exp(double x) {
  assert(x > -700 && x < 700);
  const int k = static_cast<int>(portable::kInverseLn2 * x + (x < 0 ? -0.5 : 0.5));
  const double high = x - k * portable::kLn2High;
  const double low = k * portable::kLn2Low;
  const double r = high - low;
  const double t = r * r;
  const double c =
      r - t * (1.66666666666666019037e-01 +
               t * (-2.77777777770155933842e-03 +
                    t * (6.61375632143793436117e-05 +
                         t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
  return y * portable::power_of_two(k / 2) * portable::power_of_two(k - k / 2);
}

namespace portable {

// cos and sin for |x| <= pi/4.
inline double cos_near_zero(double x) {
  const double z = x * x;
  const double tail =
      z * (4.16666666666666019037e-02 +
           z * (-1.38888888888741095749e-03 +
                z * (2.48015872894767294178e-05 +
                     z * (-2.75573143513906633035e-07 +
                          z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const double half_square = 0.5 * z;
  const double head = 1.0 - half_square;
  return head + (((1.0 - head) - half_square) + z * tail);
}

inline double sin_near_zero(double x) {
  const double z = x * x;
  const double tail = 8.33333333332248946124e-03 +
                      z * (-1.98412698298579493134e-04 +
                           z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 +
                                                                  z * 1.58969099521155010221e-10)));
  return x + z * x * (-1.66666666666666324348e-01 + z * tail);
}

}  // namespace portable

// REQUIRES: |x| < 10^5. Absolute error < 1e-15 (tested against libm).
inline double portable_cos(double x) {
  assert(x > -1e5 && x < 1e5);
  const int quarter = static_cast<int>(portable::kTwoOverPi * x + (x < 0 ? -0.5 : 0.5));
  const double r = (x - quarter * portable::kHalfPiHigh) - quarter * portable::kHalfPiLow;
  switch (static_cast<unsigned>(quarter) % 4) {
    case 0:
      return portable::cos_near_zero(r);
    case 1:
      return -portable::sin_near_zero(r);
    case 2:
      return -portable::cos_near_zero(r);
    default:
      return portable::sin_near_zero(r);
  }
}

// The logarithm of the gamma function: Stirling's series (Abramowitz and Stegun 6.1.41) beyond 10,
// the recurrence below. REQUIRES: 0 < x < 10^15. Error < 1e-14 of max(1, |value|).
inline double portable_log_gamma(double x) {
  assert(x > 0 && x < 1e15);
  double product = 1;
  for (; x < 10; ++x) product *= x;
  const double z = 1 / (x * x);
  const double series =
      (1.0 / 12 +
       z * (-1.0 / 360 +
            z * (1.0 / 1260 + z * (-1.0 / 1680 + z * (1.0 / 1188 + z * (-691.0 / 360360)))))) /
      x;
  constexpr double kHalfLogTwoPi = 9.18938533204672741780e-01;
  return (x - 0.5) * portable_log(x) - x + kHalfLogTwoPi + series - portable_log(product);
}

}  // namespace slicewise
