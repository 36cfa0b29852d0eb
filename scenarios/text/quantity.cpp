#include "slicewise/scenarios/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "slicewise/longest_duration.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"

#include "scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr int kMostDigits = 18;  // more do not fit the 64-bit integers behind the units

// "1.5Gi" = 15 / 10^1, then "Gi". Exact: no floating point between the file and the simulation.
struct Number {
  std::int64_t digits = 0;
  int decimals = 0;
  bool negative = false;
  bool too_long = false;
  std::string_view written;  // the digits as they stand in the file
  std::string_view rest;     // what follows them
};

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array kByteUnits = {
    Unit{"k", 1'000},
    Unit{"Ki", 1'024},
    Unit{"M", 1'000'000},
    Unit{"Mi", 1'048'576},
    Unit{"G", 1'000'000'000},
    Unit{"Gi", 1'073'741'824},
    Unit{"T", 1'000'000'000'000},
    Unit{"Ti", 1'099'511'627'776},
    Unit{"P", 1'000'000'000'000'000},
    Unit{"Pi", 1'125'899'906'842'624},
};

constexpr std::array kTimeUnits = {
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
    Unit{"d", 86'400'000'000'000},
};

// nullopt when the text does not begin with a decimal number.
std::optional<Number> read_number(std::string_view text) {
  Number number;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::size_t at = 0;
  int digits = 0;
  const auto eat_digits = [&] {
    const std::size_t begin = at;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      digits += digits > 0 || text[at] != '0' ? 1 : 0;
      if (digits <= kMostDigits) number.digits = number.digits * 10 + (text[at] - '0');
    }
    return at - begin;
  };
  if (eat_digits() == 0) return std::nullopt;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    ++at;
    const std::size_t decimals = eat_digits();
    number.too_long = decimals > static_cast<std::size_t>(kMostDigits);
    number.decimals = number.too_long ? 0 : static_cast<int>(decimals);
  }
  number.too_long = number.too_long || digits > kMostDigits;
  number.written = text.substr(0, at);
  number.rest = text.substr(at);
  return number;
}

std::int64_t power_of_ten(int exponent) {
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) result *= 10;
  return result;
}

struct Scaled {
  Int128 whole;  // rounded up
  bool exact;
};

Scaled scale(const Number& number, std::int64_t unit) {
  const Int128 product = static_cast<Int128>(number.digits) * unit;
  const std::int64_t divisor = power_of_ten(number.decimals);
  const bool exact = product % divisor == 0;
  return {product / divisor + (exact ? 0 : 1), exact};
}

bool fits(Int128 value) { return value <= std::numeric_limits<std::int64_t>::max(); }

tl::unexpected<QuantityError> fail(Code code, std::string message, std::string help = {}) {
  return tl::unexpected(QuantityError{code, std::move(message), std::move(help)});
}

tl::unexpected<QuantityError> too_large_a_quantity(std::string_view text) {
  return fail(Code::ValueRange, fmt::format("\"{}\" is too large or has too many digits", text));
}

tl::unexpected<QuantityError> too_long_a_time(std::string_view text) {
  return fail(Code::ValueRange, fmt::format("\"{}\" is longer than 36500d, 100 years", text));
}

tl::unexpected<QuantityError> negative(std::string_view text) {
  return fail(Code::ValueRange, fmt::format("\"{}\" is negative", text));
}

// 8589934592 -> "8 589 934 592".
std::string grouped(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ' ';
    result += digits[i];
  }
  return result;
}

template <std::size_t N>
const Unit* find_unit(const std::array<Unit, N>& units, std::string_view name) {
  return find_or_null(units, name, &Unit::name);
}

// What somebody who wrote `wrong` after a number of bytes may have meant.
std::string byte_help(const Number& number, std::string_view wrong) {
  const std::string unit = lower_case(wrong);
  const bool binary = unit.size() > 1 && unit[1] == 'i';
  std::string choices;
  for (const Unit& candidate : kByteUnits) {
    const bool candidate_binary = candidate.name.size() == 2;
    if (unit.empty() || lower(candidate.name[0]) != unit[0]) continue;
    if (binary && !candidate_binary) continue;
    const Scaled value = scale(number, candidate.size);
    if (!fits(value.whole)) continue;
    choices += fmt::format("{}{}{} ({} bytes)", choices.empty() ? "" : " or ", number.written,
                           candidate.name, grouped(static_cast<std::int64_t>(value.whole)));
  }
  if (choices.empty()) return "write a Kubernetes quantity such as 8Gi, 3000Mi or 16G";
  return fmt::format("did you mean {}?", choices);
}

std::string time_help(std::string_view number, std::string_view wrong) {
  const std::string unit = lower_case(wrong);
  const auto begins = [&](std::string_view word) { return unit.starts_with(word); };
  const auto suggest = [&](std::string_view name) {
    return fmt::format("did you mean {}{}?", number, name);
  };
  if (begins("ms") || begins("mil")) return suggest("ms");
  if (begins("us") || begins("mic") || wrong.starts_with("\xc2\xb5")) return suggest("us");
  if (begins("mi") || unit == "m") return suggest("m");
  if (begins("n")) return suggest("ns");
  if (begins("s")) return suggest("s");
  if (begins("h")) return suggest("h");
  if (begins("d")) return suggest("d");
  return "write a duration such as 2ms, 1m30s, 24h or 28d";
}

tl::unexpected<QuantityError> not_a_quantity(std::string_view text, std::string_view what,
                                             std::string_view example) {
  return fail(Code::FieldType, fmt::format("\"{}\" is not {}", text, what),
              fmt::format("write it like {}", example));
}

// 0.62 is a share, 62 a percentage without its sign, 0.9 either.
std::string percent_help(const Number& number) {
  if (number.decimals < 1 || number.digits > power_of_ten(number.decimals)) {
    return fmt::format("did you mean {}%?", number.written);
  }
  const double share =
      static_cast<double>(number.digits) / static_cast<double>(power_of_ten(number.decimals));
  const std::string whole = fmt::format("did you mean {:.6g}%", 100 * share);
  return number.decimals > 1 ? whole + "?" : fmt::format("{} or {}%?", whole, number.written);
}

std::string_view time_unit_of(std::string_view rest) {
  std::size_t length = 0;
  while (length < rest.size() && !is_digit(rest[length]) && rest[length] != '.') ++length;
  return rest.substr(0, length);
}

// A long number is of bytes, as programs print them.
std::string bytes_help(const Number& number) {
  constexpr std::int64_t kLongest = 1'000'000;  // 1 TiB in Mi
  constexpr std::int64_t kMebi = 1 << 20;
  if (number.too_long || number.digits < kLongest || number.decimals > 0) {
    return fmt::format("did you mean {0}Mi or {0}Gi?", number.written);
  }
  return fmt::format("did you mean {}Mi ({} bytes)?", (number.digits - 1) / kMebi + 1,
                     number.written);
}

}  // namespace

Parsed<Bytes> parse_bytes(std::string_view text) {
  const auto number = read_number(text);
  if (!number) return not_a_quantity(text, "a Kubernetes quantity", "8Gi, 3000Mi or 16G");
  if (number->rest.empty() && number->digits == 0 && !number->too_long) return Bytes{0};
  if (number->rest.empty()) {
    return fail(Code::UnitMissing, fmt::format("\"{}\" has no unit", text), bytes_help(*number));
  }
  const Unit* unit = find_unit(kByteUnits, number->rest);
  if (unit == nullptr) {
    return fail(Code::UnitUnknown, fmt::format("\"{}\" is not a Kubernetes quantity", text),
                byte_help(*number, number->rest));
  }
  if (number->negative) return negative(text);
  const Scaled value = scale(*number, unit->size);
  if (number->too_long || !fits(value.whole)) return too_large_a_quantity(text);
  return Bytes{static_cast<std::int64_t>(value.whole)};
}

Parsed<Millicores> parse_cpu(std::string_view text) {
  const auto number = read_number(text);
  if (!number) return not_a_quantity(text, "an amount of CPU", "500m, 2 or 1.5");
  if (!number->rest.empty() && number->rest != "m") {
    return fail(Code::UnitUnknown, fmt::format("\"{}\" is not a Kubernetes amount of CPU", text),
                fmt::format("did you mean {0} (vCPUs) or {0}m (thousandths)?", number->written));
  }
  if (number->negative) return negative(text);
  const Scaled value = scale(*number, number->rest.empty() ? 1'000 : 1);
  if (number->too_long || !fits(value.whole)) return too_large_a_quantity(text);
  if (!value.exact) {
    return fail(Code::ValueRange, fmt::format("\"{}\" is finer than 1m", text),
                "Kubernetes counts CPU in thousandths of a vCPU");
  }
  return Millicores{static_cast<std::int64_t>(value.whole)};
}

Parsed<Duration> parse_duration(std::string_view text) {
  Int128 total = 0;
  std::string_view left = text;
  if (text == "0") return Duration{};
  do {
    const auto number = read_number(left);
    if (!number) return not_a_quantity(text, "a duration", "2ms, 1m30s, 24h or 28d");
    const std::string_view name = time_unit_of(number->rest);
    if (name.empty()) {
      return fail(Code::UnitMissing, fmt::format("\"{}\" has no unit", text),
                  fmt::format("did you mean {0}s, {0}m or {0}ms?", number->written));
    }
    const Unit* unit = find_unit(kTimeUnits, name);
    if (unit == nullptr) {
      return fail(Code::UnitUnknown, fmt::format("\"{}\" is not a duration", text),
                  time_help(number->written, name));
    }
    if (number->negative) return negative(text);
    if (left.data() != text.data() && !is_digit(left[0])) {
      return not_a_quantity(text, "a duration", "2ms, 1m30s, 24h or 28d");
    }
    const Scaled value = scale(*number, unit->size);
    total += value.whole;
    if (number->too_long) return too_large_a_quantity(text);
    if (total > kLongestDuration.ns) return too_long_a_time(text);
    if (!value.exact) {
      return fail(Code::ValueRange, fmt::format("\"{}\" is finer than a nanosecond", text));
    }
    left = number->rest.substr(name.size());
  } while (!left.empty());
  return Duration{static_cast<std::int64_t>(total)};
}

Parsed<double> parse_seconds(std::string_view text) {
  const auto number = read_number(text);
  if (!number) return not_a_quantity(text, "a duration", "63.7us or 0.3673us");
  if (text == "0") return 0.0;
  if (number->rest.empty()) {
    return fail(Code::UnitMissing, fmt::format("\"{}\" has no unit", text),
                fmt::format("did you mean {0}us or {0}ns?", number->written));
  }
  const Unit* unit = find_unit(kTimeUnits, number->rest);
  if (unit == nullptr) {
    return fail(Code::UnitUnknown, fmt::format("\"{}\" is not a duration", text),
                time_help(number->written, number->rest));
  }
  if (number->negative) return negative(text);
  if (number->too_long) return too_large_a_quantity(text);
  // Both factors of the divisor are powers of ten: one rounding, so that 0.3673us is 3.673e-7.
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  const double whole = static_cast<double>(number->digits) *
                       static_cast<double>(unit->size < kPerSecond ? 1 : unit->size / kPerSecond);
  const double divisor = static_cast<double>(power_of_ten(number->decimals)) *
                         static_cast<double>(unit->size < kPerSecond ? kPerSecond / unit->size : 1);
  if (whole / divisor > to_seconds(kLongestDuration)) return too_long_a_time(text);
  return whole / divisor;
}

Parsed<double> parse_percent(std::string_view text) {
  const auto number = read_number(text);
  if (!number) return not_a_quantity(text, "a percentage", "38% or 99.9%");
  if (number->rest.empty()) {
    return fail(Code::UnitMissing, fmt::format("\"{}\" has no percent sign", text),
                percent_help(*number));
  }
  if (number->rest != "%") return not_a_quantity(text, "a percentage", "38% or 99.9%");
  const std::int64_t hundred = 100 * power_of_ten(number->decimals > 16 ? 0 : number->decimals);
  const bool above = number->decimals <= 16 && number->digits > hundred;
  if (number->too_long || number->negative || above || number->decimals > 16) {
    return fail(Code::ValueRange, fmt::format("\"{}\" is not between 0% and 100%", text));
  }
  return static_cast<double>(number->digits) / static_cast<double>(hundred);
}

Parsed<Rate> parse_rate(std::string_view text) {
  const auto number = read_number(text);
  if (!number) return not_a_quantity(text, "a rate", "12/s, 0.5/m or 90/h");
  if (number->rest.empty()) {
    return fail(Code::UnitMissing, fmt::format("\"{}\" has no unit", text),
                fmt::format("did you mean {}/s?", number->written));
  }
  const std::string_view name = number->rest;
  double seconds_in_unit = 0;
  if (name == "/s") seconds_in_unit = 1;
  if (name == "/m") seconds_in_unit = 60;
  if (name == "/h") seconds_in_unit = 3'600;
  if (name == "/d") seconds_in_unit = 86'400;
  if (seconds_in_unit == 0) {
    // "/min", "/sec", "/hour".
    const std::string wrong = lower_case(name);
    const bool is_word = wrong.size() > 2 && wrong[0] == '/' &&
                         std::string_view("smhd").find(wrong[1]) != std::string_view::npos &&
                         !wrong.starts_with("/ms") && !wrong.starts_with("/mo");  // months
    return fail(Code::UnitUnknown, fmt::format("\"{}\" is not a rate", text),
                is_word
                    ? fmt::format("did you mean {}/{}?", number->written, wrong[1])
                    : fmt::format("did you mean {0}/s, {0}/m, {0}/h or {0}/d?", number->written));
  }
  if (number->negative) return negative(text);
  if (number->too_long) return too_large_a_quantity(text);
  const double count =
      static_cast<double>(number->digits) / static_cast<double>(power_of_ten(number->decimals));
  return Rate{count / seconds_in_unit};
}

std::optional<std::int64_t> quantity_in_thousandths(std::string_view text) {
  constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == '+')) ++end;
  const bool has_exponent = end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E');
  if (has_exponent) end = text.size();
  const std::string_view suffix = text.substr(end);
  const auto* unit = std::ranges::find(kByteUnits, suffix, &Unit::name);
  if (!suffix.empty() && suffix != "m" && unit == kByteUnits.end()) return std::nullopt;
  const std::int64_t thousandths = suffix == "m"              ? 1
                                   : unit == kByteUnits.end() ? 1'000
                                                              : unit->size * 1'000;
  // Bytes without a unit are large, fractions of a unit fine.
  const int digits = thousandths <= 1'000 ? 4 : 9;
  const Int128 one = power_of_ten(digits);
  const auto value = scaled_of(text.substr(0, end), digits);
  if (!value || *value < 0) return std::nullopt;
  const Int128 result = (static_cast<Int128>(*value) * thousandths + one - 1) / one;
  return static_cast<std::int64_t>(std::min<Int128>(result, kLargest));
}

}  // namespace slicewise::scenarios
