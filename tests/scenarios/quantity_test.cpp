#include "slicewise/scenarios/quantity.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(parse_rate("12").error().code, Code::UnitMissing);
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
  EXPECT_EQ(parse_duration("106751d")->ns, 106'751LL * 86'400'000'000'000LL);
  EXPECT_EQ(parse_bytes("9999999999Gi").error().code, Code::ValueRange);
  EXPECT_EQ(parse_bytes("99999999999999999999Gi").error().code, Code::ValueRange);
  EXPECT_EQ(parse_bytes("-1Gi").error().code, Code::ValueRange);
}

TEST(Quantity, PercentagesAndRatesAreShares) {
  EXPECT_DOUBLE_EQ(*parse_percent("99.9%"), 0.999);
  EXPECT_DOUBLE_EQ(*parse_percent("100%"), 1.0);
  EXPECT_EQ(parse_percent("100.1%").error().code, Code::ValueRange);
  EXPECT_DOUBLE_EQ(parse_rate("90/h")->per_second, 0.025);
  EXPECT_DOUBLE_EQ(parse_rate("12/s")->per_second, 12);
  EXPECT_EQ(parse_rate("12/sec").error().code, Code::UnitUnknown);
}

}  // namespace
}  // namespace slicewise::scenarios
