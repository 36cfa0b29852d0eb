#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"

// GPUs as people and machines call them: "NVIDIA A10G" of nvidia-smi, "NVIDIA-A10G-SHARED" of GPU
// feature discovery, "Tesla_V100" and "a100" of logs. The maker, case and what is between the words
// tell no GPU apart; Catalogue::find_gpu() and all below go by that.
namespace slicewise::models {

// What to say where a GPU is unknown: which may be meant, or where they all are.
std::string gpus_meant(const Catalogue& catalogue, std::string_view unknown);

// The models that a log means: the one of that name or alias, else all that have its words.
std::vector<const GpuModel*> gpus_called(const Catalogue& catalogue, std::string_view name);

// The one model that a log means by a GPU's name or an instance type; nullptr: none, or several.
const GpuModel* gpu_called(const Catalogue& catalogue, std::string_view name);

}  // namespace slicewise::models
