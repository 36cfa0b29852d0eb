#include "../../reports/screens/result_figures.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "terminals.hpp"

namespace slicewise::reports {
namespace {

constexpr TextStyle kUtf8{};

TEST(DurationText, UsesTheUnitThatFits) {
  EXPECT_EQ(duration_text(Duration{}), "0 s");
  EXPECT_EQ(duration_text(microseconds(110)), "110 us");
  EXPECT_EQ(duration_text(microseconds(1049)), "1.05 ms");
  EXPECT_EQ(duration_text(milliseconds(412)), "412 ms");
  EXPECT_EQ(duration_text(seconds(18)), "18.0 s");
  EXPECT_EQ(duration_text(minutes(31)), "31m00s");
  EXPECT_EQ(duration_text(hours(1)), "1h00m");
  EXPECT_EQ(duration_text(minutes(150)), "2h30m");
  EXPECT_EQ(duration_text(hours(47)), "47h00m");
  EXPECT_EQ(duration_text(hours(48)), "2d00h");
  EXPECT_EQ(duration_text(hours(8784)), "366d00h");
}

TEST(DurationText, RoundsIntoTheNextUnitNeverToAThousandOrSixty) {
  EXPECT_EQ(duration_text(Duration{999'600}), "1.00 ms");
  EXPECT_EQ(duration_text(milliseconds(59'960)), "1m00s");
  EXPECT_EQ(duration_text(milliseconds(3'599'700)), "1h00m");
}

TEST(IntervalText, SharesTheUnitAndIsAbsentWhenItRoundsToNothing) {
  EXPECT_EQ(interval_text(milliseconds(412), milliseconds(9), kUtf8), "412 ±9 ms");
  EXPECT_EQ(interval_text(milliseconds(412), milliseconds(9), kAscii), "412 +-9 ms");
  EXPECT_EQ(interval_text(minutes(59), milliseconds(35'400), kUtf8), "59m00s ±35.4 s");
  EXPECT_EQ(interval_text(milliseconds(412), Duration{}, kUtf8), "412 ms");
  EXPECT_EQ(interval_text(milliseconds(412), std::nullopt, kUtf8), "412 ms");
}

TEST(MoneyText, WholeDollarsFromAThousandCentsFromOneFourDigitsBelow) {
  EXPECT_EQ(money_text(from_dollars(12.24)), "$12.24");
  EXPECT_EQ(money_text(from_dollars(1)), "$1.00");
  EXPECT_EQ(money_text(from_dollars(0.612)), "$0.6120");
  EXPECT_EQ(money_text(from_dollars(0.263)), "$0.2630");
  EXPECT_EQ(money_text(from_dollars(0.011)), "$0.01100");
  EXPECT_EQ(money_text(from_dollars(0.0075321)), "$0.007532");
  EXPECT_EQ(money_text(from_dollars(107516.16)), "$107,516");
  EXPECT_EQ(money_text(from_dollars(1151.94)), "$1,152");
  EXPECT_EQ(money_text(from_dollars(1234567)), "$1,234,567");
  EXPECT_EQ(money_text(Usd{}), "$0");
}

TEST(FigureBesideLimit, HasTheDigitsThatTellThemApart) {
  using scenarios::Share;
  const TextStyle style{false, true, 0};
  const auto text = [&](const auto& value, const auto& limit) {
    return figure_beside_limit(value, std::nullopt, limit, style);
  };
  EXPECT_EQ(text(Share{0.9989669}, Share{0.999}), "99.897%");
  EXPECT_EQ(text(Share{0.99899999}, Share{0.999}), "99.899999%");
  EXPECT_EQ(text(Share{0.999}, Share{0.999}), "99.90%");
  EXPECT_EQ(text(Share{0.95}, Share{0.999}), "95.00%");
  EXPECT_EQ(text(microseconds(500'100), milliseconds(500)), "500.1 ms");
  EXPECT_EQ(text(milliseconds(512), milliseconds(500)), "512 ms");
  EXPECT_EQ(figure_beside_limit(Share{0.9989669}, scenarios::FigureValue(Share{0.0004}),
                                Share{0.999}, style),
            "99.897% ±0.04%");
}

TEST(OtherFigures, AreShort) {
  EXPECT_EQ(memory_text(mebibytes(14910)), "14.6Gi");
  EXPECT_EQ(memory_text(mebibytes(412)), "412Mi");
  EXPECT_EQ(percent_text(0.81), "81%");
  EXPECT_EQ(percent_text(0.095), "9.5%");
  EXPECT_EQ(percent_text(0.0001), "<0.1%");
  EXPECT_EQ(count_text(15.6), "15.6");
  EXPECT_EQ(count_text(107958), "107,958");
  EXPECT_EQ(short_text(0.3944), "0.394");
  EXPECT_EQ(short_text(6), "6");
  EXPECT_EQ(short_text(14.83), "14.8");
  EXPECT_EQ(short_text(999.6), "1,000");
  EXPECT_EQ(short_text(12345.6), "12,346");
  EXPECT_EQ(short_text(12345.6, 6), "12,345.6");
  EXPECT_EQ(rate_text(30, "request", 1), "30.0 request/s");
  EXPECT_EQ(rate_text(500.0 / 3600, "epoch", 3600), "500 epoch/h");
}

TEST(ResultFigures, RatesOfOneColumnHaveOneUnit) {
  const auto seconds = [](std::vector<double> rates) { return rate_seconds(rates); };
  EXPECT_EQ(seconds({30, 20}), 1);
  EXPECT_EQ(seconds({0.1, 0.2}), 3600);
  EXPECT_EQ(seconds({20, 0.5}), 1);
  EXPECT_EQ(seconds({20, 0.001}), 3600);
  EXPECT_EQ(seconds({20, 0}), 1);
  EXPECT_EQ(seconds({}), 3600);
}

TEST(ResultFigures, AnIntervalOfNothingIsNotShown) {
  using scenarios::Share;
  const auto text = [](const scenarios::FigureValue& value, const scenarios::FigureValue& half) {
    return figure_text(value, half, kUtf8);
  };
  EXPECT_EQ(text(Share{1}, Share{0}), "100.00%");
  EXPECT_EQ(text(Share{0.999}, Share{0.00001}), "99.90%");
  EXPECT_EQ(text(Share{0.999}, Share{0.001}), "99.90% ±0.10%");
  EXPECT_EQ(text(Rate{5}, Rate{0}), "5/s");
  EXPECT_EQ(text(1.5, 0.0), "1.5");
  EXPECT_EQ(interval_text(milliseconds(126), microseconds(300), kUtf8), "126 ms");
}

}  // namespace
}  // namespace slicewise::reports
