#include <cmath>

#include <nlohmann/json.hpp>

#include "slicewise/reports/calibration_report.hpp"

#include "document_text.hpp"

namespace slicewise::reports {
namespace {

// As exact as anybody measures.
double five_digits(double value) {
  if (value == 0) return 0;
  double scale = 1;
  while (std::abs(value) * scale < 1e4) scale *= 10;
  return std::round(value * scale) / scale;
}

nlohmann::json uncertainty_json(const std::vector<models::FigureUncertainty>& uncertainty) {
  nlohmann::json out = nlohmann::json::array();
  for (const models::FigureUncertainty& one : uncertainty) {
    nlohmann::json item = {{"figure", one.figure}, {"halfWidth95", five_digits(one.half_width_95)}};
    if (one.between) {
      item["least"] = five_digits(one.between->least);
      item["most"] = five_digits(one.between->most);
    }
    for (const auto& [other, correlation] : one.correlations) {
      item["correlations"][other] = five_digits(correlation);
    }
    out.push_back(std::move(item));
  }
  return out;
}

nlohmann::json model_json(const models::LlmModel& model) {
  constexpr double kMs = 1e3;
  constexpr std::int64_t kMebibyte = 1 << 20;
  nlohmann::json out = {{"name", model.name},
                        {"title", model.title},
                        {"gpu", model.gpu_model},
                        {"precision", model.precision},
                        {"weightsMib", (model.weights.count + kMebibyte - 1) / kMebibyte},
                        {"kvBytesPerToken", model.kv_bytes_per_token.count},
                        {"source", model.source},
                        {"provenance", model.provenance}};
  for (const models::StepTime& time : models::kStepTimes) {
    out[std::string(time.figure)] = five_digits(kMs * model.step.*time.seconds);
  }
  out["weightsMs"] = five_digits(kMs * (model.step.weights_s - model.head_s));
  if (model.head_parameters > 0) out["headParameters"] = model.head_parameters;
  if (!model.uncertainty.empty()) out["uncertainty"] = uncertainty_json(model.uncertainty);
  if (model.layer_parameters) out["layerParameters"] = *model.layer_parameters;
  if (model.context_length) out["contextLength"] = *model.context_length;
  if (model.shape) {
    out["shape"] = {{"layers", model.shape->layers},
                    {"hiddenSize", model.shape->hidden},
                    {"heads", model.shape->heads},
                    {"kvHeads", model.shape->kv_heads}};
    if (model.shape->experts > 0) {
      out["shape"]["experts"] = model.shape->experts;
      out["shape"]["chosenExperts"] = model.shape->chosen;
      out["expertParameters"] = model.expert_parameters;
      out["expertsMs"] = five_digits(kMs * model.step.experts_s);
    }
  }
  return out;
}

}  // namespace

std::string profile_document(const sim::FittedProfiles& fitted) {
  nlohmann::json document = {{"apiVersion", "slicewise.dev/v1alpha1"}, {"kind", "Catalogue"}};
  if (!fitted.date.empty()) document["date"] = fitted.date;
  if (!fitted.profiles.empty() || fitted.models.empty()) {
    document["profiles"] = nlohmann::json::array();
  }
  for (const sim::FittedProfile& fit : fitted.profiles) {
    const models::WorkloadProfile& p = fit.profile;
    nlohmann::json out = {
        {"name", p.name}, {"title", p.title}, {"kind", p.kind}, {"gpu", p.gpu_model}};
    const auto add = [&out](const char* name, const std::optional<double>& value) {
      if (value) out[name] = five_digits(*value);
    };
    const auto add_time = [&](const char* name, const std::optional<Duration>& time) {
      if (time) add(name, static_cast<double>(time->ns) * 1e-6);
    };
    if (p.batch) out["batch"] = *p.batch;
    add("itemsPerStep", p.items_per_step);
    add_time("soloMs", p.solo_step);
    add("timeSigma", p.time_sigma);
    add_time("fixedMs", p.fixed_part);
    add_time("workMs", p.gpu_work);
    add("normP", p.norm_p);
    add("capacityShare", p.capacity_share);
    add("bandwidthShare", p.bandwidth_share);
    add("duty", p.duty);
    add("requestDuty", p.request_duty);
    add("sensitivity", p.sensitivity);
    add("pressure", p.pressure);
    add("turnUse", p.turn_use);
    add_time("kernelMs", p.kernel_time);
    add_time("hostMs", p.host_time);
    add_time("extraPerItemMs", p.extra_per_item);
    out["provenance"] = p.provenance;
    if (!p.uncertainty.empty()) out["uncertainty"] = uncertainty_json(p.uncertainty);
    document["profiles"].push_back(std::move(out));
  }
  for (const models::LlmModel& model : fitted.models) {
    document["models"].push_back(model_json(model));
  }
  return yaml_text(document);
}

}  // namespace slicewise::reports
