// What measurements do not determine is that of other batches or other workloads, and marked.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/models/measurements.hpp"
#include "slicewise/sim/calibration.hpp"

#include "shipped.hpp"

namespace slicewise::sim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

// Beside v with a batch of 8 w took twice as long as beside one of 1: the mean of both was fitted.
TEST(FitProfiles, TheBatchOfANeighbourCounts) {
  const std::string header = "workload,gpu,batch,sharing,beside,beside_batch,latency_ms\n";
  const std::string alone = "w,T4,1,,,,20\nw,T4,4,,,,50\nv,T4,1,,,,10\nv,T4,8,,,,60\n";
  const auto read = models::read_measurements({"m.csv", header + alone +
                                                            "w,T4,1,mps,v,1,22\n"
                                                            "w,T4,1,mps,v,8,40\n"
                                                            "v,T4,1,mps,w,1,11\n"
                                                            "v,T4,8,mps,w,1,90\n"},
                                              shipped());
  ASSERT_TRUE(read.has_value()) << read.error().front().message;
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value()) << fitted.error().front().message;
  for (const FittedProfile& fit : fitted->profiles) {
    EXPECT_NEAR(fit.mean_error_percent, 0, 0.1) << fit.profile.name;
    if (fit.profile.name != "w/t4/b4") continue;
    EXPECT_THAT(fit.profile.provenance.at("sensitivity"), HasSubstr("borrowed from batch 1"));
  }
  const auto unclear =
      models::read_measurements({"m.csv", header + alone + "w,T4,1,mps,v,,22\n"}, shipped());
  ASSERT_TRUE(unclear.has_value());
  const auto refused = fit_profiles(*unclear, shipped());
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().front().help, HasSubstr("beside_batch"));
}

// Fewer items fill no more of the GPU than those of the donor may do.
TEST(FitProfiles, WhatABatchBorrowsIsBoundedByTheDonor) {
  const auto read = models::read_measurements(
      {"m.csv",
       "workload,gpu,latency_ms,sharing,clients,batch\n"
       "a,A10G,10,,,1\na,A10G,18,,,4\na,A10G,30,mps,2,4\na,A10G,40,,,16\n"},
      shipped());
  ASSERT_TRUE(read.has_value());
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  ASSERT_EQ(fitted->profiles.size(), 3U);
  const auto figure = [&](std::size_t profile) {
    return *std::ranges::find(fitted->profiles[profile].figures, "capacityShare",
                              &FittedFigure::name);
  };
  const FittedFigure donor = figure(1);
  ASSERT_TRUE(figure(0).between && figure(2).between && donor.half_width_95);
  EXPECT_DOUBLE_EQ(figure(0).between->most, std::min(1.0, donor.value + *donor.half_width_95));
  EXPECT_DOUBLE_EQ(figure(2).between->least, donor.value - *donor.half_width_95);
  EXPECT_LE(figure(0).value, figure(0).between->most);
  const auto& drawn = fitted->profiles[0].profile.uncertainty;
  const auto known = std::ranges::find(drawn, "capacityShare", &models::FigureUncertainty::figure);
  ASSERT_NE(known, drawn.end());
  EXPECT_TRUE(known->between.has_value());
}

// Nothing but 20 ms: all of the GPU was taken. By hand, of profiles with a batch of 1 and of 8.
TEST(FitProfiles, ATimeAloneBorrowsTheShareOfProfilesLikeIt) {
  const auto read = models::read_measurements(
      {"m.csv", "workload,gpu,batch,latency_ms\nw,A10G,1,20\nw,A10G,32,40\n"}, shipped());
  ASSERT_TRUE(read.has_value());
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_TRUE(fitted.has_value());
  double narrower = 0;
  for (const FittedProfile& fit : fitted->profiles) {
    const models::WorkloadProfile& p = fit.profile;
    ASSERT_TRUE(p.capacity_share.has_value()) << p.name;
    EXPECT_THAT(p.provenance.at("capacityShare"), StartsWith(std::string(kBorrowedOfClass)));
    EXPECT_THAT(fit.undetermined, Contains("capacityShare"));
    const auto width =
        std::ranges::find(p.uncertainty, "capacityShare", &models::FigureUncertainty::figure);
    ASSERT_NE(width, p.uncertainty.end());
    EXPECT_GT(width->half_width_95, 0.05);
    ASSERT_TRUE(width->between.has_value()) << "the profiles that it stands for have no others";
    EXPECT_LE(width->between->least, *p.capacity_share);
    EXPECT_GE(width->between->most, *p.capacity_share);
    EXPECT_LE(width->between->most, 1);
    // One picture fills less of a GPU than 32.
    EXPECT_GT(*p.capacity_share, narrower);
    narrower = *p.capacity_share;
  }
  EXPECT_LE(narrower, 1);
}

}  // namespace
}  // namespace slicewise::sim
