// Least squares against solutions that are known in closed form.
#include "slicewise/models/least_squares.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace slicewise::models {
namespace {

// y = a exp(-b t) at six times: a and b come back from far away.
TEST(LevenbergMarquardt, FindsTheParametersOfAnExponential) {
  const auto residuals = [](std::span<const double> at, std::span<double> out) {
    for (std::size_t t = 0; t < out.size(); ++t) {
      const auto time = static_cast<double>(t);
      out[t] = at[0] * std::exp(-at[1] * time) - 5 * std::exp(-0.7 * time);
    }
  };
  const Bound bounds[] = {{0, 100}, {0, 10}};
  const LeastSquares found = levenberg_marquardt(residuals, 6, {1, 0.1}, bounds);
  EXPECT_NEAR(found.at[0], 5, 1e-8);
  EXPECT_NEAR(found.at[1], 0.7, 1e-8);
  EXPECT_LT(found.cost, 1e-16);
}

// (x - 3)^2 + (y + x)^2 with x <= 1: the bound holds x, and y follows it.
TEST(LevenbergMarquardt, StaysWithinBounds) {
  const auto residuals = [](std::span<const double> at, std::span<double> out) {
    out[0] = at[0] - 3;
    out[1] = at[1] + at[0];
  };
  const Bound bounds[] = {{-1, 1}, {-10, 10}};
  const LeastSquares found = levenberg_marquardt(residuals, 2, {0, 0}, bounds);
  EXPECT_EQ(found.at[0], 1);
  EXPECT_NEAR(found.at[1], -1, 1e-8);
}

TEST(LevenbergMarquardt, AParameterThatNothingDependsOnStaysWhereItIs) {
  const auto residuals = [](std::span<const double> at, std::span<double> out) {
    out[0] = at[0] - 2;
  };
  const Bound bounds[] = {{-9, 9}, {-9, 9}};
  const LeastSquares found = levenberg_marquardt(residuals, 1, {0, 0.25}, bounds);
  EXPECT_NEAR(found.at[0], 2, 1e-8);
  EXPECT_EQ(found.at[1], 0.25);
}

// T(b) = 4 + 0.5 b exactly, and where the line would begin below 0 it begins at 0.
TEST(NonNegativeLeastSquares, ALineBeginsAtZeroAtLeast) {
  const Design design{2, {1, 1, 1, 2, 1, 4, 1, 8}};
  const double line[] = {4.5, 5, 6, 8};
  EXPECT_NEAR(non_negative_least_squares(design, line)[0], 4, 1e-12);
  EXPECT_NEAR(non_negative_least_squares(design, line)[1], 0.5, 1e-12);
  const double below[] = {0.5, 2, 5, 11};  // -1 + 1.5 b
  const std::vector<double> held = non_negative_least_squares(design, below);
  EXPECT_EQ(held[0], 0);
  EXPECT_NEAR(held[1], (0.5 + 2 * 2 + 4 * 5 + 8 * 11) / 85, 1e-12);
}

TEST(NonNegativeLeastSquares, NothingIsNegativeWhereEverythingFalls) {
  const Design design{2, {1, 0, 1, 1, 1, 2}};
  const double falling[] = {3, 2, 1};
  const std::vector<double> found = non_negative_least_squares(design, falling);
  EXPECT_NEAR(found[0], 2, 1e-12);
  EXPECT_EQ(found[1], 0);
}

// Only the sum of two parameters is observed, with a slope of 2: 0.25 of its variance is known, and
// their difference is not.
TEST(Determination, SaysWhatObservationsFix) {
  const Determination said(Design{2, {2, 2}});
  const double sum[] = {1, 1};
  const double difference[] = {1, -1};
  const double first[] = {1, 0};
  EXPECT_EQ(said.rank(), 1U);
  EXPECT_TRUE(said.determines(sum));
  EXPECT_NEAR(said.variance(sum), 0.25, 1e-12);
  EXPECT_FALSE(said.determines(difference));
  EXPECT_FALSE(said.determines(first));
}

TEST(RankOne, IsTheProductOfARowAndAColumn) {
  const Design table{3, {2, 4, 6, 1, 2, 3, 3, 6, 9}};
  const RankOne found = rank_one(table);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(found.row[r] * found.column[c], table.row(r)[c], 1e-12);
    }
  }
}

TEST(Inverse, OfAMatrixOfTwo) {
  const std::vector<double> found = inverse_of(Design{2, {2, 1, 1, 1}});
  const double expected[] = {1, -1, -1, 2};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
}

}  // namespace
}  // namespace slicewise::models
