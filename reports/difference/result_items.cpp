#include <fmt/format.h>

#include "document_facts.hpp"

namespace slicewise::reports {
namespace {

void add_pool_settings(StoredDocument& document, const std::string& pointer, ItemFacts& item) {
  const std::string name = document.required_text(pointer + "/name");
  for (const char* key :
       {"instanceType", "strategy", "nodes", "gpusPerNode", "purchaseOption", "region",
        "usdPerHour", "priceSource", "migConfig", "vgpusPerGpu", "turnSeconds", "switchCostSeconds",
        "activeThreadsRatio", "clientMemoryLimitBytes"}) {
    add_setting(document, pointer + "/" + key, fmt::format("nodePools.{}.{}", name, key), item);
  }
  const nlohmann::json::json_pointer advertised(pointer + "/advertised");
  if (!document.root().contains(advertised) || !document.root().at(advertised).is_object()) return;
  std::string offers;
  for (const auto& [resource, count] : document.root().at(advertised).items()) {
    if (!count.is_number()) continue;
    offers += fmt::format("{}{} x {}", offers.empty() ? "" : ", ", count.dump(), resource);
  }
  item.settings.emplace_back(fmt::format("nodePools.{}.advertised", name), offers);
}

}  // namespace

std::vector<ItemFacts> result_items(StoredDocument& document) {
  std::vector<ItemFacts> items;
  const std::size_t variants = entries_at(document, "/variants");
  for (std::size_t v = 0; v < variants; ++v) {
    const std::string at = fmt::format("/variants/{}", v);
    ItemFacts item;
    item.name = document.required_text(at + "/name");
    add_pods_and_cost(document, at, item);
    const std::size_t workloads = entries_at(document, at + "/workloads");
    for (std::size_t w = 0; w < workloads; ++w) {
      add_workload_figures(document, fmt::format("{}/workloads/{}", at, w), item);
    }
    const std::size_t pools = entries_at(document, at + "/nodePools");
    for (std::size_t p = 0; p < pools; ++p) {
      add_pool_settings(document, fmt::format("{}/nodePools/{}", at, p), item);
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace slicewise::reports
