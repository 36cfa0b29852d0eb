#include "variants.hpp"

#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "../fields/node_values.hpp"
#include "settings.hpp"

namespace slicewise::scenarios {
namespace {

NodePtr without(const NodePtr& spec, std::initializer_list<std::string_view> keys) {
  auto result = std::make_shared<Node>(*spec);
  for (const std::string_view key : keys) {
    std::erase_if(result->entries, [&](const Entry& entry) { return entry.key == key; });
  }
  return result;
}

}  // namespace

std::vector<Variant> expand_variants(const NodePtr& spec, const std::vector<std::string>& set,
                                     Findings& findings, Diagnostics& notes) {
  NodePtr base = spec;
  Settings settings(findings);
  settings.apply(base, set);
  const NodePtr swept = base;
  base = without(base, {"variants", "sweep"});
  std::vector<Variant> variants;
  if (const Node* list = blocks(spec.get(), "variants")) {
    for (const NodePtr& item : list->items) {
      const Node* patch = block(item.get(), "patch");
      const NodePtr patched = patch == nullptr ? base : apply_patch(base, *patch, findings);
      const std::string name = text_at(item.get(), "name").value_or("");
      variants.push_back({name, text_at(item.get(), "description").value_or(""),
                          without(settings.apply_again(patched, name), {"variants", "sweep"})});
    }
    settings.report_without_place(variants.size(), notes);
  } else {
    variants.push_back({"base", "", base});
  }
  const Entry* sweep = swept->entry("sweep");
  if (sweep == nullptr || sweep->value->kind != Node::Kind::Map) return variants;
  return expand_sweep(std::move(variants), *sweep, findings, notes);
}

}  // namespace slicewise::scenarios
