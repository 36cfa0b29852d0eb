#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"
#include "pod_spec.hpp"

namespace slicewise::scenarios::manifests {
namespace {

// Whether it also selects by labels that the pod itself has. The hash of its template changes
// nothing: all of its like have the same.
bool selects_by_own_labels(const Node& term) {
  if (term.find("mismatchLabelKeys") != nullptr) return true;
  const Node* keys = term.find("matchLabelKeys");
  return is_list(keys) && std::ranges::any_of(keys->items, [](const NodePtr& key) {
           return key->text != "pod-template-hash";
         });
}

// Pods with one of two labels are selected by two terms: each of them counts. nullopt: no labels
// say which pods these are.
std::optional<std::vector<PodAffinityTerm>> terms_of(const Node& term) {
  constexpr std::size_t kMost = 100;
  const Node* selector = term.find("labelSelector");
  const bool everywhere = term.find("namespaceSelector") != nullptr;
  if (everywhere || !is_map(selector) || selects_by_own_labels(term)) return std::nullopt;
  PodAffinityTerm labels;
  labels.topology_key = text_below(&term, {"topologyKey"});
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

// One of several terms will do for who refuses company, not for who wants it.
RequiredCompany required_company_of(const Node& spec) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  RequiredCompany found;
  const auto read = [&](std::string_view side, std::size_t most,
                        std::vector<PodAffinityTerm>& into) {
    for (const Node* item : items_of(node_below(&spec, {"affinity", side, kRequired}))) {
      const auto terms = is_map(item) ? terms_of(*item) : std::nullopt;
      if (!terms || terms->size() > most || text_below(item, {"topologyKey"}).empty()) {
        found.other = item->where;
      } else {
        into.insert(into.end(), terms->begin(), terms->end());
      }
    }
  };
  read("podAffinity", 1, found.affinity);
  read("podAntiAffinity", SIZE_MAX, found.anti_affinity);
  return found;
}

namespace {

std::optional<int> weight_of(const Node& preferred) {
  constexpr std::int64_t kMostWeight = 100;
  const auto weight = whole_of(text_below(&preferred, {"weight"}));
  if (!weight || *weight < 1 || *weight > kMostWeight) return std::nullopt;
  return static_cast<int>(*weight);
}

void read_preferred(const Node* list, std::vector<PodAffinityTerm>& into,
                    std::vector<SourceLocation>& others) {
  for (const Node* item : items_of(list)) {
    const Node* term = node_below(item, {"podAffinityTerm"});
    const auto weight = weight_of(*item);
    auto terms = is_map(term) ? terms_of(*term) : std::nullopt;
    if (!terms || !weight) {
      others.push_back(item->where);
      continue;
    }
    for (PodAffinityTerm& one : *terms) one.weight = *weight;
    into.insert(into.end(), terms->begin(), terms->end());
  }
}

// What Kubernetes refuses is left out, and what selects no node.
void read_preferred_nodes(const Node* list, std::vector<PreferredNodes>& into) {
  for (std::size_t i = 0; is_list(list) && i < list->items.size(); ++i) {
    const Node& item = *list->items[i];
    const auto weight = weight_of(item);
    PreferredNodes nodes;
    nodes.requirements = node_term_of(item.find("preference"));
    nodes.where = item.where;
    const bool is_sound = std::ranges::all_of(nodes.requirements, [](const NodeRequirement& one) {
      return !one.key.empty() && mistake_in(one).empty();
    });
    if (!weight || nodes.requirements.empty() || !is_sound) continue;
    nodes.weight = *weight;
    into.push_back(std::move(nodes));
  }
}

// nullopt: more than labels say which pods and nodes count.
std::optional<TopologySpread> spread_of(const Node& constraint) {
  constexpr std::int64_t kMostSkew = 2'147'483'647;
  const auto terms = terms_of(constraint);
  const auto skew = whole_of(text_below(&constraint, {"maxSkew"}));
  const auto domains = whole_of(text_below(&constraint, {"minDomains"}));
  const bool has_one = terms && terms->size() == 1 && skew && *skew >= 1 && *skew <= kMostSkew;
  if (!has_one) return std::nullopt;
  TopologySpread spread;
  spread.max_skew = static_cast<int>(*skew);
  spread.topology_key = terms->front().topology_key;
  spread.when_unsatisfiable = text_below(&constraint, {"whenUnsatisfiable"});
  spread.match_labels = terms->front().match_labels;
  spread.where = constraint.where;
  if (domains && *domains > 1) {
    spread.min_domains = static_cast<int>(std::min(*domains, kMostSkew));
  }
  spread.node_affinity_policy = text_below(&constraint, {"nodeAffinityPolicy"});
  spread.node_taints_policy = text_below(&constraint, {"nodeTaintsPolicy"});
  return spread;
}

}  // namespace

ReadPreferences preferences_of(const Node& spec) {
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  ReadPreferences found;
  read_preferred(node_below(&spec, {"affinity", "podAffinity", kPreferred}), found.read.affinity,
                 found.others);
  read_preferred(node_below(&spec, {"affinity", "podAntiAffinity", kPreferred}),
                 found.read.anti_affinity, found.others);
  read_preferred_nodes(node_below(&spec, {"affinity", "nodeAffinity", kPreferred}),
                       found.read.nodes);
  const Node* spreads = spec.find("topologySpreadConstraints");
  for (const Node* item : items_of(spreads)) {
    if (auto spread = spread_of(*item)) {
      found.read.spread.push_back(*std::move(spread));
    } else {
      found.others.push_back(item->where);
    }
  }
  return found;
}

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

std::set<std::string> selected_labels(std::span<const PodAffinityTerm> affinity,
                                      std::span<const PodAffinityTerm> anti_affinity,
                                      const PodPreferences& preferences) {
  std::set<std::string> keys;
  const auto add = [&](const auto& rules) {
    for (const auto& rule : rules) {
      for (const auto& [key, value] : rule.match_labels) keys.insert(key);
    }
  };
  add(affinity);
  add(anti_affinity);
  add(preferences.affinity);
  add(preferences.anti_affinity);
  add(preferences.spread);
  return keys;
}

}  // namespace slicewise::scenarios
