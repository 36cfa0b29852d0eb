#pragma once

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {

// Gaps between the events of a renewal process, of mean 1: the irregularity of arrivals apart from
// their rate. Gamma and Weibull have the coefficient of variation that the traffic asks for; below
// 0.001 they are Constant.
class RenewalGaps {
 public:
  explicit RenewalGaps(const scenarios::Traffic& traffic);

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

 private:
  double gamma(RandomStream& random) const;
  double weibull(RandomStream& random) const;

  scenarios::Traffic::Gaps law_;
  double inverse_shape_ = 1;
  double scale_ = 1;
};

}  // namespace slicewise::sim
