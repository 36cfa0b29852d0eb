#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

// Who is in a range, and where.
namespace slicewise {

// Whether some element, or what `of` says of it, is the value.
template <class Range, class Value, class Projection = std::identity>
constexpr bool contains(const Range& range, const Value& value, Projection of = {}) {
  return std::ranges::find(range, value, std::move(of)) != std::ranges::end(range);
}

// The first that is; nullptr: none.
template <class Range, class Value, class Projection = std::identity>
constexpr auto* find_or_null(Range& range, const Value& value, Projection of = {}) {
  const auto found = std::ranges::find(range, value, std::move(of));
  return found == std::ranges::end(range) ? nullptr : &*found;
}

// The first that `is_it` says yes of; nullptr: none.
template <class Range, class Predicate>
constexpr auto* find_if_or_null(Range& range, Predicate is_it) {
  const auto found = std::ranges::find_if(range, std::move(is_it));
  return found == std::ranges::end(range) ? nullptr : &*found;
}

}  // namespace slicewise
