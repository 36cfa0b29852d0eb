#include "slicewise/models/gpu_model.hpp"

namespace slicewise::models {

Bytes usable_memory(const GpuModel& gpu) { return gpu.memory_usable.value_or(gpu.memory_total); }

}  // namespace slicewise::models
