#pragma once

#include "slicewise/models/llm_step.hpp"

namespace slicewise::models {

// What of a step does not get less with the matrices of a layer, however few bytes they have and
// however many GPUs share them: T_w of its small kernels, and t of a token's norms and residuals.
LlmStep whole_part(const LlmLayers& model, const GpuModel& gpu);

// The same as T_w, which is alike on all GPUs; 0 where nobody says how many layers there are.
double whole_weights_s(const std::optional<LlmLayers>& model);

// `time` where all but `whole` of it is as many `times` as long.
double beside_whole(double time, double whole, double times);

}  // namespace slicewise::models
