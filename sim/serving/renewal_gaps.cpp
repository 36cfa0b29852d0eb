#include <cmath>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/serving/arrivals.hpp"

namespace slicewise::sim {
namespace {

using Gaps = scenarios::Traffic::Gaps;

constexpr double kLeastVariation = 1e-3;

// e^x, 0 where it is too small to be told from it.
double exp_or_zero(double x) { return x <= -690 ? 0 : portable_exp(x); }

// The inverse shape u for which a Weibull variable has this coefficient of variation:
// 1 + cv^2 = Gamma(1 + 2u) / Gamma(1 + u)^2, which grows with u.
double weibull_inverse_shape(double variation) {
  const double goal = portable_log(1 + variation * variation);
  double low = 0;
  double high = 50;  // a variation beyond 10^14
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;  // neighbours
    const double value = portable_log_gamma(1 + 2 * middle) - 2 * portable_log_gamma(1 + middle);
    (value < goal ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Of this shape >= 1 and scale 1. Marsaglia and Tsang, "A simple method for generating gamma
// variables", ACM TOMS 26 (2000); their squeeze spares most draws both logarithms.
double gamma_of(double shape, RandomStream& random) {
  constexpr double kSqueeze = 0.0331;
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal();
    const double root = 1 + c * x;
    const double u = random.uniform();
    if (root <= 0) continue;
    const double v = root * root * root;
    if (v == 0) continue;
    if (u < 1 - kSqueeze * x * x * x * x) return d * v;
    if (portable_log(u) < x * x / 2 + d - d * v + d * portable_log(v)) return d * v;
  }
}

}  // namespace

RenewalGaps::RenewalGaps(Gaps law, double variation) : law_(law) {
  if (law_ != Gaps::Gamma && law_ != Gaps::Weibull) return;
  if (variation < kLeastVariation) {
    law_ = Gaps::Constant;
  } else if (law_ == Gaps::Gamma) {
    inverse_shape_ = variation * variation;
    scale_ = inverse_shape_;
  } else {
    inverse_shape_ = weibull_inverse_shape(variation);
    scale_ = exp_or_zero(-portable_log_gamma(1 + inverse_shape_));
  }
}

// A shape below 1 is drawn at shape + 1 and multiplied by u^(1/shape).
double RenewalGaps::gamma(RandomStream& random) const {
  const bool below_one = inverse_shape_ > 1;
  double value = gamma_of(1 / inverse_shape_ + (below_one ? 1 : 0), random);
  if (below_one) value *= exp_or_zero(portable_log(random.uniform()) * inverse_shape_);
  return value * scale_;
}

// A power of an exponential variable.
double RenewalGaps::weibull(RandomStream& random) const {
  return scale_ * exp_or_zero(portable_log(random.exponential()) * inverse_shape_);
}

// A uniform part of a gap that was drawn in proportion to its length. Lengths of Gamma gaps drawn
// so are Gamma of the next shape; those of Weibull gaps a power of a Gamma variable.
double RenewalGaps::draw_residual(RandomStream& random) const {
  const double part = random.uniform();
  switch (law_) {
    case Gaps::Poisson:
      return random.exponential();
    case Gaps::Constant:
      return part;
    case Gaps::Gamma:
      return part * scale_ * gamma_of(1 / inverse_shape_ + 1, random);
    case Gaps::Weibull:
      return part * scale_ *
             exp_or_zero(portable_log(gamma_of(1 + inverse_shape_, random)) * inverse_shape_);
  }
  return part;
}

}  // namespace slicewise::sim
