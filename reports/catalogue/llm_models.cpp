#include <fmt/format.h>

#include "../text/text_table.hpp"
#include "catalogue_listing.hpp"

namespace slicewise::reports {
namespace {

using models::LlmModel;
using FigureRows = std::vector<std::vector<std::string>>;

std::string milliseconds_of(double seconds) {
  constexpr double kMillisecondsPerSecond = 1e3;
  return fmt::format("{:.4g}", seconds * kMillisecondsPerSecond);
}

std::string provenance_of_llm(const LlmModel& model, const char* figure) {
  const auto found = model.provenance.find(figure);
  return found == model.provenance.end() ? "as published" : found->second;
}

FigureRows figures_of(const LlmModel& model) {
  const models::LlmStep& step = model.step;
  const auto row = [&](const char* name, std::string value, const char* unit, const char* key) {
    return std::vector<std::string>{name, std::move(value), unit, provenance_of_llm(model, key)};
  };
  FigureRows rows = {
      row("weights read (T_w)", milliseconds_of(step.weights_s), "ms/step", "weightsMs"),
      row("of that, the head", milliseconds_of(model.head_s), "ms/step", "headParameters"),
      row("compute (t)", milliseconds_of(step.token_s), "ms/token", "tokenMs"),
      row("cache read (r)", milliseconds_of(step.kv_read_s), "ms/cached token", "kvReadMs"),
      row("overhead", milliseconds_of(step.overhead_s), "ms/step", "overheadMs"),
      row("weights", memory_cell(model.weights), "", "weightsMib"),
      row("KV cache", fmt::format("{}", model.kv_bytes_per_token.count), "bytes/token",
          "kvBytesPerToken")};
  if (step.experts_s > 0) {
    rows.push_back(
        row("reading all experts", milliseconds_of(step.experts_s), "ms/step", "expertsMs"));
  }
  if (model.context_length) {
    rows.push_back(
        row("context length", std::to_string(*model.context_length), "tokens", "contextLength"));
  }
  if (model.shape) {
    rows.push_back(row("layers", std::to_string(model.shape->layers), "", "shape"));
    rows.push_back(row("hidden size", std::to_string(model.shape->hidden), "", "shape"));
    rows.push_back(row("heads", std::to_string(model.shape->heads), "", "shape"));
    rows.push_back(row("KV heads", std::to_string(model.shape->kv_heads), "", "shape"));
    if (model.shape->experts > 0) {
      rows.push_back(row("experts",
                         fmt::format("{} of {}", model.shape->chosen, model.shape->experts),
                         "for a token", "shape"));
    }
  }
  return rows;
}

// Decoding with contexts of 1,000 tokens, and one prompt.
FigureRows steps_of(const LlmModel& model) {
  constexpr int kContext = 1000;
  FigureRows rows;
  for (const int sequences : {1, 8, 32, 128}) {
    const double seconds = models::step_seconds(model.step, sequences, sequences * kContext);
    rows.push_back({fmt::format("{} x 1 token", sequences), std::to_string(sequences * kContext),
                    milliseconds_of(seconds), fmt::format("{:.0f}", sequences / seconds)});
  }
  for (const int prompt : {512, 2048}) {
    const double seconds = models::step_seconds(model.step, prompt, 0);
    rows.push_back({fmt::format("prompt of {}", prompt), "0", milliseconds_of(seconds),
                    fmt::format("{:.0f}", prompt / seconds)});
  }
  return rows;
}

FigureRows other_gpus(const LlmModel& model, const models::GpuModel& from,
                      const models::Catalogue& catalogue) {
  FigureRows rows;
  for (const models::GpuModel& gpu : catalogue.gpus) {
    if (gpu.name == from.name || !models::can_carry_over(from, gpu)) continue;
    const models::LlmStep step = models::carried_over(model.step, from, gpu);
    rows.push_back({gpu.name, milliseconds_of(step.weights_s), milliseconds_of(step.token_s),
                    model.weights <= models::usable_memory(gpu) ? "yes" : "no", "Assumed"});
  }
  return rows;
}

}  // namespace

nlohmann::json llm_item(const LlmModel& model) {
  nlohmann::json item = {{"name", model.name},
                         {"title", model.title},
                         {"kind", kLlmKind},
                         {"gpuModel", model.gpu_model},
                         {"precision", model.precision},
                         {"weightsSeconds", model.step.weights_s},
                         {"headSeconds", model.head_s},
                         {"tokenSeconds", model.step.token_s},
                         {"kvReadSeconds", model.step.kv_read_s},
                         {"overheadSeconds", model.step.overhead_s},
                         {"memoryBytes", model.weights.count},
                         {"kvBytesPerToken", model.kv_bytes_per_token.count},
                         {"source", model.source},
                         {"sourceDate", model.date},
                         {"provenance", model.provenance}};
  if (model.shape) {
    item["shape"] = {{"layers", model.shape->layers},
                     {"hiddenSize", model.shape->hidden},
                     {"heads", model.shape->heads},
                     {"kvHeads", model.shape->kv_heads}};
    if (model.shape->experts > 0) {
      item["shape"]["experts"] = model.shape->experts;
      item["shape"]["chosenExperts"] = model.shape->chosen;
      item["expertsSeconds"] = model.step.experts_s;
    }
  }
  if (!model.note.empty()) item["note"] = model.note;
  if (!model.unusable.empty()) item["notRunnable"] = model.unusable;
  return item;
}

// One sequence decoded by itself.
models::WorkloadProfile llm_as_profile(const LlmModel& model) {
  models::WorkloadProfile profile;
  profile.name = model.name;
  profile.title = model.title;
  profile.kind = kLlmKind;
  profile.gpu_model = model.gpu_model;
  profile.precision = model.precision;
  profile.solo_step = from_seconds(models::step_seconds(model.step, 1, 0));
  profile.memory = model.weights;
  profile.source = model.source;
  profile.provenance = {{"soloMs", provenance_of_llm(model, "weightsMs")}};
  profile.unusable = model.unusable;
  return profile;
}

std::string explain_llm(const LlmModel& model, const models::Catalogue& catalogue,
                        const TextStyle& style) {
  const auto line = [&](const std::string& text) { return wrapped_text(text, style.width, "", 2); };
  std::string out = line(fmt::format("{}: {}, {}, language model, {}", model.name, model.title,
                                     model.precision, model.gpu_model)) +
                    line("Source: " + model.source + "; read " + model.date);
  if (model.provenance.contains("fit")) out += line("Fit: " + model.provenance.at("fit"));
  if (!model.note.empty()) out += line("Note: " + model.note);
  out +=
      "\n" +
      text_table(
          {{"FIGURE", false, 0}, {"VALUE", true, 0}, {"UNIT", false, 0}, {"PROVENANCE", false, 0}},
          figures_of(model), 0, nullptr);
  out += "\n" +
         wrapped_text("A step over N tokens takes || T_w, N t ||_2 + r x cached tokens + overhead:",
                      style.width, "", 0) +
         text_table(
             {{"STEP", false, 0}, {"CACHED", true, 0}, {"STEP-MS", true, 0}, {"TOKENS/S", true, 0}},
             steps_of(model), style.width, nullptr);
  const models::GpuModel* gpu = catalogue.find_gpu(model.gpu_model);
  if (gpu == nullptr) return out + "\n" + line("No scenario can run it: " + model.unusable + ".");
  const FigureRows others = other_gpus(model, *gpu, catalogue);
  if (others.empty()) return out;
  return out + "\n" +
         wrapped_text(
             "On other GPUs, T_w and r in proportion to the memory bandwidth, t to the "
             "FP16 throughput of the tensor cores:",
             style.width, "", 0) +
         text_table({{"GPU", false, 0},
                     {"T_W-MS", true, 0},
                     {"T-MS", true, 0},
                     {"WEIGHTS FIT", false, 1},
                     {"PROVENANCE", false, 2}},
                    others, style.width, nullptr);
}

}  // namespace slicewise::reports
