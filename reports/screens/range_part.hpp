#pragma once

#include "slicewise/sim/result.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// Where figures lie for what is not known of the inputs; empty without `--inputs sampled`.
ScreenPart range_part(const sim::VariantResult& variant);

}  // namespace slicewise::reports
