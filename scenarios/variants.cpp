#include "variants.hpp"

#include "node_values.hpp"
#include "patch.hpp"

namespace slicewise::scenarios {

std::vector<Variant> expand_variants(const NodePtr& spec, const std::vector<std::string>& set,
                                     Findings& findings, Diagnostics& notes) {
  std::vector<Variant> variants;
  const Node* list = blocks(spec.get(), "variants");
  if (list == nullptr) return {{"base", "", spec}};
  for (const NodePtr& item : list->items) {
    const Node* patch = block(item.get(), "patch");
    variants.push_back({text_at(item.get(), "name").value_or(""),
                        text_at(item.get(), "description").value_or(""),
                        patch == nullptr ? spec : apply_patch(spec, *patch, findings)});
  }
  (void)set;
  (void)notes;
  return variants;
}

}  // namespace slicewise::scenarios
