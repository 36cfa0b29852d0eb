#include <fmt/format.h>

#include "../document/documents.hpp"
#include "document_facts.hpp"

namespace slicewise::reports {

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
  add_setting(document, "/binding/workload", "binding.workload", item);
  add_setting(document, "/binding/name", "binding.objective", item);
  add_figures(document, sim::at_passed_record(), "/atPassed", item);
  return {std::move(item)};
}

}  // namespace slicewise::reports
