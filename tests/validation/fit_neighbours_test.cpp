// Profiles from measurements of workloads beside each other: what a neighbour costs.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/models/measurements.hpp"
#include "slicewise/sim/calibration.hpp"

#include "shipped.hpp"

namespace slicewise::sim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// slowdown = 1 + sensitivity x pressure: four products of two workloads come back.
TEST(FitProfiles, NeighboursSaySensitivityAndPressure) {
  const auto read = models::read_measurements({"m.csv",
                                               "workload,gpu,sharing,beside,latency_ms\n"
                                               "a,T4,,,10\n"
                                               "b,T4,,,20\n"
                                               "a,T4,mps,a,14\n"
                                               "a,T4,mps,b,18\n"
                                               "b,T4,mps,a,22\n"
                                               "b,T4,mps,b,24\n"},
                                              shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  const models::WorkloadProfile& a = fitted->profiles[0].profile;
  const models::WorkloadProfile& b = fitted->profiles[1].profile;
  EXPECT_NEAR(*a.sensitivity * *a.pressure, 0.4, 0.001);
  EXPECT_NEAR(*a.sensitivity * *b.pressure, 0.8, 0.001);
  EXPECT_NEAR(*b.sensitivity * *a.pressure, 0.1, 0.001);
  EXPECT_NEAR(*b.sensitivity * *b.pressure, 0.2, 0.001);
  EXPECT_TRUE(fitted->notes.empty());
  for (const FittedProfile& fit : fitted->profiles) {
    EXPECT_THAT(fit.undetermined, Not(Contains(testing::StartsWith("beside"))));
    for (const char* name : {"sensitivity", "pressure"}) {
      const auto figure = std::ranges::find(fit.figures, name, &FittedFigure::name);
      EXPECT_GT(figure->half_width_95.value_or(0), 0) << name;
    }
    // Of four products any three tell the fourth.
    for (const FittedPoint& point : fit.points) {
      if (point.measured.beside.empty()) continue;
      EXPECT_NEAR(point.left_out_ms.value_or(0), point.measured_ms, 1e-3);
    }
  }
  const auto no_time_alone = fit_profiles(std::vector{(*read)[0], (*read)[4]}, shipped());
  ASSERT_FALSE(no_time_alone.has_value());
  EXPECT_EQ(no_time_alone.error().front().code, Code::InputMissing);
}

// a met b, c met d: how a fares beside d is in neither.
TEST(FitProfiles, NeighboursThatNeverMetAreNotDetermined) {
  const auto read = models::read_measurements({"m.csv",
                                               "workload,gpu,sharing,beside,latency_ms\n"
                                               "a,T4,,,10\n"
                                               "b,T4,,,10\n"
                                               "c,T4,,,10\n"
                                               "d,T4,,,10\n"
                                               "a,T4,mps,b,14\n"
                                               "b,T4,mps,a,12\n"
                                               "c,T4,mps,d,18\n"
                                               "d,T4,mps,c,16\n"},
                                              shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  EXPECT_THAT(fitted->profiles[0].undetermined, Contains("beside d"));
  EXPECT_THAT(fitted->profiles[0].undetermined, Not(Contains("beside b")));
}

TEST(FitProfiles, ANeighbourOfWhichNoProfileComesIsTold) {
  const auto read = models::read_measurements({"m.csv",
                                               "workload,gpu,sharing,beside,latency_ms,date\n"
                                               "a,T4,,,10,\n"
                                               "a,T4,mps,c,14,2026-11-20\n"
                                               "a,T4,mps,c,15,2026-11-19\n"},
                                              shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  ASSERT_EQ(fitted->notes.size(), 1U);
  EXPECT_EQ(fitted->notes[0].severity, Severity::Note);
  EXPECT_EQ(fitted->notes[0].where.line, 3);
  EXPECT_THAT(fitted->notes[0].message, HasSubstr("c was a neighbour on T4"));
  EXPECT_EQ(fitted->date, "2026-11-20");
}

}  // namespace
}  // namespace slicewise::sim
