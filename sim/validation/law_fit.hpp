#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/measurements.hpp"

// The law of a workload from its times alone, on slices and under MPS, and what they leave unknown.
namespace slicewise::sim::profile_fit {

using models::Calibration;
using models::MeasuredSharing;
using models::MeasuredTime;
using models::Measurement;

using models::kLeastNoise;
inline constexpr double kNormal95 = 1.96;

inline double in_ms(Duration time) { return static_cast<double>(time.ns) * 1e-6; }

inline auto place_of(const Measurement& m) {
  const int clients = m.sharing == MeasuredSharing::Alone ? 1 : m.clients;
  return std::tuple(m.slice, m.active_threads, clients, m.sharing == MeasuredSharing::TimeSlicing);
}

inline bool is_time_alone(const Measurement& m) {
  return models::is_time_alone(m.share, m.active_threads, m.clients);
}

// One workload on one GPU: its measurements by batch.
struct Company {
  std::vector<int> batches;
  std::vector<Measurement> law;    // alone and under MPS
  std::vector<Measurement> turns;  // time-slicing

  int size_of(const Measurement& m) const {
    return static_cast<int>(std::ranges::find(batches, m.batch) - batches.begin());
  }
  MeasuredTime point(const Measurement& m) const {
    return {m.share, m.active_threads, m.clients, size_of(m), m.time};
  }
  // Whether T1 of this batch was measured, not only what follows from it.
  bool has_time_alone(int batch) const {
    return std::ranges::any_of(
        law, [&](const Measurement& m) { return m.batch == batch && is_time_alone(m); });
  }
  std::size_t settings_of(int batch) const {
    std::set<decltype(place_of(law.front()))> places;
    for (const Measurement& m : law) {
      if (m.batch == batch) places.insert(place_of(m));
    }
    return places.size();
  }
};

// What is fitted beside T1 and u of each batch.
struct Freedom {
  bool norm = false;
  bool beta = false;
};

// Batches with one setting only take the fixed part of the nearest batch with several.
struct Fit {
  Calibration calibration;
  Freedom freedom;
  std::map<int, int> borrowed;  // size -> size
};

// `held`: p and beta are its, whatever is free.
Fit fit_law(const Company& company, Freedom freedom, const Calibration* held = nullptr);
// As free as the data determine.
Fit best_law(const Company& company);

// The parameters of a fit as figures of profiles: log T1 and u of each size, log p, beta.
class Parameters {
 public:
  explicit Parameters(const Fit& fit);

  std::size_t count() const { return values_.size(); }
  double prior(std::size_t parameter) const;

  double log_time(const MeasuredTime& point) const;
  // ... as if the kernels of its size took this share of the GPU.
  double log_time_with(double capacity_share, const MeasuredTime& point) const;

  // How the logarithm of the predicted time changes with each parameter.
  std::vector<double> gradient(const MeasuredTime& point) const;

 private:
  std::vector<double> values_;
};

// What is not known after the measurements: the covariance of the parameters of the linearised fit.
// A time alone is off by what repeats are, or, without such, by what a law that follows the other
// settings leaves of them; what the law says of those by its misfit there, too.
class Ignorance {
 public:
  // Whether rows are off by no more than these are, which says what they determine, or the law by
  // as much as is usual, of which few rows show little.
  enum class Noise : std::uint8_t { AsSeen, AsUsual };
  Ignorance(const Company& company, const Fit& fit, Noise noise = Noise::AsUsual);

  double deviation(std::size_t parameter) const;
  double correlation(std::size_t first, std::size_t second) const;
  double half_width_95(std::size_t parameter) const { return kNormal95 * deviation(parameter); }
  bool knows(std::size_t parameter) const;
  std::size_t norm() const { return parameters_.count() - 2; }
  std::size_t beta() const { return parameters_.count() - 1; }

  // Where a time that was not measured lies, in seconds: 95 %, and within what the law can say.
  struct Range {
    double least = 0;
    double most = 0;
  };
  Range range_of(const MeasuredTime& point) const;

 private:
  Parameters parameters_;
  std::vector<double> covariance_;  // column by column
};

}  // namespace slicewise::sim::profile_fit
