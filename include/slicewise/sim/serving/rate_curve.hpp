#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// The rate of arrivals over the run, piece by piece, each of one rate:
//   no shape   one piece that lasts for ever
//   steps      as given; 0 before the first, the last for ever
//   Diurnal    5 minutes each: mean of a working day and highest piece are as given, between them
//              exp(k cos(time of day - peak_at))
//   Bursts     exponential sojourns within and outside bursts, in steady state from the start; the
//              rate outside follows from the mean (0 if bursts alone bring more than the mean)
// A Diurnal peak of more than 40 times the mean is cut to about that.
// Allocates in the constructor only. REQUIRES: the traffic outlives it.
class RateCurve {
 public:
  // `starts_at`: of the run, since Monday 00:00 UTC. Bursts draw from a stream of their own, so
  // they come at the same times whatever the mean rate is.
  RateCurve(const scenarios::Traffic& traffic, Duration starts_at, std::uint64_t seed,
            std::uint32_t replication, std::uint32_t entity);

  // Of the piece that the curve is at.
  double per_second() const { return per_second_; }
  double mean_gap_s() const { return mean_gap_s_; }  // infinite where the rate is 0
  TimePoint until() const { return until_; }         // kNever: it is the last

  // Goes to the next piece. REQUIRES: until() is not kNever.
  void step();

 private:
  struct Steps {
    const std::vector<scenarios::RateStep>* steps = nullptr;
    std::size_t next = 0;
  };
  struct Day {
    std::vector<double> per_second;  // of the pieces of a working day
    double weekend = 1;
    std::size_t piece = 0;  // of the local week
  };
  struct Modulation {
    RandomStream random;
    bool in_burst = false;
    std::array<double, 2> per_second{};  // outside, within
    std::array<double, 2> mean_ns{};     // of a sojourn
  };

  void set_rate(double per_second);
  void begin(const scenarios::Diurnal& diurnal, Rate mean, Duration starts_at);
  void begin(const scenarios::Bursts& bursts, Rate mean, RandomStream random);
  void show(const Day& day);
  void stay(Modulation& modulation);

  double per_second_ = 0;
  double mean_gap_s_ = 0;
  TimePoint until_ = kNever;
  std::variant<std::monostate, Steps, Day, Modulation> shape_;
};

}  // namespace slicewise::sim
