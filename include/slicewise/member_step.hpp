#pragma once

#include <optional>
#include <type_traits>
#include <vector>

// What declarations know of the members that they are bound to: the fields of a scenario
// (scenarios/fields) and the figures of a result (sim/describe.hpp).
namespace slicewise {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

// One step from an owner towards a value: a member, or a function of the owner.
template <class M>
struct MemberStep;
template <class O, class V>
struct MemberStep<V O::*> {
  using Owner = O;
  using Value = V;
};
template <class O, class V>
struct MemberStep<V (O::*)() const> {
  using Owner = O;
  using Value = V;
};
template <class O, class V>
struct MemberStep<V (*)(O&)> {
  using Owner = std::remove_const_t<O>;
  using Value = V;
};

}  // namespace slicewise
