#include "slicewise/models/calibration.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "clients_together.hpp"

namespace slicewise::models {
namespace {

// The slices of an A100: compute and bandwidth shares of 1g, 2g, 3g, 4g, 7g.
constexpr DomainShare kSlices[] = {
    {14.0 / 108, 0.125}, {28.0 / 108, 0.25}, {42.0 / 108, 0.5}, {56.0 / 108, 0.5}, {98.0 / 108, 1}};
constexpr DomainShare kSmallest = kSlices[0];
constexpr DomainShare kWhole = {1, 1};

// T(f, n) of law E1, written out.
double law_e1(double fixed, double work, double beta, double p, DomainShare f, int n) {
  const double stretched = n * work * ((1 - beta) / f.compute + beta / f.bandwidth);
  return std::pow(std::pow(fixed, p) + std::pow(stretched, p), 1 / p);
}

MeasuredTime measured(double seconds, DomainShare share, int clients = 1, int size = 0) {
  return {share, 1, clients, size, from_seconds(seconds)};
}

double milliseconds_of(Duration time) { return to_seconds(time) * 1e3; }

// W^p = (T_S^p - T_F^p) / (k^p - 1), T0^p = T_F^p - W^p with k = the growth of W on the small
// slice.
TEST(Calibration, TwoPointsAreTheClosedForm) {
  for (const double p : {1.0, 2.0, 3.0}) {
    const double norms[] = {p};
    const MeasuredTime points[] = {measured(0.010, kWhole), measured(0.040, kSmallest)};
    const Calibration fit = calibrate(points, {norms, 0.5, false});
    const double growth = 0.5 / kSmallest.compute + 0.5 / kSmallest.bandwidth;
    const double work =
        std::pow((std::pow(40, p) - std::pow(10, p)) / (std::pow(growth, p) - 1), 1 / p);
    const double fixed = std::pow(std::pow(10, p) - std::pow(work, p), 1 / p);
    EXPECT_NEAR(milliseconds_of(fit.sizes[0].gpu_work), work, 1e-3 * work) << "p = " << p;
    EXPECT_NEAR(milliseconds_of(fit.sizes[0].fixed_part), fixed, 1e-3 * fixed) << "p = " << p;
    EXPECT_LT(fit.mean_error, 1e-4);
  }
}

// Five slices and up to three copies of a workload with T0 = 6 ms, W = 5 ms, beta = 0.3.
TEST(Calibration, FindsEveryParameterOfALaw) {
  for (const double p : {1.0, 2.0, 4.0}) {
    std::vector<MeasuredTime> points;
    for (const DomainShare share : kSlices) {
      for (const int n : {1, 3}) {
        points.push_back(measured(law_e1(0.006, 0.005, 0.3, p, share, n), share, n));
      }
    }
    const Calibration fit = calibrate(points, {kUsualNorms, {}, false});
    EXPECT_EQ(fit.norm_p, p);
    EXPECT_NEAR(fit.bandwidth_share, 0.3, 0.01);
    EXPECT_NEAR(milliseconds_of(fit.sizes[0].gpu_work), 5, 0.02);
    EXPECT_NEAR(milliseconds_of(fit.sizes[0].fixed_part), 6, 0.02);
  }
}

// The nearest of those to choose from is 2.
TEST(Calibration, FindsANormBetweenThoseToStartFrom) {
  std::vector<MeasuredTime> points;
  for (const DomainShare share : kSlices) {
    for (const int n : {1, 3}) {
      points.push_back(measured(law_e1(0.006, 0.005, 0.5, 2.4, share, n), share, n));
    }
  }
  const Calibration fit = calibrate(points, {kUsualNorms, 0.5, false});
  EXPECT_NEAR(fit.norm_p, 2.4, 0.01);
  EXPECT_NEAR(law_of(fit, 0).capacity_share, 0.005 / law_e1(0.006, 0.005, 0.5, 2.4, kWhole, 1),
              0.005);
}

// T0 = 11 ms for all batches, W = 0.2 ms per item, maximum norm: with one T0 for all sizes two
// slices suffice to tell the norm, and a slice that was not measured follows.
TEST(Calibration, OneFixedPartForAllSizesTellsTheNormFromTwoSlices) {
  std::vector<MeasuredTime> points;
  const int batches[] = {1, 4, 16, 32, 64, 128, 256};
  for (int size = 0; size < 7; ++size) {
    for (const DomainShare share : {kSlices[0], kSlices[4]}) {
      const double work = 0.0002 * batches[size] * (0.5 / share.compute + 0.5 / share.bandwidth);
      points.push_back(measured(std::max(0.011, work), share, 1, size));
    }
  }
  const Calibration fit = calibrate(points, {kUsualNorms, 0.5, true});
  EXPECT_GE(fit.norm_p, 24);
  const double elsewhere = 0.0002 * 64 * (0.5 / kSlices[1].compute + 0.5 / kSlices[1].bandwidth);
  EXPECT_NEAR(to_seconds(predicted_time(fit, measured(1, kSlices[1], 1, 4))), elsewhere,
              0.01 * elsewhere);
  for (const Calibration::Size& size : fit.sizes) {
    EXPECT_EQ(size.fixed_part, fit.sizes[0].fixed_part);
  }
}

// A ratio of e^d between two times with 1 % of noise each is 95 % sure up to d = 0.01 sqrt(2
// * 3.84): u^p = (e^(p d) - 1) / (k^p - 1) with k = the growth of W on the small slice.
TEST(Calibration, OfWorkBoundByLaunchesTheWidestThatFits) {
  for (const double p : {2.0, 3.0}) {
    const double norms[] = {p};
    const MeasuredTime points[] = {measured(0.010, kWhole), measured(0.010, kSmallest)};
    const Calibration fit = calibrate(points, {norms, 0.5, false});
    const double growth = 0.5 / kSmallest.compute + 0.5 / kSmallest.bandwidth;
    const double apart = 0.01 * std::sqrt(2 * 3.84);
    const double widest = std::pow((std::exp(p * apart) - 1) / (std::pow(growth, p) - 1), 1 / p);
    EXPECT_TRUE(fit.sizes[0].launch_bound);
    EXPECT_NEAR(law_of(fit, 0).capacity_share, widest, 0.01 * widest);
    EXPECT_NEAR(to_seconds(predicted_time(fit, points[0])), 0.010, 0.02 * 0.010);
  }
}

// A tenth slower on the smallest slice, or two processes side by side, show how wide it is.
TEST(Calibration, WorkThatShowsItsWidthIsNotBoundByLaunches) {
  const double norms[] = {3};
  const MeasuredTime slower[] = {measured(0.010, kWhole), measured(0.0111, kSmallest)};
  EXPECT_FALSE(calibrate(slower, {norms, 0.5, false}).sizes[0].launch_bound);
  const MeasuredTime two[] = {measured(0.010, kWhole), measured(0.010, kSmallest),
                              measured(0.010, kSmallest, 2)};
  const Calibration fit = calibrate(two, {norms, 0.5, false});
  EXPECT_FALSE(fit.sizes[0].launch_bound);
  EXPECT_LT(law_of(fit, 0).capacity_share, 0.02);
  const MeasuredTime large[] = {measured(0.010, kWhole), measured(0.010, kSlices[4])};
  EXPECT_FALSE(calibrate(large, {norms, 0.5, false}).sizes[0].launch_bound);
}

TEST(Calibration, AWorkloadThatFillsTheGpuHasNoFixedPart) {
  const double norms[] = {2};
  const double growth = 1 / kSmallest.compute;
  const MeasuredTime points[] = {measured(0.010, kWhole), measured(0.010 * growth, kSmallest)};
  const Calibration fit = calibrate(points, {norms, 0.0, false});
  EXPECT_GT(law_of(fit, 0).capacity_share, 0.999);
}

TEST(Calibration, TheOrderOfThePointsDoesNotMatter) {
  std::vector<MeasuredTime> points;
  for (const DomainShare share : kSlices) {
    points.push_back(measured(0.01 * (1 + share.bandwidth) / share.compute, share));
  }
  const Calibration forwards = calibrate(points, {kUsualNorms, {}, false});
  std::reverse(points.begin(), points.end());
  const Calibration backwards = calibrate(points, {kUsualNorms, {}, false});
  EXPECT_EQ(forwards.norm_p, backwards.norm_p);
  EXPECT_NEAR(forwards.bandwidth_share, backwards.bandwidth_share, 1e-6);
  EXPECT_NEAR(forwards.mean_error, backwards.mean_error, 1e-9);
}

TEST(Calibration, PredictsWithTheLawThatTheSimulationUses) {
  ClientLaw law;
  law.capacity_share = 0.6;
  law.bandwidth_share = 0.2;
  law.norm_p = 3;
  for (const DomainShare share : kSlices) {
    for (int n = 1; n <= 7; ++n) {
      EXPECT_NEAR(stretch_of(law, share, 1, n), identical_clients(law, share, n), 1e-12);
    }
  }
}

TEST(PairCalibration, FindsTheProductsOfSensitivityAndPressure) {
  const double alpha[] = {0.2, 0.9, 1.4};
  const double c[] = {0.7, 0.3, 1.1};
  std::vector<PairObservation> seen;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) seen.push_back({i, j, 1 + alpha[i] * c[j]});
  }
  const PairCalibration fit = calibrate_pairs(seen, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(*fit.sensitivity[i] * *fit.pressure[j], alpha[i] * c[j], 1e-6);
    }
  }
}

TEST(PairCalibration, WhatWasNotObservedIsNotKnown) {
  const PairObservation seen[] = {{0, 1, 1.5}};
  const PairCalibration fit = calibrate_pairs(seen, 2);
  EXPECT_TRUE(fit.sensitivity[0] && fit.pressure[1]);
  EXPECT_FALSE(fit.sensitivity[1] || fit.pressure[0]);
}

TEST(PairCalibration, NobodyPressesWhereNobodyIsSlowed) {
  const PairObservation seen[] = {{0, 1, 1}, {1, 0, 0.99}};
  const PairCalibration fit = calibrate_pairs(seen, 2);
  EXPECT_EQ(*fit.sensitivity[0] * *fit.pressure[1], 0);
  EXPECT_EQ(*fit.sensitivity[1] * *fit.pressure[0], 0);
}

}  // namespace
}  // namespace slicewise::models
