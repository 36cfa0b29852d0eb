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

std::string setting_of(const Measurement& measurement) {
  std::string text;
  if (!measurement.beside.empty()) {
    text = "beside " + measurement.beside;
    if (measurement.beside_batch) text += fmt::format(" of batch {}", *measurement.beside_batch);
  } else if (measurement.sharing == MeasuredSharing::Alone || measurement.clients == 1) {
    text = "alone";
  } else {
    text = fmt::format("{} processes {}", measurement.clients,
                       measurement.sharing == MeasuredSharing::Mps ? "under MPS" : "taking turns");
  }
  if (measurement.active_threads < 1) {
    text += fmt::format(", {:.0f} % of threads", 100 * measurement.active_threads);
  }
  return measurement.slice == "full" ? text : text + " on " + measurement.slice;
}

bool are_a_pair(const Measurement& first, const Measurement& second) {
  const auto is_beside = [](const Measurement& one, const Measurement& other) {
    return one.beside == other.workload && one.beside_batch.value_or(other.batch) == other.batch;
  };
  return first.gpu == second.gpu && first.sharing == second.sharing && is_beside(first, second) &&
         is_beside(second, first);
}

}  // namespace slicewise::models
