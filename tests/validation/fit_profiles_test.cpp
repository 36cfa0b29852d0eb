// Profiles from measurements: known parameters come back, and what is not known is said.
#include <array>
#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/reports/calibration_report.hpp"
#include "slicewise/sim/calibration.hpp"

#include "shipped.hpp"

namespace slicewise::sim {
namespace {

using models::MeasuredSharing;
using models::Measurement;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGpu = "A100-SXM4-80GB";

Measurement setting(const std::string& slice, MeasuredSharing sharing, int clients) {
  Measurement out;
  out.workload = "made";
  out.gpu = kGpu;
  out.slice = slice;
  const models::MigGeometry& geometry = *shipped().find_mig(kGpu);
  for (const models::MigProfile& profile : geometry.profiles) {
    if (profile.name == slice) out.share = models::mig_share(geometry, profile);
  }
  out.sharing = sharing;
  out.clients = clients;
  return out;
}

constexpr double kSoloSeconds = 0.02;

models::ClientLaw made_law() {
  models::ClientLaw law;
  law.capacity_share = 0.45;
  law.bandwidth_share = 0.5;
  law.norm_p = 3;
  return law;
}

Measurement by_law(const std::string& slice, int clients) {
  Measurement m =
      setting(slice, clients > 1 ? MeasuredSharing::Mps : MeasuredSharing::Alone, clients);
  m.time = from_seconds(kSoloSeconds * models::stretch_of(made_law(), m.share, 1, clients));
  return m;
}

Measurement in_turns(double duty, int clients) {
  const models::GpuModel& gpu = *shipped().find_gpu(kGpu);
  const double overhead = to_seconds(models::usual_switch_cost(gpu)) / to_seconds(gpu.time_slice);
  Measurement m = setting("full", MeasuredSharing::TimeSlicing, clients);
  m.time = from_seconds(kSoloSeconds * models::overlapped_slowdown(duty, duty * clients, overhead));
  return m;
}

// Rows of a known law with 3 % of noise: 20.77 ms were 20 ms within 2 %, as all of them stood
// alone.
TEST(FitProfiles, RowsThatScatterWithoutRepeatsLeaveTheTimeAloneAsUnsure) {
  std::vector<Measurement> made = {by_law("full", 1),    by_law("1g.10gb", 1), by_law("2g.20gb", 1),
                                   by_law("3g.40gb", 1), by_law("full", 2),    by_law("full", 3),
                                   by_law("full", 4),    by_law("full", 6)};
  const double noise[] = {1.035, 0.97, 1.03, 0.965, 1.04, 0.97, 1.025, 0.98};
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i].time = from_seconds(to_seconds(made[i].time) * noise[i]);
  }
  const auto solo_of = [](const std::vector<Measurement>& rows) {
    const auto fitted = fit_profiles(rows, shipped());
    const auto& figures = fitted->profiles.front().figures;
    return *std::ranges::find(figures, "soloMs", &FittedFigure::name);
  };
  const FittedFigure solo = solo_of(made);
  EXPECT_LE(std::abs(solo.value - 1e3 * kSoloSeconds), *solo.half_width_95);
  EXPECT_LT(*solo.half_width_95, 0.1 * solo.value);
  // Repeats say it better.
  for (const double again : {0.99, 1.01, 0.995, 1.005, 1.0}) {
    made.push_back(by_law("full", 1));
    made.back().time = from_seconds(kSoloSeconds * again);
  }
  made.erase(made.begin());
  EXPECT_LT(*solo_of(made).half_width_95, 0.03 * solo.value);
}

// Faster side by side than alone: the law came out at work that takes nothing of the GPU, "fitted".
TEST(FitProfiles, WhatDoesNotFollowTheLawHasNoCapacityShare) {
  std::vector<Measurement> made = {by_law("full", 1), by_law("full", 2), by_law("full", 4)};
  made[1].time = {made[0].time.ns * 9 / 10};
  made[2].time = {made[0].time.ns * 8 / 10};
  const auto fitted = fit_profiles(made, shipped());
  ASSERT_TRUE(fitted.has_value());
  const FittedProfile& fit = fitted->profiles.front();
  EXPECT_THAT(fit.undetermined, Contains("capacityShare"));
  EXPECT_FALSE(fit.profile.capacity_share);
  EXPECT_TRUE(fit.profile.solo_step);
}

TEST(FitProfiles, KnownParametersComeBack) {
  const std::vector<Measurement> made = {
      by_law("full", 1), by_law("1g.10gb", 1), by_law("2g.20gb", 1), by_law("3g.40gb", 1),
      by_law("full", 3), by_law("full", 6),    in_turns(0.6, 2),     in_turns(0.6, 4)};
  const auto fitted = fit_profiles(made, shipped());
  ASSERT_TRUE(fitted.has_value());
  ASSERT_EQ(fitted->profiles.size(), 1U);
  const FittedProfile& fit = fitted->profiles.front();
  EXPECT_NEAR(to_seconds(*fit.profile.solo_step), kSoloSeconds, 0.002 * kSoloSeconds);
  EXPECT_NEAR(*fit.profile.capacity_share, 0.45, 0.02);
  EXPECT_NEAR(*fit.profile.norm_p, 3, 0.01);
  EXPECT_NEAR(*fit.profile.duty, 0.6, 0.001);
  EXPECT_LT(fit.mean_error_percent, 0.5);
  ASSERT_TRUE(fit.left_out_error_percent.has_value());
  EXPECT_LT(*fit.left_out_error_percent, 5);
  EXPECT_THAT(fit.undetermined, Not(Contains("duty")));
}

TEST(FitProfiles, IntervalsHoldWhatIsTrueAndNarrowWithMeasurements) {
  const auto width_of = [](const std::vector<Measurement>& made) {
    const auto fitted = fit_profiles(made, shipped());
    const auto& figures = fitted->profiles.front().figures;
    const auto share = std::ranges::find(figures, "capacityShare", &FittedFigure::name);
    EXPECT_LE(std::abs(share->value - 0.45), *share->half_width_95);
    return *share->half_width_95;
  };
  const double few = width_of({by_law("full", 1), by_law("full", 3)});
  const double more =
      width_of({by_law("full", 1), by_law("full", 3), by_law("1g.10gb", 1), by_law("full", 6)});
  EXPECT_LT(more, few);
}

TEST(FitProfiles, OneSettingSaysTheTimeAndWhatIsBorrowedIsMarked) {
  const auto fitted = fit_profiles(std::vector{by_law("full", 1)}, shipped());
  ASSERT_TRUE(fitted.has_value());
  const FittedProfile& fit = fitted->profiles.front();
  EXPECT_NEAR(to_seconds(*fit.profile.solo_step), kSoloSeconds, 1e-6);
  EXPECT_THAT(fit.profile.provenance.at("capacityShare"), HasSubstr(std::string(kBorrowedOfClass)));
  EXPECT_FALSE(fit.profile.bandwidth_share || fit.profile.norm_p || fit.profile.duty);
  EXPECT_THAT(fit.undetermined, testing::IsSupersetOf({"capacityShare", "duty"}));
  ASSERT_TRUE(fit.next.has_value());
  EXPECT_GT(fit.next->most_ms, 1.5 * fit.next->least_ms);
}

TEST(FitProfiles, RepeatsCountAllAndTheirSpreadIsTheInterval) {
  std::vector<Measurement> made(3, by_law("full", 1));
  made[0].time = milliseconds(10);
  made[2].time = milliseconds(40);
  const auto fitted = fit_profiles(made, shipped());
  ASSERT_TRUE(fitted.has_value());
  const FittedProfile& fit = fitted->profiles.front();
  EXPECT_NEAR(to_seconds(*fit.profile.solo_step), 0.02, 1e-5);
  const auto solo = std::ranges::find(fit.figures, "soloMs", &FittedFigure::name);
  EXPECT_GT(*solo->half_width_95, 10);
}

TEST(FitProfiles, WhatIsMeasuredNextIsNotWhatIsKnown) {
  const auto widths = [](const std::vector<Measurement>& made) {
    const NextMeasurement next = *fit_profiles(made, shipped())->profiles.front().next;
    return next.most_ms / next.least_ms - 1;
  };
  const std::vector<Measurement> before = {by_law("full", 1), in_turns(0.6, 2)};
  std::vector<Measurement> after = before;
  Measurement next = fit_profiles(before, shipped())->profiles.front().next->setting;
  next.time =
      from_seconds(kSoloSeconds * models::stretch_of(made_law(), next.share, 1, next.clients));
  after.push_back(next);
  EXPECT_LT(widths(after), 0.6 * widths(before));
}

const FittedFigure& figure(const FittedProfile& fit, const char* name) {
  return *std::ranges::find(fit.figures, name, &FittedFigure::name);
}

FittedProfiles fitted_rows(const std::string& rows) {
  const auto read = models::read_measurements(
      {"m.csv", "workload,gpu,slice,sharing,clients,batch,latency_ms\n" + rows}, shipped());
  return fit_profiles(read.value(), shipped()).value();
}

// Times under MPS and on a slice that no law follows: the time alone is what was measured, and as
// sure as that; what turns say is held against it.
TEST(FitProfiles, TimesAloneAreKeptWhateverTheLawMisses) {
  const FittedProfiles fitted = fitted_rows(
      "w,A100-SXM4-40GB,full,alone,1,1,6.0\n"
      "w,A100-SXM4-40GB,full,alone,1,8,14.0\n"
      "w,A100-SXM4-40GB,full,time-slicing,2,1,12.3\n"
      "w,A100-SXM4-40GB,full,time-slicing,4,1,24.9\n"
      "w,A100-SXM4-40GB,full,mps,2,1,6.6\n"
      "w,A100-SXM4-40GB,full,mps,4,1,11.0\n"
      "w,A100-SXM4-40GB,1g.5gb,alone,1,1,18.3\n");
  ASSERT_EQ(fitted.profiles.size(), 2U);
  const double alone_ms[] = {6, 14};
  for (std::size_t i = 0; i < 2; ++i) {
    const FittedFigure& solo = figure(fitted.profiles[i], "soloMs");
    EXPECT_NEAR(solo.value, alone_ms[i], 1e-5);
    EXPECT_EQ(solo.basis, "measured");
    EXPECT_GT(*solo.half_width_95, 0.005 * alone_ms[i]);
    EXPECT_LT(*solo.half_width_95, 0.03 * alone_ms[i]);
  }
  for (const FittedPoint& point : fitted.profiles[0].points) {
    if (point.measured.slice != "full" || point.measured.clients > 1) continue;
    EXPECT_NEAR(point.predicted_ms, 6, 1e-5);
  }
  EXPECT_GT(figure(fitted.profiles[0], "duty").value, 0.9);
  for (const models::FigureUncertainty& one : fitted.profiles[1].profile.uncertainty) {
    EXPECT_LE(one.half_width_95, one.figure == "soloMs" ? 0.4 : 5) << one.figure;
  }
}

TEST(FitProfiles, ATimeAloneThatFollowsFromOthersIsFittedAndAsUnsure) {
  const auto fitted = fit_profiles(
      std::vector{by_law("1g.10gb", 1), by_law("full", 3), by_law("3g.40gb", 1)}, shipped());
  const FittedFigure& solo = figure(fitted->profiles.front(), "soloMs");
  EXPECT_EQ(solo.basis, "fitted");
  EXPECT_NEAR(solo.value, 1e3 * kSoloSeconds, *solo.half_width_95);
  EXPECT_GT(*solo.half_width_95, 0.03 * solo.value);
}

TEST(FitProfiles, NothingIsAskedForThatWasMeasured) {
  const FittedProfiles all = fitted_rows(
      "w,A10G,,alone,1,1,12\n"
      "w,A10G,,mps,2,1,15\n"
      "w,A10G,,mps,4,1,27\n"
      "w,A10G,,time-slicing,2,1,24.3\n");
  EXPECT_FALSE(all.profiles.front().next.has_value());
  EXPECT_THAT(reports::calibration_table(all, {}), HasSubstr("Nothing to measure next"));
  // Twice as fast beside another, twenty times as slow in turns with it.
  const FittedProfiles odd = fitted_rows(
      "w,A10G,,alone,1,1,10\n"
      "w,A10G,,mps,2,1,9\n"
      "w,A10G,,time-slicing,2,1,200\n");
  EXPECT_THAT(reports::calibration_table(odd, {}),
              ::testing::Not(HasSubstr("Nothing to measure next")));
  const FittedProfiles some = fitted_rows(
      "w,A10G,,alone,1,1,12\n"
      "w,A10G,,mps,2,1,15\n"
      "w,A10G,,time-slicing,2,1,24.3\n");
  ASSERT_TRUE(some.profiles.front().next.has_value());
  EXPECT_EQ(some.profiles.front().next->setting.clients, 4);
  EXPECT_GE(some.profiles.front().next->least_ms, 12 * 0.9);
}

TEST(FitProfiles, SecondsAmongMillisecondsAreNoticed) {
  const FittedProfiles fitted = fitted_rows(
      "w,A10G,,alone,1,1,0.012\n"
      "w,A10G,,time-slicing,2,1,24\n");
  ASSERT_EQ(fitted.notes.size(), 1U);
  EXPECT_EQ(fitted.notes.front().where.line, 2);
  EXPECT_THAT(fitted.notes.front().help, HasSubstr("in seconds?"));
  EXPECT_TRUE(fitted_rows("w,A10G,,alone,1,1,12\nw,A10G,,time-slicing,8,1,100\n").notes.empty());
}

// 141.5 ms beside 41.5 and 40.7 moved all figures, and nobody said which row it was.
TEST(FitProfiles, TheOddRowOfASettingIsNamed) {
  const std::string rows =
      "w,A10G,,alone,1,1,20\nw,A10G,,mps,4,1,41.5\nw,A10G,,mps,4,1,141.5\nw,A10G,,mps,4,1,40.7\n";
  const Diagnostics notes = fitted_rows(rows).notes;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.front().where.line, 4);
  EXPECT_EQ(notes.front().severity, Severity::Warning);
  EXPECT_THAT(notes.front().message, HasSubstr("141.5 ms, and 40.7 to 41.5 ms in the 2 other"));
  EXPECT_TRUE(fitted_rows("w,A10G,,alone,1,1,20\nw,A10G,,mps,4,1,41.5\nw,A10G,,mps,4,1,141.5\n")
                  .notes.empty());
}

// A window's times hold no host work: with a duty of 0.86 a GPU that was busy for 40 % was 35 %.
TEST(FitProfiles, TimesOfAWindowAreTheGpusAlone) {
  Measurement alone = by_law("full", 1);
  const std::vector rows = {alone, in_turns(0.86, 3)};
  EXPECT_NEAR(fit_profiles(rows, shipped())->profiles.front().profile.duty.value_or(0), 0.86, 0.01);
  alone.is_busy = true;
  const auto fitted = fit_profiles(std::vector{alone, in_turns(0.86, 3)}, shipped());
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->profiles.front().profile.duty, 1);
  EXPECT_EQ(fitted->profiles.front().profile.request_duty, 1);
}

// Their mean, 0.395 ms, was "measured" by nobody.
TEST(FitProfiles, RowsOfOneSettingInOtherUnitsAreRefused) {
  const auto read = models::read_measurements(
      {"m.csv", "workload,gpu,latency_ms\nbert,A10G,0.0125\nbert,A10G,12.5\n"}, shipped());
  ASSERT_TRUE(read.has_value());
  const auto fitted = fit_profiles(*read, shipped());
  ASSERT_FALSE(fitted.has_value());
  EXPECT_EQ(fitted.error().front().where.line, 3);
  EXPECT_THAT(fitted.error().front().message, HasSubstr("12.5 ms, and 0.0125 ms in another row"));
  EXPECT_THAT(fitted.error().front().help, HasSubstr("in seconds?"));
}

// Far off in one setting, near on the mean.
TEST(FitProfiles, TheWorstSettingIsNamedWhereTheLawIsFarOff) {
  const std::string table = reports::calibration_table(fitted_rows("w,A10G,,alone,1,1,12\n"
                                                                   "w,A10G,,alone,1,1,12\n"
                                                                   "w,A10G,,alone,1,1,12\n"
                                                                   "w,A10G,,mps,2,1,12.1\n"
                                                                   "w,A10G,,mps,4,1,40\n"),
                                                       {});
  EXPECT_THAT(table, HasSubstr("The law does not follow these measurements: "));
}

TEST(FitProfiles, ABatchMeasuredOnceBorrowsFromTheNext) {
  Measurement other = by_law("full", 1);
  other.batch = 4;
  other.time = from_seconds(2 * kSoloSeconds);
  const auto fitted = fit_profiles(
      std::vector{by_law("full", 1), by_law("1g.10gb", 1), by_law("full", 4), other}, shipped());
  ASSERT_TRUE(fitted.has_value());
  ASSERT_EQ(fitted->profiles.size(), 2U);
  const FittedProfile& fit = fitted->profiles.back();
  EXPECT_THAT(fit.profile.provenance.at("capacityShare"), HasSubstr("borrowed from batch 1, "));
  EXPECT_NEAR(to_seconds(*fit.profile.solo_step), 2 * kSoloSeconds, 1e-4);
  EXPECT_GT(*fit.profile.capacity_share, *fitted->profiles.front().profile.capacity_share);
}

// Below the donor's fixed part the smaller batch was work alone that fills the GPU: no gain beside
// a copy, where the larger one gains.
TEST(FitProfiles, ASmallerBatchFillsNoMoreThanTheOneItBorrowsFrom) {
  const auto shares = [](const char* alone) {
    const FittedProfiles fitted = fitted_rows(std::string("a,A10G,,alone,1,1,") + alone +
                                              "\na,A10G,,alone,1,4,18\na,A10G,,mps,2,4,30\n");
    EXPECT_NEAR(to_seconds(*fitted.profiles[0].profile.solo_step), 1e-3 * std::stod(alone), 1e-6);
    return std::pair(fitted.profiles[0].profile.capacity_share.value(),
                     fitted.profiles[1].profile.capacity_share.value());
  };
  for (const char* alone : {"5", "10", "14.0", "14.2", "16"}) {
    EXPECT_LE(shares(alone).first, shares(alone).second + 1e-6) << alone;
  }
  EXPECT_NEAR(shares("14.0").first, shares("14.2").first, 0.05);
}

// T(b) = 8 ms + 3 ms b: a batch of 4 adds 12 ms to a step.
TEST(FitProfiles, BatchesGiveWhatOneMoreItemTakes) {
  std::vector<Measurement> made;
  for (const int batch : {1, 4, 16}) {
    made.push_back(by_law("full", 1));
    made.back().batch = batch;
    made.back().time = milliseconds(8 + 3 * batch);
  }
  const auto fitted = fit_profiles(made, shipped());
  ASSERT_TRUE(fitted.has_value());
  const models::WorkloadProfile& of_four = fitted->profiles[1].profile;
  EXPECT_NEAR(to_seconds(*of_four.extra_per_item), 0.012, 1e-6);
  EXPECT_THAT(of_four.provenance.at("extraPerItemMs"), HasSubstr("batches 1, 4, 16"));
  EXPECT_TRUE(std::ranges::any_of(of_four.uncertainty, [](const auto& one) {
    return one.figure == "extraPerItemMs" && one.half_width_95 > 0;
  }));
  made.resize(1);
  EXPECT_FALSE(fit_profiles(made, shipped())->profiles[0].profile.extra_per_item.has_value());
}

// Their first row stood for all, and nothing said how far they scatter.
TEST(FitProfiles, FiguresOfRowsAreTheirMeanWithTheSpreadOfRepeats) {
  std::vector<Measurement> rows(3, by_law("full", 1));
  rows[0].kernel_time = microseconds(40);
  rows[1].kernel_time = microseconds(60);
  rows[0].host_time = milliseconds(3);
  const FittedProfile fit = fit_profiles(rows, shipped())->profiles.front();
  EXPECT_EQ(fit.profile.kernel_time, microseconds(50));
  EXPECT_GT(figure(fit, "kernelMs").half_width_95.value_or(0), 0.01);
  EXPECT_EQ(fit.profile.host_time, milliseconds(3));
  EXPECT_FALSE(figure(fit, "hostMs").half_width_95.has_value());
}

// What was measured of one batch under MPS ties u to p: drawn apart they would contradict it.
TEST(FitProfiles, FiguresThatWereFittedTogetherAreCorrelated) {
  const auto fitted = fit_profiles(
      std::vector{by_law("full", 1), by_law("1g.10gb", 1), by_law("full", 3), by_law("full", 6)},
      shipped());
  const auto& uncertainty = fitted->profiles[0].profile.uncertainty;
  const auto norm = std::ranges::find(uncertainty, "normP", &models::FigureUncertainty::figure);
  ASSERT_NE(norm, uncertainty.end());
  EXPECT_GT(std::abs(norm->correlations.at("capacityShare")), 0.2);
  const auto laid =
      models::with_layer(shipped(), {"profiles.yaml", reports::profile_document(*fitted)});
  ASSERT_TRUE(laid.has_value()) << laid.error().front().message;
  EXPECT_EQ(laid->find_profile("made/a100-sxm4-80gb/b1")->uncertainty.size(), uncertainty.size());
}

TEST(FitProfiles, TheDocumentIsACatalogueOfMeasuredProfiles) {
  const auto fitted = fit_profiles(
      std::vector{by_law("full", 1), by_law("1g.10gb", 1), in_turns(0.6, 2)}, shipped());
  const auto laid =
      models::with_layer(shipped(), {"profiles.yaml", reports::profile_document(*fitted)});
  ASSERT_TRUE(laid.has_value()) << laid.error().front().message;
  const models::WorkloadProfile* profile = laid->find_profile("made/a100-sxm4-80gb/b1");
  ASSERT_NE(profile, nullptr);
  EXPECT_TRUE(profile->is_users);
  EXPECT_NEAR(*profile->duty, 0.6, 0.001);
  EXPECT_THAT(profile->provenance.at("soloMs"), testing::StartsWith("measured"));
}

TEST(FitProfiles, TurnsNeedTheTimeAlone) {
  const auto fitted = fit_profiles(std::vector{in_turns(0.6, 2)}, shipped());
  ASSERT_FALSE(fitted.has_value());
  EXPECT_EQ(fitted.error().front().code, Code::InputMissing);
}

TEST(FitProfiles, MoreMeasurementsThanAreFittedInMinutesAreRefusedWhereTheyBegin) {
  std::vector<Measurement> many(kMostMeasurements + 1, in_turns(0.6, 2));
  many.back().where = {"m.csv", 5'002, 1};
  const auto fitted = fit_profiles(many, shipped());
  ASSERT_FALSE(fitted.has_value());
  EXPECT_EQ(fitted.error().front().code, Code::ValueRange);
  EXPECT_EQ(fitted.error().front().where.line, 5'002);
}

// first.
TEST(FitProfiles, TurnsBesideOneOtherSayHowMuchOfTheirsTheyUse) {
  const std::map<std::string, double> use = {{"whole", 1}, {"half", 0.5}, {"quarter", 0.25}};
  std::vector<Measurement> rows;
  const auto row = [&](const std::string& workload, MeasuredSharing sharing, int clients,
                       const std::string& beside, double slowdown) {
    Measurement m = setting("full", sharing, clients);
    m.workload = workload;
    m.beside = beside;
    m.time = from_seconds(kSoloSeconds * slowdown);
    rows.push_back(m);
  };
  const double overhead = to_seconds(in_turns(1, 2).time) / (2 * kSoloSeconds) - 1;
  const auto beside = [&](const std::string& one, const std::string& other) {
    const std::array<models::TurnTaker, 2> takers = {{{1, use.at(one)}, {1, use.at(other)}}};
    row(one, MeasuredSharing::TimeSlicing, 1, other,
        models::overlapped_slowdown(1, models::demand_in_turns(takers, 0), overhead));
  };
  for (const auto& [name, part] : use) {
    row(name, MeasuredSharing::Alone, 1, "", 1);
    row(name, MeasuredSharing::TimeSlicing, 2, "", 2 * (1 + overhead));
    if (name == "whole") continue;
    beside(name, "whole");
    beside("whole", name);
  }
  const auto fitted = fit_profiles(rows, shipped());
  ASSERT_TRUE(fitted);
  for (const FittedProfile& fit : fitted->profiles) {
    EXPECT_NEAR(fit.profile.turn_use.value_or(0), use.at(fit.profile.title), 1e-6);
    EXPECT_LT(fit.mean_error_percent, 0.1) << fit.profile.title;
    const auto figure = std::ranges::find(fit.figures, "turnUse", &FittedFigure::name);
    ASSERT_NE(figure, fit.figures.end());
    // Each pair is two speeds of 1 % each; the largest is 1 whatever it is.
    if (fit.profile.title == "whole") {
      EXPECT_FALSE(figure->half_width_95);
      continue;
    }
    const double each = 1.96 * std::sqrt(2.0) * 0.01 / std::sqrt(2.0);  // the pair has two rows
    EXPECT_NEAR(figure->half_width_95.value_or(0), each * figure->value, 1e-4);
    EXPECT_TRUE(std::ranges::any_of(fit.profile.uncertainty,
                                    [](const auto& known) { return known.figure == "turnUse"; }));
  }
  std::erase_if(rows, [](const Measurement& m) { return m.beside == "half"; });
  const auto one_sided = fit_profiles(rows, shipped());
  ASSERT_TRUE(one_sided && !one_sided->notes.empty());
  EXPECT_THAT(one_sided->notes.front().message, HasSubstr("of which there is no row"));
}

// Of several rows that say it, their mean has an interval; of one it has none.
TEST(FitProfiles, MeansOfRowsHaveIntervals) {
  Measurement first = by_law("full", 1);
  first.host_time = milliseconds(3);
  first.kernel_time = microseconds(50);
  Measurement second = first;
  second.host_time = milliseconds(5);
  second.kernel_time = {};
  const auto fitted = fit_profiles(std::vector{first, second}, shipped());
  ASSERT_TRUE(fitted);
  const FittedProfile& fit = fitted->profiles.front();
  const auto figure = [&](const char* name) {
    return *std::ranges::find(fit.figures, name, &FittedFigure::name);
  };
  // Student's t of one degree of freedom, 12.7, times the deviation of a mean of two, 1.
  EXPECT_NEAR(figure("hostMs").half_width_95.value_or(0), 12.706, 0.001);
  EXPECT_FALSE(figure("kernelMs").half_width_95);
  EXPECT_EQ(figure("kernelMs").basis, "measured once");
  EXPECT_THAT(fit.profile.provenance.at("hostMs"), HasSubstr("95 % within 13"));
  const auto is_known = [&](const char* name) {
    return std::ranges::find(fit.profile.uncertainty, name, &models::FigureUncertainty::figure) !=
           fit.profile.uncertainty.end();
  };
  EXPECT_TRUE(is_known("hostMs"));
  EXPECT_FALSE(is_known("kernelMs"));
  // It is drawn from a normal law of that deviation, not of 6.5 times as much.
  const auto drawn =
      std::ranges::find(fit.profile.uncertainty, "hostMs", &models::FigureUncertainty::figure);
  EXPECT_NEAR(drawn->half_width_95, 1.96, 0.001);
}

// SMs bound the capacity share, memory what bandwidth limits, and both with GPU_UTIL the duty.
TEST(FitProfiles, WhatDcgmCountedBoundsWhatTimesDoNotSay) {
  Measurement alone = by_law("full", 1);
  alone.activity = {0.9, 0.4, 0.1};
  alone.host_time = milliseconds(3);
  const auto fitted = fit_profiles(std::vector{alone}, shipped());
  ASSERT_TRUE(fitted);
  const models::WorkloadProfile& p = fitted->profiles.front().profile;
  EXPECT_DOUBLE_EQ(p.capacity_share.value_or(0), 0.6);  // between both
  EXPECT_DOUBLE_EQ(p.bandwidth_share.value_or(0), 0.1 / 0.6);
  EXPECT_DOUBLE_EQ(p.duty.value_or(0), 0.75 * 0.9);
  EXPECT_EQ(p.provenance.at("duty"), "0.40 to 0.90: GPU_UTIL, SM_ACTIVE, DRAM_ACTIVE");
  EXPECT_EQ(p.host_time, milliseconds(3));
  alone.activity = {0.9, 0.8, {}};
  EXPECT_DOUBLE_EQ(*fit_profiles(std::vector{alone}, shipped())->profiles.front().profile.duty,
                   std::sqrt(0.9 * 0.8));
}

TEST(FitProfiles, EveryFittedFigureSaysWhereAndWhen) {
  std::vector<Measurement> rows = {by_law("full", 1), by_law("full", 2), by_law("full", 4)};
  rows[1].date = "2026-11-02";
  rows[1].driver = "550.54";
  const auto fitted = fit_profiles(rows, shipped());
  ASSERT_TRUE(fitted);
  const models::WorkloadProfile& p = fitted->profiles.front().profile;
  const std::string origin = " 2026-11-02 on " + p.gpu_model + ", driver 550.54";
  for (const char* figure : {"fixedMs", "workMs", "capacityShare"}) {
    EXPECT_THAT(p.provenance.at(figure), testing::StartsWith("fitted" + origin)) << figure;
  }
}

// ten 2.2.
TEST(FitProfiles, FewRepeatsWidenTheInterval) {
  const auto width_of = [](int pairs) {
    std::vector<Measurement> made(static_cast<std::size_t>(2 * pairs), by_law("full", 1));
    for (std::size_t i = 0; i < made.size(); i += 2) {
      made[i].time = milliseconds(18);
      made[i + 1].time = milliseconds(22);
    }
    const auto fitted = fit_profiles(made, shipped());
    const auto& figures = fitted->profiles.front().figures;
    return *std::ranges::find(figures, "soloMs", &FittedFigure::name)->half_width_95;
  };
  EXPECT_GT(width_of(1), 4 * std::sqrt(6.0) * width_of(6));
}

}  // namespace
}  // namespace slicewise::sim
