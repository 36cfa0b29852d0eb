#include <fmt/format.h>

#include "slicewise/models/gpu_names.hpp"
#include "slicewise/models/measurements.hpp"

namespace slicewise::models {

const GpuModel* gpu_of(const MeasuredContext& context, const Catalogue& catalogue,
                       const std::string& file, Diagnostics& problems) {
  if (context.gpu.empty()) {
    add_diagnostic(problems, Code::FieldMissing, {file, 1, 1, 1},
                   "the file does not say on which GPU", "say it with --gpu");
    return nullptr;
  }
  const GpuModel* gpu = catalogue.find_gpu(context.gpu);
  if (gpu != nullptr) return gpu;
  add_diagnostic(problems, Code::GpuUnknown, {file, 1, 1, 1},
                 fmt::format("--gpu: GPU model {} is not in the catalogue", context.gpu),
                 gpus_meant(catalogue, context.gpu));
  return nullptr;
}

}  // namespace slicewise::models
