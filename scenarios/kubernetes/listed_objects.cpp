#include "slicewise/scenarios/cluster_files.hpp"

#include "pod_spec.hpp"

// What to ask kubectl for next, by what it listed.
namespace slicewise::scenarios {
namespace {

template <class Visit>
void each_listed(const SourceText& list, Visit&& visit) {
  const auto values = read_json(list);
  if (values && !values->empty()) manifests::each_item(values->front()["items"], visit);
}

bool runs(JsonValue pod_spec, std::string_view image) {
  bool found = false;
  manifests::each_item(pod_spec["containers"], [&](JsonValue container) {
    found = found || manifests::image_of(container).find(image) != std::string::npos;
  });
  return found;
}

}  // namespace

std::set<std::pair<std::string, std::string>> config_maps_of_gpu_software(const SourceText& list) {
  std::set<std::pair<std::string, std::string>> maps;
  each_listed(list, [&](JsonValue object) {
    const JsonValue spec = object["spec"]["template"]["spec"];
    if (!runs(spec, manifests::kPluginImage) && !runs(spec, manifests::kMigManagerImage)) return;
    const std::string space = object["metadata"]["namespace"].scalar();
    manifests::each_item(spec["volumes"], [&](JsonValue volume) {
      const std::string name = volume["configMap"]["name"].scalar();
      if (!name.empty() && !space.empty()) maps.emplace(space, name);
    });
  });
  return maps;
}

std::optional<std::pair<std::string, std::string>> pod_that_runs(std::string_view image,
                                                                 const SourceText& list) {
  std::optional<std::pair<std::string, std::string>> pod;
  each_listed(list, [&](JsonValue object) {
    if (pod || object["kind"].raw_scalar() != "Pod" || !runs(object["spec"], image)) return;
    pod.emplace(object["metadata"]["namespace"].scalar(), object["metadata"]["name"].scalar());
  });
  return pod;
}

}  // namespace slicewise::scenarios
