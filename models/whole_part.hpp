#pragma once

#include "slicewise/models/llm_step.hpp"

namespace slicewise::models {

// What of a step does not get less with the matrices of a layer, however few bytes they have and
// however many GPUs share them: T_w of its small kernels, and t of a token's norms and residuals.
LlmStep whole_part(const LlmLayers& model, const GpuModel& gpu);

}  // namespace slicewise::models
