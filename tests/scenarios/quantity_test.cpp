#include "slicewise/scenarios/quantity.hpp"

#include <gtest/gtest.h>

#include "slicewise/longest_duration.hpp"

namespace slicewise::scenarios {
namespace {

TEST(Quantity, BytesFollowKubernetesSuffixes) {
  EXPECT_EQ(parse_bytes("8Gi")->count, 8'589'934'592);
  EXPECT_EQ(parse_bytes("8G")->count, 8'000'000'000);
  EXPECT_EQ(parse_bytes("3000Mi")->count, 3'145'728'000);
  EXPECT_EQ(parse_bytes("1.5Gi")->count, 1'610'612'736);
  EXPECT_EQ(parse_bytes("0")->count, 0);
  EXPECT_EQ(parse_bytes("0.1Ki")->count, 103);  // Kubernetes rounds up to a whole byte
}

TEST(Quantity, GigabytesAreRefusedWithBothReadings) {
  const auto wrong = parse_bytes("8GB");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, Code::UnitUnknown);
  EXPECT_EQ(wrong.error().help,
            "did you mean 8G (8 000 000 000 bytes) or 8Gi (8 589 934 592 bytes)?");
  EXPECT_EQ(parse_bytes("8GiB").error().help, "did you mean 8Gi (8 589 934 592 bytes)?");
}

TEST(Quantity, ABareNumberLacksItsUnit) {
  EXPECT_EQ(parse_bytes("8").error().code, Code::UnitMissing);
  EXPECT_EQ(parse_duration("30").error().code, Code::UnitMissing);
  EXPECT_EQ(parse_percent("38").error().help, "did you mean 38%?");
  EXPECT_EQ(parse_percent("0.62").error().help, "did you mean 62%?");
  EXPECT_EQ(parse_percent("0.9").error().help, "did you mean 90% or 0.9%?");
  EXPECT_EQ(parse_rate("12").error().code, Code::UnitMissing);
  EXPECT_EQ(parse_bytes("8").error().help, "did you mean 8Mi or 8Gi?");
  EXPECT_EQ(parse_bytes("13107200000").error().help, "did you mean 12500Mi (13107200000 bytes)?");
}

TEST(Quantity, CpuIsInVcpusOrThousandths) {
  EXPECT_EQ(parse_cpu("500m")->count, 500);
  EXPECT_EQ(parse_cpu("2")->count, 2'000);
  EXPECT_EQ(parse_cpu("1.5")->count, 1'500);
  EXPECT_EQ(parse_cpu("0.0001").error().code, Code::ValueRange);
  EXPECT_EQ(parse_cpu("2cores").error().code, Code::UnitUnknown);
}

TEST(Quantity, DurationsAddTheirParts) {
  EXPECT_EQ(parse_duration("1m30s")->ns, 90'000'000'000);
  EXPECT_EQ(parse_duration("28d")->ns, 2'419'200'000'000'000);
  EXPECT_EQ(parse_duration("1.5s")->ns, 1'500'000'000);
  EXPECT_EQ(parse_duration("2ms")->ns, 2'000'000);
  EXPECT_EQ(parse_duration("0")->ns, 0);
  EXPECT_EQ(parse_duration("5min").error().help, "did you mean 5m?");
}

TEST(Quantity, DurationsRoundTripThroughNanoseconds) {
  for (std::int64_t ns = 1; ns < 4'000'000'000'000'000; ns = ns * 7 + 3) {
    EXPECT_EQ(parse_duration(std::to_string(ns) + "ns")->ns, ns);
    EXPECT_EQ(parse_duration(std::to_string(ns / 1'000'000'000) + "s" +
                             std::to_string(ns % 1'000'000'000) + "ns")
                  ->ns,
              ns);
  }
}

TEST(Quantity, WhatDoesNotFitIsAnErrorNotAWrapAround) {
  EXPECT_EQ(parse_duration("106752d").error().code, Code::ValueRange);  // 2^63 ns
  EXPECT_EQ(parse_bytes("9999999999Gi").error().code, Code::ValueRange);
  EXPECT_EQ(parse_bytes("99999999999999999999Gi").error().code, Code::ValueRange);
  EXPECT_EQ(parse_bytes("-1Gi").error().code, Code::ValueRange);
}

// So that what a run adds up fits, whichever of them meet.
TEST(Quantity, NoTimeIsLongerThanAHundredYears) {
  EXPECT_EQ(*parse_duration("36500d"), kLongestDuration);
  EXPECT_EQ(*parse_seconds("36500d"), to_seconds(kLongestDuration));
  for (const char* const longer : {"36500d1ns", "36501d", "106751d"}) {
    EXPECT_NE(parse_duration(longer).error().message.find("longer than 36500d"), std::string::npos);
  }
  EXPECT_EQ(parse_seconds("36501d").error().code, Code::ValueRange);
}

TEST(Quantity, PercentagesAndRatesAreShares) {
  EXPECT_DOUBLE_EQ(*parse_percent("99.9%"), 0.999);
  EXPECT_DOUBLE_EQ(*parse_percent("100%"), 1.0);
  EXPECT_EQ(parse_percent("100.1%").error().code, Code::ValueRange);
  EXPECT_DOUBLE_EQ(parse_rate("90/h")->per_second, 0.025);
  EXPECT_DOUBLE_EQ(parse_rate("12/s")->per_second, 12);
  EXPECT_EQ(parse_rate("12/sec").error().code, Code::UnitUnknown);
  EXPECT_EQ(parse_rate("200/min").error().help, "did you mean 200/m?");
  EXPECT_EQ(parse_rate("2/hour").error().help, "did you mean 2/h?");
  EXPECT_EQ(parse_rate("2/month").error().help, "did you mean 2/s, 2/m, 2/h or 2/d?");
}

TEST(Quantity, TimesBelowANanosecondKeepTheirDigits) {
  EXPECT_EQ(*parse_seconds("0.3673us"), 3.673e-7);
  EXPECT_EQ(*parse_seconds("367.3ns"), 3.673e-7);
  EXPECT_EQ(*parse_seconds("63.7us"), 63.7e-6);
  EXPECT_EQ(*parse_seconds("1.5m"), 90);
  EXPECT_EQ(*parse_seconds("0"), 0);
  EXPECT_EQ(parse_seconds("0.3673").error().code, Code::UnitMissing);
  EXPECT_EQ(parse_seconds("0.3673usec").error().help, "did you mean 0.3673us?");
  EXPECT_EQ(parse_seconds("-1us").error().code, Code::ValueRange);
  EXPECT_EQ(parse_seconds("1m30s").error().code, Code::UnitUnknown);
}

TEST(Quantity, TimesOfDayAndWeek) {
  EXPECT_EQ(*parse_clock_time("00:00"), Duration{});
  EXPECT_EQ(*parse_clock_time("23:59"), minutes(1'439));
  EXPECT_EQ(parse_clock_time("9:30").error().help, "did you mean 09:30?");
  for (const char* wrong : {"24:00", "12:60", "1200", "12.00", "", "12:000", "ab:cd"}) {
    EXPECT_FALSE(parse_clock_time(wrong).has_value()) << wrong;
  }
  EXPECT_EQ(*parse_utc_offset("+05:30"), minutes(330));
  EXPECT_EQ(*parse_utc_offset("-03:30"), minutes(-210));
  for (const char* wrong : {"05:30", "+15:00", "Z", "+5", "+05:60", ""}) {
    EXPECT_FALSE(parse_utc_offset(wrong).has_value()) << wrong;
  }
  EXPECT_EQ(*parse_week_time("Mon 00:00"), Duration{});
  EXPECT_EQ(*parse_week_time("Sun 23:59"), hours(7 * 24) - minutes(1));
  for (const char* time : {"Mon 00:00", "Tue 08:05", "Sun 23:59"}) {
    EXPECT_EQ(week_time_text(*parse_week_time(time)), time);
  }
  for (const char* wrong : {"Mon", "Mon 24:00", "mon 08:00", "08:00", "Mon  08:00", ""}) {
    EXPECT_FALSE(parse_week_time(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace slicewise::scenarios
