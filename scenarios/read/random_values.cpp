#include "random_values.hpp"

#include <fmt/format.h>

#include "slicewise/portable_math.hpp"

#include "node_values.hpp"

namespace slicewise::scenarios {
namespace {

constexpr double kNormalQuantile95 = 1.6448536269514722;
constexpr double kNormalQuantile99 = 2.3263478740408408;

constexpr std::pair<std::string_view, ServiceTime::Law> kTimeLaws[] = {
    {"Deterministic", ServiceTime::Law::Deterministic},
    {"Exponential", ServiceTime::Law::Exponential},
};
constexpr std::pair<std::string_view, RandomAmount::Law> kAmountLaws[] = {
    {"Constant", RandomAmount::Law::Constant},
    {"Exponential", RandomAmount::Law::Exponential},
};

struct LogNormal {
  double mean;
  double sigma;
};

// The log-normal law with these two percentiles; nullopt when they are absent, or not in order,
// which is reported. `value_at` reads one of them.
template <class ValueAt>
std::optional<LogNormal> log_normal_at(const Node* node, ValueAt value_at, Findings& findings) {
  const std::optional<double> p50 = value_at(node, "p50");
  const bool is_p99 = node != nullptr && node->entry("p99") != nullptr;
  const std::string_view upper_key = is_p99 ? "p99" : "p95";
  const std::optional<double> upper = value_at(node, upper_key);
  if (!p50 || !upper || *p50 <= 0) return std::nullopt;
  if (*upper <= *p50) {
    findings.add(Code::SettingConflict, value_place(*node, upper_key),
                 fmt::format("{} is not above p50", upper_key),
                 "for what does not vary write the one value in place of the braces");
    return std::nullopt;
  }
  const double quantile = is_p99 ? kNormalQuantile99 : kNormalQuantile95;
  const double sigma = portable_log(*upper / *p50) / quantile;
  return LogNormal{*p50 * portable_exp(sigma * sigma / 2), sigma};
}

template <class ValueAt>
std::optional<RandomAmount> amount_at(const Node* parent, std::string_view key, ValueAt value_at,
                                      Findings& findings) {
  RandomAmount amount;
  if (const std::optional<double> plain = value_at(parent, key)) {
    amount.mean = *plain;
    return amount;
  }
  const Node* node = block(parent, key);
  if (const std::optional<double> mean = value_at(node, "mean")) {
    amount.mean = *mean;
    amount.law = word_at(node, "distribution", kAmountLaws).value_or(amount.law);
  } else if (const auto law = log_normal_at(node, value_at, findings)) {
    amount = {RandomAmount::Law::LogNormal, law->mean, law->sigma, {}, {}};
  } else {
    return std::nullopt;
  }
  const auto limit = [&](std::string_view name) -> std::optional<std::int64_t> {
    const std::optional<double> value = value_at(node, name);
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  };
  amount.least = limit("least");
  amount.most = limit("most");
  if (amount.least && amount.most && *amount.least > *amount.most) {
    findings.add(Code::SettingConflict, value_place(*node, "least"), "least is above most",
                 "what is drawn is cut to least .. most");
  }
  return amount;
}

std::optional<double> seconds_of(const Node* parent, std::string_view key) {
  const auto time = duration_at(parent, key);
  return time ? std::optional(to_seconds(*time)) : std::nullopt;
}

std::optional<double> count_of(const Node* parent, std::string_view key) {
  const auto size = bytes_at(parent, key);
  return size ? std::optional(static_cast<double>(size->count)) : std::nullopt;
}

}  // namespace

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

std::optional<ServiceTime> random_time_at(const Node* parent, std::string_view key,
                                          Findings& findings) {
  if (const auto plain = duration_at(parent, key)) {
    return ServiceTime{ServiceTime::Law::Deterministic, *plain};
  }
  const Node* node = block(parent, key);
  if (const auto mean = duration_at(node, "mean")) {
    return ServiceTime{word_at(node, "distribution", kTimeLaws).value_or(ServiceTime{}.law), *mean};
  }
  const auto law = log_normal_at(node, &seconds_of, findings);
  if (!law) return std::nullopt;
  return ServiceTime{ServiceTime::Law::LogNormal, from_seconds(law->mean), law->sigma};
}

std::optional<RandomAmount> random_tokens_at(const Node* parent, std::string_view key,
                                             Findings& findings) {
  return amount_at(parent, key, &number_at, findings);
}

std::optional<RandomAmount> random_bytes_at(const Node* parent, std::string_view key,
                                            Findings& findings) {
  return amount_at(parent, key, &count_of, findings);
}

}  // namespace slicewise::scenarios
