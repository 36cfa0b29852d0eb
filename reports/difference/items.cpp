#include <cmath>

#include <fmt/format.h>

#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../document/documents.hpp"
#include "../text/text_table.hpp"
#include "document_facts.hpp"

namespace slicewise::reports {

std::vector<ItemFacts> result_items(StoredDocument& document) {
  std::vector<ItemFacts> items;
  const std::size_t variants = entries_at(document, "/variants");
  for (std::size_t v = 0; v < variants; ++v) {
    const std::string at = fmt::format("/variants/{}", v);
    ItemFacts item;
    item.name = document.required_text(at + "/name");
    add_verdict(document, at, item);
    add_figures(document, sim::record_of<sim::VariantResult>(), at, item);
    add_workloads(document, sim::record_of<sim::VariantResult>(), at, item);
    const std::size_t pools = entries_at(document, at + "/nodePools");
    for (std::size_t p = 0; p < pools; ++p) {
      const std::string pool = fmt::format("{}/nodePools/{}", at, p);
      const std::string prefix =
          fmt::format("nodePools.{}.", document.required_text(pool + "/name"));
      add_settings(document, sim::record_of<sim::NodePoolResult>(), pool, prefix, item);
    }
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<ItemFacts> comparison_items(StoredDocument& document) {
  const sim::Record& option = sim::record_of<sim::ComparedOption>();
  std::vector<ItemFacts> items;
  const std::size_t options = entries_at(document, "/options");
  for (std::size_t o = 0; o < options; ++o) {
    const std::string at = fmt::format("/options/{}", o);
    ItemFacts item;
    // The number of nodes is a consequence: an option that needs more of them is still the same.
    item.name =
        document.required_text(at + "/instanceType") + " " + document.required_text(at + "/title");
    add_settings(document, option, at, "", item);
    add_verdict(document, at, item);
    item.is_best = document.truth(at + "/best").value_or(false);
    add_figures(document, option, at, item);
    add_workloads(document, option, at, item);
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<ItemFacts> max_load_items(StoredDocument& document) {
  ItemFacts item;
  item.name = document.required_text("/metadata/variant");
  const std::size_t loads = entries_at(document, "/loads");
  for (std::size_t n = 0; n < loads; ++n) {
    const std::string at = fmt::format("/loads/{}", n);
    const std::string name = document.required_text(at + "/name");
    const auto passed = document.number(at + "/passed");
    const auto failed = document.number(at + "/failed");
    StoredFigure load{name, "maxLoad", "number", StoredFigure::Role::Load};
    if (document.text(at + "/unit") == "requests/s") load.unit = "perSecond";
    load.more_is_better = true;
    load.title = "highest load";
    // The truth lies between the load that passed and the one that failed.
    if (passed && failed) load.ci95 = *failed - *passed;
    add_figure(document, at + "/passed", load, item);
    StoredFigure headroom{name, "headroom", "number", StoredFigure::Role::Load};
    headroom.more_is_better = true;
    headroom.is_main = true;
    if (const auto scenario = document.number(at + "/scenario");
        load.ci95 && scenario.value_or(0) > 0) {
      headroom.ci95 = *load.ci95 / *scenario;
    }
    add_figure(document, at + "/headroom", headroom, item);
    add_setting(document, at + "/scenario", fmt::format("{}.load", name), item);
  }
  add_verdict(document, "", item);
  add_setting(document, "/binding/workload", "binding.workload", item);
  add_setting(document, "/binding/name", "binding.objective", item);
  add_figures(document, sim::at_passed_record(), "/atPassed", item);
  return {std::move(item)};
}

std::vector<ItemFacts> replay_items(StoredDocument& document) {
  std::vector<ItemFacts> items;
  const std::size_t schedulers = entries_at(document, "/schedulers");
  for (std::size_t s = 0; s < schedulers; ++s) {
    const std::string at = fmt::format("/schedulers/{}", s);
    ItemFacts item;
    for (const char* key : {"/sharing", "/queue", "/placement"}) {
      if (const auto word = document.text(at + key)) add_name(item.name, *word);
      add_setting(document, at + key, key + 1, item);
    }
    add_verdict(document, at, item);
    add_figures(document, sim::record_of<sim::ReplayOutcome>(), at, item);
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<ItemFacts> inflation_items(StoredDocument& document) {
  std::vector<ItemFacts> items;
  const std::size_t placements = entries_at(document, "/placements");
  for (std::size_t p = 0; p < placements; ++p) {
    const std::string at = fmt::format("/placements/{}", p);
    ItemFacts item;
    item.name = document.required_text(at + "/placement");
    add_setting(document, at + "/placement", "placement", item);
    add_figures(document, sim::record_of<sim::InflationOutcome>(), at, item);
    // The mean of the seeds, as sure as they are alike.
    const auto seeds = static_cast<double>(entries_at(document, at + "/seeds"));
    const auto deviation = document.number(at + "/standardDeviation");
    if (deviation && seeds > 1 && !item.figures.empty()) {
      item.figures.front().ci95 = sim::student_t_975(seeds - 1) * *deviation / std::sqrt(seeds);
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace slicewise::reports
