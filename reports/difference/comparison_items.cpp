#include <fmt/format.h>

#include "document_facts.hpp"

namespace slicewise::reports {

std::vector<ItemFacts> comparison_items(StoredDocument& document) {
  std::vector<ItemFacts> items;
  const std::size_t options = entries_at(document, "/options");
  for (std::size_t o = 0; o < options; ++o) {
    const std::string at = fmt::format("/options/{}", o);
    ItemFacts item;
    // The number of nodes is a consequence: an option that needs more of them is still the same.
    item.name =
        document.required_text(at + "/instanceType") + " " + document.required_text(at + "/title");
    for (const char* key : {"nodes", "best", "meetsObjectives", "losesPods", "migProfile",
                            "migInstancesPerGpu", "retired", "forced"}) {
      add_setting(document, at + "/" + key, key, item);
    }
    add_pods_and_cost(document, at, item);
    const std::size_t workloads = entries_at(document, at + "/workloads");
    for (std::size_t w = 0; w < workloads; ++w) {
      add_workload_figures(document, fmt::format("{}/workloads/{}", at, w), item);
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace slicewise::reports
