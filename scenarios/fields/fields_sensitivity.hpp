#pragma once

#include "slicewise/scenarios/varied_inputs.hpp"

#include "fields.hpp"

// The fields of sensitivity.
namespace slicewise::scenarios::table {

inline constexpr Field kSensitivity[] = {
    {.name = "vary",
     .type = FieldType::Words,
     .default_value = "all that the scenario has",
     .description = "Kinds of inputs that `slicewise sensitivity` varies, one input at a time.",
     .example = "vary: [traffic, requestGpuTime]",
     .words = list(kInputKinds)},
    {.name = "by",
     .type = FieldType::Percent,
     .default_value = "20%",
     .description = "How far up and down; less than 100%.",
     .example = "by: 10%",
     .least = 1},
};

}  // namespace slicewise::scenarios::table
