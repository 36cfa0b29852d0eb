#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "slicewise/scenarios/pod_file.hpp"

#include "../text/json_value.hpp"
#include "manifest_reader.hpp"

// What a pod's metadata and spec say, read once for both forms in which pods come: manifests as
// trees of nodes with their places (Value = const Node*), and the API server's lists of many
// megabytes, which are looked at without a tree and without places (Value = JsonValue).
namespace slicewise::scenarios::manifests {

inline const Node* at(const Node* node, std::string_view key) { return node_below(node, {key}); }
inline JsonValue at(JsonValue value, std::string_view key) { return value[key]; }
inline std::string text_of(const Node* node) { return text_below(node, {}); }
inline std::string text_of(JsonValue value) { return value.scalar(); }
inline bool holds(const Node* node) { return is_map(node); }
inline bool holds(JsonValue value) { return value.is_object(); }
inline bool is_scalar(const Node* node) { return node->is_scalar(); }
inline bool is_scalar(JsonValue value) { return !value.is_object() && !value.is_array(); }
inline bool says_true(const Node* node) { return is_true(node); }
inline bool says_true(JsonValue value) { return value.is_true(); }
inline SourceLocation place_of(const Node* node) {
  return node == nullptr ? SourceLocation{} : node->where;
}
inline SourceLocation place_of(JsonValue /*value*/) { return {}; }

template <class Visit>
void each_item(const Node* list, Visit&& visit) {
  if (!is_list(list)) return;
  for (const NodePtr& item : list->items) visit(static_cast<const Node*>(item.get()));
}
template <class Visit>
void each_item(JsonValue list, Visit&& visit) {
  if (!list.is_array()) return;
  for (JsonCursor items(list); items.next();) visit(items.value());
}

// visit(key, place of the key, value). What is null is not there: a patch takes it out.
template <class Visit>
void each_entry(const Node* map, Visit&& visit) {
  if (!is_map(map)) return;
  for (const Entry& entry : map->entries) {
    const Node* value = entry.value.get();
    if (value != nullptr && value->kind != Node::Kind::Null) {
      visit(entry.key, entry.key_where, value);
    }
  }
}
template <class Visit>
void each_entry(JsonValue map, Visit&& visit) {
  if (!map.is_object()) return;
  for (JsonCursor members(map); members.next();) {
    visit(members.key(), SourceLocation{}, members.value());
  }
}

// The controller among the owners, else the first of them; nothing without any.
template <class Value>
Value owner_of(Value metadata) {
  Value owner{};
  each_item(at(metadata, "ownerReferences"), [&](Value one) {
    if (!holds(owner) || says_true(at(one, "controller"))) owner = one;
  });
  return owner;
}

// "Deployment/asr"; "" without an owner.
template <class Value>
std::string maker_of(Value metadata) {
  const Value owner = owner_of(metadata);
  const Value labels = at(metadata, "labels");
  std::string kind = text_of(at(owner, "kind"));
  std::string name = text_of(at(owner, "name"));
  const std::string served = text_of(at(labels, "serving.knative.dev/service"));
  if (kind == "Revision" && !served.empty()) std::tie(kind, name) = std::pair("Service", served);
  return controller_of(std::move(kind), std::move(name), text_of(at(labels, "pod-template-hash")));
}

// Where a pod may run, of those nodes that it names.
struct WantedNodes {
  std::vector<KeyValue> selector;
  std::vector<std::vector<NodeRequirement>> affinity;  // as PodFile has it
};

template <class Value>
std::vector<NodeRequirement> requirements_in(Value list) {
  std::vector<NodeRequirement> requirements;
  each_item(list, [&](Value item) {
    NodeRequirement requirement{
        text_of(at(item, "key")), text_of(at(item, "operator")), {}, place_of(item)};
    each_item(at(item, "values"),
              [&](Value value) { requirement.values.push_back(text_of(value)); });
    requirements.push_back(std::move(requirement));
  });
  return requirements;
}

template <class Value>
std::vector<NodeRequirement> node_term_of(Value term) {
  std::vector<NodeRequirement> all = requirements_in(at(term, "matchExpressions"));
  // The one field is metadata.name, which nodes of EKS have as a label, too.
  for (NodeRequirement& field : requirements_in(at(term, "matchFields"))) {
    field.key = kHostname;
    all.push_back(std::move(field));
  }
  return all;
}

template <class Value>
WantedNodes wanted_nodes(Value spec) {
  WantedNodes wanted;
  each_entry(at(spec, "nodeSelector"),
             [&](const std::string& key, const SourceLocation& where, Value value) {
               if (!is_scalar(value)) return;
               wanted.selector.push_back({key, text_of(value), where, place_of(value)});
             });
  const Value affinity = at(at(spec, "affinity"), "nodeAffinity");
  const Value required = at(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  each_item(at(required, "nodeSelectorTerms"),
            [&](Value term) { wanted.affinity.push_back(node_term_of(term)); });
  return wanted;
}

// A resource that a container asks for.
template <class Value>
struct AskedAmount {
  struct Part {
    Value value{};
    SourceLocation key;
  };
  std::string resource;
  std::optional<Part> request;
  std::optional<Part> limit;

  bool is_extended() const { return resource.find('/') != std::string::npos; }
  // Of CPU and memory the request counts, of the rest the limit, which equals it.
  const Part& counting() const {
    if (is_extended()) return limit ? *limit : *request;
    return request ? *request : *limit;
  }
};

// Those with a limit first, each in the order of the file.
template <class Value>
std::vector<AskedAmount<Value>> asked_amounts(Value resources) {
  std::vector<AskedAmount<Value>> asked;
  for (const bool is_request : {false, true}) {
    each_entry(at(resources, is_request ? "requests" : "limits"),
               [&](const std::string& key, const SourceLocation& where, Value value) {
                 auto found = std::ranges::find(asked, key, &AskedAmount<Value>::resource);
                 if (found == asked.end()) {
                   asked.push_back({key, {}, {}});
                   found = std::prev(asked.end());
                 }
                 (is_request ? found->request : found->limit) = {value, where};
               });
  }
  return asked;
}

// Parts of the names of NVIDIA's images.
inline constexpr std::string_view kPluginImage = "k8s-device-plugin";
inline constexpr std::string_view kMigManagerImage = "k8s-mig-manager";

// As text, or as NVIDIA's operators write it.
template <class Value>
std::string image_of(Value container) {
  const Value image = at(container, "image");
  if (!holds(image)) return text_of(image);
  return text_of(at(image, "repository")) + ":" + text_of(at(image, "tag"));
}

// All but what it asks for.
template <class Value>
ContainerFile container_of(Value item, bool is_init) {
  constexpr std::size_t kLongestCommand = 100'000;
  ContainerFile container;
  container.name = text_of(at(item, "name"));
  container.image = image_of(item);
  for (const std::string_view part : {"command", "args"}) {
    each_item(at(item, part), [&](Value word) {
      if (container.command.size() >= kLongestCommand) return;
      container.command += (container.command.empty() ? "" : " ") + text_of(word);
    });
  }
  container.is_init = is_init;
  container.restarts_always = text_of(at(item, "restartPolicy")) == "Always";
  container.where = place_of(item);
  each_item(at(item, "env"), [&](Value variable) {
    const Value name = at(variable, "name");
    const Value value = at(variable, "value");
    container.env.push_back({text_of(name), text_of(value), place_of(name), place_of(value)});
  });
  return container;
}

}  // namespace slicewise::scenarios::manifests
