#include <fmt/format.h>

#include "slicewise/portable_math.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr double kNormalQuantile95 = 1.6448536269514722;
constexpr double kNormalQuantile99 = 2.3263478740408408;

constexpr Word kTimeLaws[] = {{"Deterministic", ServiceTime::Law::Deterministic},
                              {"Exponential", ServiceTime::Law::Exponential}};
constexpr Word kAmountLaws[] = {{"Constant", RandomAmount::Law::Constant},
                                {"Exponential", RandomAmount::Law::Exponential}};

struct LogNormal {
  double mean;
  double sigma;
};

// The log-normal law with the two percentiles of `map`; nullopt when they are absent, or not in
// order, which is reported. `unit` is the field of one of them.
std::optional<LogNormal> log_normal(const Node& map, FieldType unit, Findings& findings) {
  const auto value_of = [&](std::string_view key) -> std::optional<double> {
    const Node* node = map.find(key);
    double value = 0;
    const bool there = node != nullptr && read_value(Field{key, unit}, *node, value);
    return there ? std::optional(value) : std::nullopt;
  };
  const std::optional<double> p50 = value_of("p50");
  const bool is_p99 = map.entry("p99") != nullptr;
  const std::string_view upper_key = is_p99 ? "p99" : "p95";
  const std::optional<double> upper = value_of(upper_key);
  if (!p50 || !upper || *p50 <= 0) return std::nullopt;
  if (*upper <= *p50) {
    findings.add(Code::SettingConflict, value_place(map, upper_key),
                 fmt::format("{} is not above p50", upper_key),
                 "for what does not vary write the one value in place of the braces");
    return std::nullopt;
  }
  const double quantile = is_p99 ? kNormalQuantile99 : kNormalQuantile95;
  const double sigma = portable_log(*upper / *p50) / quantile;
  const double mean = *p50 * portable_exp(std::min(sigma * sigma / 2, 600.0));
  constexpr double kFarthestMean = 100;
  if (mean > kFarthestMean * *upper) {
    findings.add(Code::SettingConflict, value_place(map, upper_key),
                 fmt::format("{} is {:.3g} times p50: the mean of that log-normal law would be "
                             "more than {} times its {}",
                             upper_key, *upper / *p50, kFarthestMean, upper_key),
                 "give the mean, or percentiles that are closer");
    return std::nullopt;
  }
  return LogNormal{mean, sigma};
}

void finish_time(ServiceTime& time, const Node& map, Reading& reading) {
  if (duration_at(&map, "mean")) return;
  if (const auto law = log_normal(map, T::Duration, reading.findings)) {
    time = {ServiceTime::Law::LogNormal, from_seconds(law->mean), law->sigma};
  }
}

template <FieldType Unit>
void finish_amount(RandomAmount& amount, const Node& map, Reading& reading) {
  if (amount.mean <= 0) {
    if (const auto law = log_normal(map, Unit, reading.findings)) {
      amount.law = RandomAmount::Law::LogNormal;
      amount.mean = law->mean;
      amount.sigma = law->sigma;
    }
  }
  if (amount.least && amount.most && *amount.least > *amount.most) {
    reading.findings.add(Code::SettingConflict, value_place(map, "least"), "least is above most",
                         "what is drawn is cut to least .. most");
  }
}

constexpr Field kRandomTimeFields[] = {
    field<&ServiceTime::mean>("mean", "31ms", "Mean time.").positive().needed_by_rule(),
    field<&ServiceTime::law>("distribution", "Exponential", "How it varies around the mean.")
        .one_of(kTimeLaws),
    plain(T::Duration, "p50", "31ms", "Median; with p99 or p95, a log-normal law.").positive(),
    plain(T::Duration, "p95", "40ms", "95th percentile.").positive(),
    plain(T::Duration, "p99", "44ms", "99th percentile.").positive(),
};

constexpr Field kTokenAmountFields[] = {
    field<&RandomAmount::mean>("mean", "600", "Mean number of tokens.")
        .as(T::Number)
        .between(1, 100'000'000)
        .needed_by_rule(),
    field<&RandomAmount::law>("distribution", "Exponential", "How it varies around the mean.")
        .one_of(kAmountLaws),
    plain(T::Number, "p50", "1020", "Median; with p99 or p95, a log-normal law.")
        .between(1, 100'000'000),
    plain(T::Number, "p95", "2900", "95th percentile.").between(1, 100'000'000),
    plain(T::Number, "p99", "4142", "99th percentile.").between(1, 100'000'000),
    field<&RandomAmount::least>("least", "16", "Fewest tokens; fewer are cut to it.")
        .as(T::Integer)
        .between(1, 100'000'000)
        .otherwise("1"),
    field<&RandomAmount::most>("most", "8192", "Most tokens; more are cut to it.")
        .as(T::Integer)
        .between(1, 100'000'000)
        .otherwise("none"),
};

constexpr Field kMemoryAmountFields[] = {
    field<&RandomAmount::mean>("mean", "3Gi", "Mean amount of GPU memory.")
        .as(T::Bytes)
        .needed_by_rule(),
    field<&RandomAmount::law>("distribution", "Exponential", "How it varies around the mean.")
        .one_of(kAmountLaws),
    plain(T::Bytes, "p50", "2Gi", "Median; with p99 or p95, a log-normal law."),
    plain(T::Bytes, "p95", "10Gi", "95th percentile."),
    plain(T::Bytes, "p99", "16Gi", "99th percentile."),
    field<&RandomAmount::least>("least", "500Mi", "Least amount; less is cut to it.")
        .as(T::Bytes)
        .otherwise("0"),
    field<&RandomAmount::most>("most", "20Gi", "Largest amount; more is cut to it.")
        .as(T::Bytes)
        .otherwise("none"),
};

}  // namespace

constinit const FieldList kRandomTime = block<ServiceTime, &finish_time>(kRandomTimeFields);
constinit const FieldList kTokenAmount =
    block<RandomAmount, &finish_amount<T::Number>>(kTokenAmountFields);
constinit const FieldList kMemoryAmount =
    block<RandomAmount, &finish_amount<T::Bytes>>(kMemoryAmountFields);

void check_random_form(const Node& node, const std::string& path, const SourceLocation& where,
                       Findings& findings) {
  constexpr std::string_view kWays = "give {mean, distribution}, {p50, p95} or {p50, p99}";
  const bool mean = node.entry("mean") != nullptr;
  const bool p50 = node.entry("p50") != nullptr;
  const bool p95 = node.entry("p95") != nullptr;
  const bool p99 = node.entry("p99") != nullptr;
  const auto conflict = [&](std::string_view key, std::string message, std::string help) {
    findings.add(Code::SettingConflict, node.entry(key)->key_where, std::move(message),
                 std::move(help));
  };
  if (mean && (p50 || p95 || p99)) {
    conflict(p50   ? "p50"
             : p95 ? "p95"
                   : "p99",
             "mean together with percentiles", std::string(kWays));
  } else if (p95 && p99) {
    conflict("p95", "p95 and p99 are both set",
             "a log-normal law has one upper percentile: remove one of the two");
  } else if (!mean && !(p50 && (p95 || p99))) {
    findings.add(Code::FieldMissing, where,
                 fmt::format("{} needs {}", path,
                             p50          ? "p95 or p99"
                             : p95 || p99 ? "p50"
                                          : "a mean"),
                 std::string(kWays));
  } else if (node.entry("distribution") != nullptr && !mean) {
    conflict("distribution", "distribution together with percentiles",
             "two percentiles already say that it is log-normal");
  }
}

}  // namespace slicewise::scenarios
