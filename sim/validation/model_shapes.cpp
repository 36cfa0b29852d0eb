#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/calibration.hpp"

// Language models whose config.json stands beside the measurements, or alone.
namespace slicewise::sim {
namespace {

// As the benchmarks have it.
void take_step(const FittedStep& fitted, models::LlmModel& model) {
  model.step = fitted.step;
  model.uncertainty = fitted.uncertainty;
  for (const FittedFigure& figure : fitted.figures) {
    const std::string text =
        figure.basis == "fitted"
            ? fmt::format("fitted, 95 % within {:.2g} ms", figure.half_width_95.value_or(0))
        : fitted.size_known ? figure.basis
                            : fmt::format("{}: not determined", figure.basis);
    if (figure.name == "weightsTime") model.provenance["weightsMs"] = text;
    if (figure.name == "tokenTime") model.provenance["tokenMs"] = text;
    if (figure.name == "cacheReadTime") model.provenance["kvReadMs"] = text;
    if (figure.name == "overhead") model.provenance["overheadMs"] = text;
  }
  if (model.step.experts_s > 0) {
    model.provenance["expertsMs"] = "as weightsMs, by the bytes of config.json";
  }
  model.source = "config.json, and benchmarks of its server";
}

}  // namespace

Diagnostics add_models(std::span<const models::LlmShape> shapes,
                       const models::MeasuredContext& context, const models::Catalogue& catalogue,
                       FittedProfiles& fitted) {
  Diagnostics problems;
  for (const models::LlmShape& shape : shapes) {
    const std::string name = context.workload.empty() ? shape.name : context.workload;
    if (name.empty()) {
      add_diagnostic(problems, Code::FieldMissing, shape.where,
                     "the file does not say which model it is", "say it with --workload");
    }
    const models::GpuModel* gpu = models::gpu_of(context, catalogue, shape.where.file, problems);
    if (gpu == nullptr || name.empty()) continue;
    const auto step = std::ranges::find_if(fitted.steps, [&](const FittedStep& one) {
      return one.workload == name && one.gpu == gpu->name;
    });
    models::LlmModel model =
        models::model_of(shape, fmt::format("{}/{}", name, lower_case(gpu->name)), *gpu);
    if (step != fitted.steps.end()) {
      take_step(*step, model);
    } else if (!models::derive_step(shape, *gpu, catalogue.llm_models, catalogue.gpus, model)) {
      add_diagnostic(
          problems, Code::InputMissing, shape.where,
          fmt::format("no model was measured on {}, nor has it an FP16 rate to reckon from",
                      gpu->name),
          "measure it: slicewise explain measurements");
      continue;
    }
    fitted.models.push_back(std::move(model));
  }
  return problems;
}

}  // namespace slicewise::sim
