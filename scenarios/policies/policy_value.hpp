#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "slicewise/scenarios/policy.hpp"
#include "slicewise/scenarios/quantity.hpp"

namespace slicewise::scenarios {

// What `figure` is compared with, a Number or a Word. `kind`: of the figure; no Truth. `text` is ""
// when there is no value.
tl::expected<PolicyNode, QuantityError> policy_value(std::string_view figure, PolicyFigure kind,
                                                     std::string_view text);

// "<= 500ms": a comparison with a value of the kind.
std::string_view policy_value_example(PolicyFigure kind);

}  // namespace slicewise::scenarios
