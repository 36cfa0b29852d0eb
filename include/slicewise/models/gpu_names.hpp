#pragma once

#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"

// GPUs as the logs of clusters call them: "Tesla_V100", "a100", "NVIDIA-A100-SXM4-80GB".
namespace slicewise::models {

// The models that a log means: the one of that name or alias, else all that have its words.
std::vector<const GpuModel*> gpus_called(const Catalogue& catalogue, std::string_view name);

// The one model that a log means by a GPU's name or an instance type; nullptr: none, or several.
const GpuModel* gpu_called(const Catalogue& catalogue, std::string_view name);

}  // namespace slicewise::models
