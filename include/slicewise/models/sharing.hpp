#pragma once

#include <variant>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

// One process tree per GPU at a time: nvidia.com/gpu as the device plugin advertises it by default.
struct Exclusive {};

// `replicas` tickets per GPU; the driver's round robin decides who runs.
struct TimeSlicing {
  int replicas = 2;
  TimeSlice slice;
};

// The sharing strategy of a node pool. Code that depends on the strategy visits the variant, so a
// new strategy does not compile until every place has handled it.
using Sharing = std::variant<Exclusive, TimeSlicing>;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace slicewise::models
