#include <array>

#include <fmt/format.h>

#include "../charts/charts.hpp"
#include "../screens/result_figures.hpp"
#include "../screens/result_nodes.hpp"
#include "html_text.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

struct StartUpStage {
  const char* name;
  Duration sim::NodeStartUpFigures::*time;
};

constexpr std::array<StartUpStage, 7> kStartUpStages = {
    {{"decide", &sim::NodeStartUpFigures::decision},
     {"launch the instance", &sim::NodeStartUpFigures::launch},
     {"node Ready", &sim::NodeStartUpFigures::ready},
     {"GPU advertised", &sim::NodeStartUpFigures::gpu_allocatable},
     {"schedule", &sim::NodeStartUpFigures::scheduling},
     {"pull the image", &sim::NodeStartUpFigures::image_pull},
     {"load the model", &sim::NodeStartUpFigures::model_load}}};

std::string start_up_tick(double value) { return duration_text(from_seconds(value)); }

Markup start_up_figure(const sim::VariantResult& variant, std::size_t index) {
  const sim::NodeStartUpFigures& figures = *variant.node_start_up;
  const StartUpStage* longest = &kStartUpStages.front();
  for (const StartUpStage& stage : kStartUpStages) {
    if (figures.*stage.time > figures.*longest->time) longest = &stage;
  }
  charts::WaterfallChart chart;
  chart.text = {
      fmt::format("chart-start-{}", index + 1),
      fmt::format("{}: a pod that waits for a node works after {}; the longest stage is: {} ({}).",
                  variant.name, duration_text(figures.total.mean), longest->name,
                  duration_text(figures.*longest->time)),
      "The stages from Pending to work, one after the other, as means over the pods that waited."};
  chart.x = {"time since the pod was Pending", start_up_tick, false, true};
  HtmlTable table{"from Pending to work, means", {{"Stage"}, {"Time", true}}};
  for (const StartUpStage& stage : kStartUpStages) {
    const Duration time = figures.*stage.time;
    table.rows.push_back({stage.name, duration_text(time)});
    if (time.ns <= 0) continue;
    chart.stages.push_back({stage.name, to_seconds(time), duration_text(time)});
  }
  chart.total = duration_text(figures.total.mean);
  if (chart.stages.empty()) return "";
  return figure(draw(chart), chart.text.title, {table});
}

}  // namespace

Markup scaling_section(const HtmlReport& report) {
  constexpr std::size_t kMostFigures = 2;
  Markup figures;
  std::string lines;
  std::size_t drawn = 0;
  for (const sim::VariantResult& variant : report.result.variants) {
    if (variant.node_start_up && drawn < kMostFigures) {
      figures += start_up_figure(variant, drawn++);
    }
    const std::vector<std::string> sentences = node_sentences(variant);
    if (sentences.empty()) continue;
    lines += part_markup({.heading = variant.name, .sentences = sentences_of(sentences)});
  }
  if (lines.empty()) return "";
  const Markup wrapped = drawn > 1 ? "<div class=\"pair\">\n" + figures + "</div>\n" : figures;
  return section("scaling", "What does it cost that nodes take their time?", wrapped + lines);
}

}  // namespace slicewise::reports::html
