#include "slicewise/scenarios/cluster_objects.hpp"

#include <nlohmann/json.hpp>

#include "manifest_reader.hpp"

namespace slicewise::scenarios {
namespace {

using nlohmann::json;

json json_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Map: {
      json object = json::object();
      for (const Entry& entry : node.entries) object[entry.key] = json_of(*entry.value);
      return object;
    }
    case Node::Kind::List: {
      json list = json::array();
      for (const NodePtr& item : node.items) list.push_back(json_of(*item));
      return list;
    }
    case Node::Kind::Null:
      return nullptr;
    case Node::Kind::Text:
      return node.text;
    default: {
      json value = json::parse(node.text, nullptr, false);
      return value.is_discarded() ? json(node.text) : value;
    }
  }
}

void add(const Node& object, std::vector<ClusterObject>& objects) {
  if (!manifests::is_map(&object)) return;
  const std::string kind = manifests::text_below(&object, {"kind"});
  const Node* items = object.find("items");
  if (manifests::is_list(items) && (kind.empty() || kind.ends_with("List"))) {
    for (const NodePtr& item : items->items) add(*item, objects);
    return;
  }
  objects.push_back({kind, manifests::text_below(&object, {"metadata", "namespace"}),
                     manifests::text_below(&object, {"metadata", "name"}), json_of(object).dump()});
}

}  // namespace

std::vector<ClusterObject> cluster_objects(const SourceText& source) {
  std::vector<ClusterObject> objects;
  Diagnostics found;  // said by who reads what they mean
  for (const NodePtr& document : read_documents(source, found)) add(*document, objects);
  return objects;
}

}  // namespace slicewise::scenarios
