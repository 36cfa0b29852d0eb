#pragma once

#include "slicewise/sim/validation.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// Studies side by side, what they add up to, and what each was fitted on.
Screen validation_screen(const sim::ValidationResult& result, Detail detail);

}  // namespace slicewise::reports
