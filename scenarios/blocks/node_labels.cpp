#include <algorithm>

#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "../text/kubernetes_names.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

void check_label(std::string_view what, const std::string& key, const SourceLocation& key_where,
                 const std::string& value, const SourceLocation& value_where, Findings& findings) {
  if (!is_label_key(key)) {
    findings.add(Code::NameInvalid, key_where,
                 fmt::format("\"{}\" is no key of a {} that Kubernetes accepts", key, what),
                 "a key has at most 63 letters, digits, '-', '_' and '.', starts and ends with a "
                 "letter or digit, and may have a domain and '/' before it");
  }
  if (!value.empty() && !is_label_name(value)) {
    findings.add(Code::NameInvalid, value_where,
                 fmt::format("\"{}\" is no value of a {} that Kubernetes accepts", value, what),
                 "a value has at most 63 letters, digits, '-', '_' and '.', and starts and ends "
                 "with a letter or digit");
  }
}

}  // namespace

void check_labels(const NodePool& pool, const Node& map, Findings& findings) {
  if (const Node* labels = block(&map, "labels")) {
    for (const auto& [key, value] : pool.labels) {
      check_label("label", key, key_place(*labels, key), value, value_place(*labels, key),
                  findings);
    }
  }
  const Node* taints = blocks(&map, "taints");
  if (taints == nullptr) return;
  for (std::size_t n = 0; n < std::min(pool.taints.size(), taints->items.size()); ++n) {
    const Node& taint = *taints->items[n];
    check_label("taint", pool.taints[n].key, value_place(taint, "key"), pool.taints[n].value,
                value_place(taint, "value"), findings);
  }
}

}  // namespace slicewise::scenarios
