#include <algorithm>

#include "slicewise/scenarios/cluster_files.hpp"

#include "../text/json_value.hpp"
#include "manifest_reader.hpp"
#include "pod_spec.hpp"

// What to ask kubectl for next, by what it listed.
namespace slicewise::scenarios {

namespace {

// Lists have many megabytes: an object at a time.
template <class Visit>
void each_listed(const SourceText& list, Visit&& visit) {
  const auto values = read_json(list);
  if (!values || values->empty()) return;
  JsonPlaces places(list);
  for (JsonCursor items(values->front()["items"]); items.next();) {
    visit(*tree_of(items.value(), places));
  }
}

bool runs(const Node* pod_spec, std::string_view image) {
  return std::ranges::any_of(manifests::items_of(manifests::node_below(pod_spec, {"containers"})),
                             [&](const Node* container) {
                               return manifests::is_map(container) &&
                                      manifests::image_of(*container).find(image) !=
                                          std::string::npos;
                             });
}

}  // namespace

std::set<std::pair<std::string, std::string>> config_maps_of_gpu_software(const SourceText& list) {
  std::set<std::pair<std::string, std::string>> maps;
  each_listed(list, [&](const Node& object) {
    const Node* spec = manifests::node_below(&object, {"spec", "template", "spec"});
    if (!runs(spec, manifests::kPluginImage) && !runs(spec, manifests::kMigManagerImage)) return;
    const std::string space = manifests::text_below(&object, {"metadata", "namespace"});
    for (const Node* volume : manifests::items_of(manifests::node_below(spec, {"volumes"}))) {
      const std::string name = manifests::text_below(volume, {"configMap", "name"});
      if (!name.empty() && !space.empty()) maps.emplace(space, name);
    }
  });
  return maps;
}

std::optional<std::pair<std::string, std::string>> pod_that_runs(std::string_view image,
                                                                 const SourceText& list) {
  std::optional<std::pair<std::string, std::string>> pod;
  each_listed(list, [&](const Node& object) {
    if (pod || manifests::text_below(&object, {"kind"}) != "Pod" ||
        !runs(object.find("spec"), image))
      return;
    pod.emplace(manifests::text_below(&object, {"metadata", "namespace"}),
                manifests::text_below(&object, {"metadata", "name"}));
  });
  return pod;
}

}  // namespace slicewise::scenarios
