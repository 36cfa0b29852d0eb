#include <fmt/format.h>

#include "slicewise/sim/result_record.hpp"

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

}  // namespace slicewise::reports
