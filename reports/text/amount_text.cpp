#include "amount_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "../screens/result_figures.hpp"

namespace slicewise::reports {
namespace {

constexpr double kSecondsPerHour = 3600;

// Rare events have a rate per hour.
std::string event_rate_text(double per_second) {
  constexpr double kRare = 0.01;
  return per_second < kRare ? short_text(per_second * kSecondsPerHour) + "/h"
                            : short_text(per_second, 4) + "/s";
}

std::string percent_points(double ratio) {
  const double points = std::abs(ratio) * 100;
  return points < 9.95 ? fmt::format("{:.1f}", points) : fmt::format("{:.0f}", points);
}

}  // namespace

std::string amount_text(const sim::Amount& amount) {
  switch (amount.unit) {
    case sim::AmountUnit::Dollars:
      return money_text(from_dollars(amount.value));
    case sim::AmountUnit::DollarsPerHour:
      return money_text(from_dollars(amount.value)) + "/h";
    case sim::AmountUnit::Seconds:
      return duration_text(from_seconds(amount.value));
    case sim::AmountUnit::Bytes:
      return memory_text({std::llround(amount.value)});
    case sim::AmountUnit::PerSecond:
      return event_rate_text(amount.value);
    case sim::AmountUnit::Ratio:
      return fmt::format("{:.4g}%", amount.value * 100);
    case sim::AmountUnit::Cores:
      return short_text(amount.value) + " vCPU";
    case sim::AmountUnit::Count:
      break;
  }
  return count_text(amount.value);
}

std::string amount_text(const sim::Amount& amount, const std::optional<double>& half_width,
                        const TextStyle& style) {
  constexpr double kTooSmallToShow = 0.001;  // of the value
  if (!half_width || *half_width <= kTooSmallToShow * std::abs(amount.value)) {
    return amount_text(amount);
  }
  if (amount.unit == sim::AmountUnit::Seconds) {
    return interval_text(from_seconds(amount.value), from_seconds(*half_width), style);
  }
  return fmt::format("{} {}{}", amount_text(amount), signs(style).plus_minus,
                     amount_text({*half_width, amount.unit}));
}

sim::AmountUnit unit_of_word(std::string_view word) {
  if (word == "seconds") return sim::AmountUnit::Seconds;
  if (word == "ratio") return sim::AmountUnit::Ratio;
  return word == "perSecond" ? sim::AmountUnit::PerSecond : sim::AmountUnit::Count;
}

std::string_view basis_word(const std::optional<scenarios::Provenance>& basis) {
  if (!basis) return "scenario";
  switch (*basis) {
    case scenarios::Provenance::Measured:
      return "measured";
    case scenarios::Provenance::Catalog:
      return "catalog";
    case scenarios::Provenance::Assumed:
      break;
  }
  return "assumed";
}

std::string change_text(double ratio) {
  constexpr double kTimesFrom = 3;
  constexpr double kTooSmall = 0.0005;
  if (std::abs(ratio) < kTooSmall) return "0%";
  if (ratio >= kTimesFrom) return "x" + short_text(ratio + 1);
  return (ratio < 0 ? "-" : "+") + percent_points(ratio) + "%";
}

std::string change_text(double ratio, const std::optional<double>& half_width,
                        const TextStyle& style) {
  constexpr double kTooSmall = 0.0005;
  if (!half_width || *half_width < kTooSmall) return change_text(ratio);
  return fmt::format("{} {}{}", change_text(ratio), signs(style).plus_minus,
                     percent_points(*half_width));
}

}  // namespace slicewise::reports
