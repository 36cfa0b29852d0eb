#pragma once

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {

// Gaps between the events of a renewal process, of mean 1: the irregularity of arrivals apart from
// their rate. Gamma and Weibull have the coefficient of variation that the traffic asks for; below
// 0.001 they are Constant.
class RenewalGaps {
 public:
  explicit RenewalGaps(const scenarios::Traffic& traffic)
      : RenewalGaps(traffic.gaps, traffic.gap_variation) {}
  RenewalGaps(scenarios::Traffic::Gaps law, double variation);

  double draw(RandomStream& random) const {
    switch (law_) {
      case scenarios::Traffic::Gaps::Poisson:
        return random.exponential();
      case scenarios::Traffic::Gaps::Constant:
        return 1;
      case scenarios::Traffic::Gaps::Gamma:
        return gamma(random);
      case scenarios::Traffic::Gaps::Weibull:
        return weibull(random);
    }
    return 1;
  }

  // From any moment of a process that has always been running to its next event: then the process
  // has one event per unit of time in every span, whatever its law (Cox, "Renewal Theory", 1962).
  double draw_residual(RandomStream& random) const;

 private:
  double gamma(RandomStream& random) const;
  double weibull(RandomStream& random) const;

  scenarios::Traffic::Gaps law_;
  double inverse_shape_ = 1;
  double scale_ = 1;
};

}  // namespace slicewise::sim
