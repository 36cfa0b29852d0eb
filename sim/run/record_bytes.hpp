#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/metrics/ratio_histogram.hpp"
#include "slicewise/units.hpp"

// What a task of a study found is made of, for archives (byte_archives.hpp).
namespace slicewise::sim {

template <class Archive>
void visit_parts(Archive& archive, Int128& number) {
  constexpr unsigned kHalf = 64;
  auto high = static_cast<std::int64_t>(number >> kHalf);
  auto low = static_cast<std::uint64_t>(number);
  archive(high, low);
  number = (static_cast<Int128>(high) << kHalf) | static_cast<Int128>(low);
}
template <class Archive>
void visit_parts(Archive& archive, Histogram& h) {
  h.visit(archive);
}
template <class Archive>
void visit_parts(Archive& archive, RatioHistogram& h) {
  h.visit(archive);
}

// How many members an aggregate has: as many values as it takes. An optional one takes anything in
// two ways, which is none.
struct AnyValue {
  template <class T>
  operator T() const;
};
template <class Record, class... Values>
constexpr std::size_t member_count() {
  if constexpr (requires { Record{std::declval<Values>()..., AnyValue()}; }) {
    return member_count<Record, Values..., AnyValue>();
  } else if constexpr (requires { Record{std::declval<Values>()..., std::nullopt}; }) {
    return member_count<Record, Values..., std::nullopt_t>();
  } else {
    return sizeof...(Values);
  }
}

// So many names with commas between them.
#define SLICEWISE_1(m) m##1
#define SLICEWISE_2(m) SLICEWISE_1(m), m##2
#define SLICEWISE_3(m) SLICEWISE_2(m), m##3
#define SLICEWISE_4(m) SLICEWISE_3(m), m##4
#define SLICEWISE_5(m) SLICEWISE_4(m), m##5
#define SLICEWISE_6(m) SLICEWISE_5(m), m##6
#define SLICEWISE_7(m) SLICEWISE_6(m), m##7
#define SLICEWISE_8(m) SLICEWISE_7(m), m##8
#define SLICEWISE_9(m) SLICEWISE_8(m), m##9
#define SLICEWISE_10(m) SLICEWISE_9(m), m##10
#define SLICEWISE_TENS_0
#define SLICEWISE_TENS_1 SLICEWISE_TENS_0 SLICEWISE_10(a),
#define SLICEWISE_TENS_2 SLICEWISE_TENS_1 SLICEWISE_10(b),
#define SLICEWISE_TENS_3 SLICEWISE_TENS_2 SLICEWISE_10(c),
#define SLICEWISE_TENS_4 SLICEWISE_TENS_3 SLICEWISE_10(d),
#define SLICEWISE_OF(tens, ones)                                \
  if constexpr (kMembers == 10 * (tens) + (ones)) {             \
    auto& [SLICEWISE_TENS_##tens SLICEWISE_##ones(m)] = record; \
    archive(SLICEWISE_TENS_##tens SLICEWISE_##ones(m));         \
  }
#define SLICEWISE_UP_TO_TEN(tens) \
  SLICEWISE_OF(tens, 1)           \
  SLICEWISE_OF(tens, 2)           \
  SLICEWISE_OF(tens, 3)           \
  SLICEWISE_OF(tens, 4)           \
  SLICEWISE_OF(tens, 5)           \
  SLICEWISE_OF(tens, 6)           \
  SLICEWISE_OF(tens, 7) SLICEWISE_OF(tens, 8) SLICEWISE_OF(tens, 9) SLICEWISE_OF(tens, 10)

// All members of a record in their order.
template <class Archive, class Record>
requires std::is_aggregate_v<Record>
void visit_parts(Archive& archive, Record& record) {
  constexpr std::size_t kMembers = member_count<Record>();
  static_assert(kMembers > 0 && kMembers <= 50);
  SLICEWISE_UP_TO_TEN(0)
  SLICEWISE_UP_TO_TEN(1)
  SLICEWISE_UP_TO_TEN(2)
  SLICEWISE_UP_TO_TEN(3)
  SLICEWISE_UP_TO_TEN(4)
}

}  // namespace slicewise::sim
