#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

// Quantities that cross public headers. Every type holds one integer (or, where the quantity is
// a pure rate, one double) in a fixed unit, so that a swapped argument does not compile and event
// order never depends on rounding.
namespace slicewise {

// For products of two 64-bit quantities. __extension__ keeps -Wpedantic quiet.
__extension__ typedef __int128 Int128;

// A span of simulated time in integer nanoseconds. Range: +-292 years.
struct Duration {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator*(Duration a, std::int64_t k) { return {a.ns * k}; }
  constexpr Duration& operator+=(Duration other) {
    ns += other.ns;
    return *this;
  }
  constexpr Duration& operator-=(Duration other) {
    ns -= other.ns;
    return *this;
  }
};

constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration microseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000}; }
constexpr Duration minutes(std::int64_t n) { return seconds(n * 60); }
constexpr Duration hours(std::int64_t n) { return seconds(n * 3'600); }

// Rounds to the nearest nanosecond. Requires: |s| < 9.2e9.
inline Duration from_seconds(double s) {
  return {static_cast<std::int64_t>(std::llround(s * 1e9))};
}
constexpr double to_seconds(Duration d) { return static_cast<double>(d.ns) * 1e-9; }

// An instant on the simulated clock, counted from the start of the run.
struct TimePoint {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(TimePoint, TimePoint) = default;
  friend constexpr TimePoint operator+(TimePoint t, Duration d) { return {t.ns + d.ns}; }
  friend constexpr TimePoint operator-(TimePoint t, Duration d) { return {t.ns - d.ns}; }
  friend constexpr Duration operator-(TimePoint a, TimePoint b) { return {a.ns - b.ns}; }
};

// The time of an event that is not going to happen.
inline constexpr TimePoint kNever{std::numeric_limits<std::int64_t>::max()};

// An amount of memory.
struct Bytes {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count -= other.count;
    return *this;
  }
};

constexpr Bytes mebibytes(std::int64_t n) { return {n * 1'048'576}; }
constexpr Bytes gibibytes(std::int64_t n) { return {n * 1'073'741'824}; }
constexpr double in_gibibytes(Bytes bytes) {
  return static_cast<double>(bytes.count) / (std::int64_t{1} << 30U);
}

// Host CPU in thousandths of a vCPU, as Kubernetes counts it.
struct Millicores {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Millicores, Millicores) = default;
  friend constexpr Millicores operator+(Millicores a, Millicores b) { return {a.count + b.count}; }
  friend constexpr Millicores operator-(Millicores a, Millicores b) { return {a.count - b.count}; }
};

// Money in integer billionths of a US dollar: sums are exact, so a cost split always adds up to
// the bill. Range: +-9.2 billion dollars.
struct Usd {
  std::int64_t nano = 0;

  friend constexpr auto operator<=>(Usd, Usd) = default;
  friend constexpr Usd operator+(Usd a, Usd b) { return {a.nano + b.nano}; }
  friend constexpr Usd operator-(Usd a, Usd b) { return {a.nano - b.nano}; }
  constexpr Usd& operator+=(Usd other) {
    nano += other.nano;
    return *this;
  }
};

inline Usd from_dollars(double dollars) {
  return {static_cast<std::int64_t>(std::llround(dollars * 1e9))};
}
constexpr double to_dollars(Usd u) { return static_cast<double>(u.nano) * 1e-9; }

// A price per instance-hour.
struct UsdPerHour {
  Usd per_hour;
  friend constexpr auto operator<=>(UsdPerHour, UsdPerHour) = default;
};

// What `duration` at `price` costs, rounded down to a nano-dollar. Requires: duration >= 0.
constexpr Usd cost_of(UsdPerHour price, Duration duration) {
  constexpr Int128 kNsPerHour = 3'600'000'000'000;
  return {static_cast<std::int64_t>(static_cast<Int128>(price.per_hour.nano) * duration.ns /
                                    kNsPerHour)};
}

// Events per second of simulated time.
struct Rate {
  double per_second = 0;
  friend constexpr auto operator<=>(Rate, Rate) = default;
};

}  // namespace slicewise
