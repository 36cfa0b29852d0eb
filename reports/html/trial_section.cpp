#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "embedded/page_files.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

using nlohmann::json;

// What a slider moves: a number of the scenario, with the unit that it is written in.
json control(const std::string& label, const std::string& path, double value, double least,
             double most, double step, const char* unit) {
  return {{"label", label}, {"path", path}, {"value", value}, {"least", least},
          {"most", most},   {"step", step}, {"unit", unit}};
}

json whole(const std::string& label, const std::string& path, int value, int least) {
  constexpr int kMost = 8;
  return control(label, path, value, std::min(value, least), std::max(kMost, 2 * value), 1, "");
}

json around(const std::string& label, const std::string& path, double value, const char* unit) {
  constexpr double kSteps = 20;
  return control(label, path, value, value / kSteps, 3 * value, value / kSteps, unit);
}

double milliseconds_of(Duration duration) { return static_cast<double>(duration.ns) / 1e6; }

json replicas_of(const std::string& pool, const std::string& way,
                 const std::optional<scenarios::PluginSharing>& sharing) {
  if (!sharing || sharing->resources.empty()) return nullptr;
  return whole(pool + ": replicas of a GPU",
               fmt::format("nodePools.{}.devicePlugin.sharing.{}.resources[0].replicas", pool, way),
               sharing->resources.front().replicas, 2);
}

void add_pool(const scenarios::NodePool& pool, const sim::PoolModel& model, json& controls) {
  const std::string& name = pool.name.value;
  const std::string path = "nodePools." + name;
  if (!pool.most_nodes) controls.push_back(whole(name + ": nodes", path + ".nodes", pool.nodes, 1));
  if (pool.device_plugin) {
    for (const json& replicas : {replicas_of(name, "timeSlicing", pool.device_plugin->time_slicing),
                                 replicas_of(name, "mps", pool.device_plugin->mps)}) {
      if (!replicas.is_null()) controls.push_back(replicas);
    }
    if (pool.device_plugin->time_slicing) {
      controls.push_back(around(name + ": turn", path + ".gpu.timeSlice",
                                milliseconds_of(model.driver_slice.turn), "ms"));
    }
  }
  constexpr double kNanos = 1e9;
  json price = around(name + ": price of " + model.instance_type, "",
                      static_cast<double>(model.price.usd.per_hour.nano) / kNanos, " $/h");
  price["price"] = {{"instanceType", model.instance_type},
                    {"region", model.region},
                    {"purchase", model.purchase_option}};
  controls.push_back(std::move(price));
}

// A load moves as a whole, in its shape: numbers of the scenario that keep their proportions, by
// path; the first is the one that is shown.
void add_load(const std::string& name, const std::string& path, const scenarios::Traffic& traffic,
              json& controls) {
  if (const auto* loop = std::get_if<scenarios::ClosedLoop>(&traffic.shape)) {
    return controls.push_back(whole(name + ": clients", path + ".clients", loop->clients, 1));
  }
  std::vector<std::pair<std::string, double>> parts;
  const char* unit = "/s";
  if (const auto* trace = std::get_if<scenarios::RequestTrace>(&traffic.shape)) {
    parts.emplace_back(path + ".trace.scale", trace->scale);
    unit = "";
  } else if (const auto* clients = std::get_if<scenarios::ClientTraffic>(&traffic.shape)) {
    parts.emplace_back(path + ".clientRates.scale", clients->scale);
    unit = "";
  } else if (const auto* steps = std::get_if<std::vector<scenarios::RateStep>>(&traffic.shape)) {
    for (std::size_t s = 0; s < steps->size(); ++s) {
      const double rate = (*steps)[s].rate.per_second;
      if (rate > 0) parts.emplace_back(fmt::format("{}.steps[{}].rate", path, s), rate);
    }
  } else if (traffic.mean.per_second > 0) {
    parts.emplace_back(path + ".mean", traffic.mean.per_second);
  }
  if (const auto* diurnal = std::get_if<scenarios::Diurnal>(&traffic.shape)) {
    parts.emplace_back(path + ".peak", diurnal->peak.per_second);
  }
  if (const auto* bursts = std::get_if<scenarios::Bursts>(&traffic.shape)) {
    parts.emplace_back(path + ".bursts.rate", bursts->rate.per_second);
  }
  if (parts.empty()) return;
  const auto& [first, value] = parts.front();
  json load = around(name + ": load", first, value, unit);
  for (const auto& [part, of] : parts) {
    if (parts.size() > 1) load["together"].push_back({{"path", part}, {"value", of}});
  }
  controls.push_back(std::move(load));
}

// A limit in the unit in which it is written.
json limit_of(const std::string& name, const std::string& path,
              const sim::ObjectiveResult& objective) {
  const std::string label = name + ": limit of " + objective.name;
  const std::string at = path + ".slo." + objective.name;
  if (const auto* duration = std::get_if<Duration>(&objective.limit)) {
    return around(label, at, milliseconds_of(*duration), "ms");
  }
  if (const auto* rate = std::get_if<Rate>(&objective.limit)) {
    return around(label, at, rate->per_second, "/s");
  }
  if (const auto* share = std::get_if<scenarios::Share>(&objective.limit)) {
    constexpr double kPercent = 100;
    constexpr int kSteps =
        5;  // on either side: of what is left to all or nothing, and of 1 % at least
    const double value = kPercent * share->of_one;
    const double step = std::max(1.0, std::min(value, kPercent - value)) / kSteps;
    return control(label, at, value, std::max(0.0, value - kSteps * step),
                   std::min(kPercent, value + kSteps * step), step, "%");
  }
  return around(label, at, std::get<double>(objective.limit), "");
}

using Results = std::vector<sim::WorkloadResult>;

void add_limits(const std::string& name, const std::string& path, const Results& results,
                json& controls) {
  const auto found = std::ranges::find(results, name, &sim::WorkloadResult::name);
  if (found == results.end()) return;
  for (const sim::ObjectiveResult& objective : found->objectives) {
    controls.push_back(limit_of(name, path, objective));
  }
}

void add_workload(const scenarios::Workload& workload, const Results& results, json& controls) {
  const std::string& name = workload.name.value;
  const std::string path = "workloads." + name;
  const bool serves = workload.kind == scenarios::WorkloadKind::Service;
  if (workload.kind == scenarios::WorkloadKind::Notebook) {
    controls.push_back(whole(name + ": users", path + ".notebooks.users", workload.count, 1));
  } else if (!workload.trace && !workload.autoscaling) {
    controls.push_back(whole(name + (serves ? ": pods" : ": count"),
                             path + (serves ? ".replicas" : ".count"),
                             workload.count / workload.pods_per_job, 1));
  }
  if (workload.traffic) add_load(name, path + ".traffic", *workload.traffic, controls);
  add_limits(name, path, results, controls);
}

// Of the duration, of which a page simulates a part while something is moved; 0: it has none.
double shortened_from(const scenarios::Scenario& scenario) {
  return scenario.duration ? to_seconds(*scenario.duration) : 0;
}

// What a part must have at least: something after the warm-up.
double least_seconds(const scenarios::Scenario& scenario) {
  constexpr double kObserved = 0.05;
  const double warmup = to_seconds(scenario.warmup);
  return warmup + kObserved * (shortened_from(scenario) - warmup);
}

json controls_of(const HtmlReport& report, std::size_t index) {
  const scenarios::Scenario& scenario = report.engine->variants[index].scenario;
  const sim::World& world = report.worlds[index];
  json controls = json::array();
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    const auto model = std::ranges::find(world.pools, pool.name.value, &sim::PoolModel::name);
    if (model != world.pools.end()) add_pool(pool, *model, controls);
  }
  const Results& results = report.result.variants[index].workloads;
  for (const scenarios::Workload& workload : scenario.workloads) {
    add_workload(workload, results, controls);
  }
  for (const scenarios::Pipeline& pipeline : scenario.pipelines) {
    const std::string path = "pipelines." + pipeline.name.value;
    add_load(pipeline.name.value, path + ".traffic", pipeline.traffic, controls);
    add_limits(pipeline.name.value, path, results, controls);
  }
  return controls;
}

}  // namespace

Markup trial_section(const HtmlReport& report) {
  if (!report.engine) return "";
  const sim::VariantResult* best =
      report.plan ? report.result.variants.data() : best_variant(report.result);
  std::string variants;
  for (const sim::VariantResult& variant : report.result.variants) {
    variants += fmt::format("<option{}>{}</option>", &variant == best ? " selected" : "",
                            escaped(variant.name));
  }
  return trial_markup(report.plan ? "Option" : "Variant", variants, "Copy the YAML");
}

Markup trial_markup(std::string_view choice, const std::string& options, std::string_view copy) {
  return section(
      "trial", "What if ...?",
      fmt::format(
          "<p class=\"js\">The simulator is in this page: move something, and it simulates again. "
          "Nothing leaves the page.</p>\n<noscript><p>That needs JavaScript.</p></noscript>\n<div "
          "class=\"js\">\n<p><label>{} <select id=\"trial-variant\">{}</select></label> <button "
          "type=\"button\" id=\"trial-reset\">As it was</button> <button type=\"button\" "
          "id=\"trial-copy\">{}</button></p>\n<div id=\"trial-controls\" class=\"sliders\"></div>\n"
          "<p id=\"trial-said\" role=\"status\">The simulator starts.</p>\n<div "
          "id=\"trial-charts\" "
          "class=\"pair\"></div>\n<pre id=\"trial-changes\" tabindex=\"0\" aria-label=\"What "
          "changes "
          "against the figures of this page\"></pre>\n</div>\n",
          choice, options, copy));
}

std::string trial_elements(const json& input, std::string_view engine, std::string_view script) {
  return fmt::format(
      "<script type=\"application/json\" id=\"trial-input\">{}</script>\n<script>\n{}</script>\n"
      "<script>\n{}{}</script>\n",
      embedded_json(input.dump(-1, ' ', false, json::error_handler_t::replace)), engine,
      page_files::trial_parts_js(), script);
}

std::string trial_scripts(const HtmlReport& report) {
  if (!report.engine) return "";
  const EngineInside& engine = *report.engine;
  json trial{{"file", engine.file},
             {"words", engine.words},
             {"runWords", engine.run_words},
             {"priceDate", report.result.stamp.price_date},
             {"files", engine.files}};
  for (std::size_t v = 0; v < engine.variants.size(); ++v) {
    trial["variants"][report.result.variants[v].name] = {
        {"text", engine.variants[v].text},
        {"replications", engine.variants[v].scenario.replications},
        {"seconds", shortened_from(engine.variants[v].scenario)},
        {"leastSeconds", least_seconds(engine.variants[v].scenario)},
        {"controls", controls_of(report, v)}};
  }
  return trial_elements(trial, engine.script, page_files::trial_js());
}

}  // namespace slicewise::reports::html
