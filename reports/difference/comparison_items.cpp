#include <fmt/format.h>

#include "../document/documents.hpp"
#include "document_facts.hpp"

namespace slicewise::reports {

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
    add_figures(document, option, at, item);
    add_workloads(document, option, at, item);
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace slicewise::reports
