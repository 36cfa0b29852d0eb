#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// The words of an enumeration: what files, flags and reports call its values.
namespace slicewise {

template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};
// clang 14 does not deduce the arguments of an aggregate by itself.
template <class Value>
Choice(const char*, Value) -> Choice<Value>;

// REQUIRES: the value is among them.
template <class Value, std::size_t kCount>
constexpr std::string_view word_of(const std::array<Choice<Value>, kCount>& choices, Value value) {
  std::size_t at = 0;
  while (at + 1 < kCount && choices[at].value != value) ++at;
  return choices[at].word;
}

}  // namespace slicewise
