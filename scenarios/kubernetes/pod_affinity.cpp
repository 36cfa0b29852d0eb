#include "manifest_reader.hpp"

namespace slicewise::scenarios::manifests {
namespace {

// Pods with one of two labels are refused by two terms: each of them has to hold. nullopt: no
// labels say which pods these are.
std::optional<std::vector<PodAffinityTerm>> terms_of(const Node& term) {
  constexpr std::size_t kMost = 100;
  const Node* selector = term.find("labelSelector");
  const bool everywhere = term.find("namespaceSelector") != nullptr;
  if (everywhere || !is_map(selector) || text_below(&term, {"topologyKey"}) != kHostname) {
    return std::nullopt;
  }
  PodAffinityTerm labels;
  labels.topology_key = kHostname;
  labels.where = term.where;
  for (const KeyValue& label : pairs_of(selector->find("matchLabels"))) {
    labels.match_labels[label.key] = label.value;
  }
  if (const Node* spaces = term.find("namespaces"); is_list(spaces)) {
    for (const NodePtr& space : spaces->items) labels.namespaces.push_back(space->text);
  }
  std::vector<PodAffinityTerm> terms = {labels};
  for (const NodeRequirement& one : requirements_of(selector->find("matchExpressions"))) {
    if (one.op != "In" || terms.size() * one.values.size() > kMost) return std::nullopt;
    std::vector<PodAffinityTerm> longer;
    for (const PodAffinityTerm& so_far : terms) {
      for (const std::string& value : one.values) {
        const auto known = so_far.match_labels.find(one.key);
        if (known != so_far.match_labels.end() && known->second != value) continue;  // nobody
        longer.push_back(so_far);
        longer.back().match_labels[one.key] = value;
      }
    }
    terms = std::move(longer);
  }
  return terms;
}

}  // namespace

PodAntiAffinity anti_affinity_of(const Node& spec) {
  PodAntiAffinity found;
  const Node* required = node_below(
      &spec, {"affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (!is_list(required)) return found;
  for (const NodePtr& item : required->items) {
    const auto terms = is_map(item.get()) ? terms_of(*item) : std::nullopt;
    if (!terms) {
      found.other = item->where;
      continue;
    }
    found.by_node.insert(found.by_node.end(), terms->begin(), terms->end());
  }
  return found;
}

}  // namespace slicewise::scenarios::manifests
