#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/measurements.hpp"

namespace slicewise::models {

const GpuModel* gpu_of(const MeasuredContext& context, const Catalogue& catalogue,
                       const std::string& file, Diagnostics& problems) {
  if (context.gpu.empty()) {
    problems.push_back(make_diagnostic(Code::FieldMissing, {file, 1, 1, 1},
                                       "the file does not say on which GPU", "say it with --gpu"));
    return nullptr;
  }
  const GpuModel* gpu = catalogue.find_gpu(context.gpu);
  if (gpu != nullptr) return gpu;
  const std::vector<std::string> like = catalogue.gpus_like(context.gpu);
  problems.push_back(make_diagnostic(
      Code::GpuUnknown, {file, 1, 1, 1},
      fmt::format("GPU model {} is not in the catalogue", context.gpu),
      like.empty() ? "`slicewise get gpus` lists them; --catalogue adds others"
                   : fmt::format("--gpu: did you mean {}?", fmt::join(like, " or "))));
  return nullptr;
}

}  // namespace slicewise::models
