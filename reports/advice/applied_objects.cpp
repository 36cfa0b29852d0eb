#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "slicewise/reports/advice.hpp"
#include "slicewise/scenarios/cluster_objects.hpp"

#include "../document/document_text.hpp"

// What the files of a bundle make of the objects of a cluster.
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::ClusterObject;

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
// The map of the chart's values, as it is in the cluster.
constexpr std::string_view kPluginConfigs = "nvidia-device-plugin-configs";

using ObjectName = std::tuple<std::string, std::string, std::string>;  // kind, namespace, name

// Manifests may leave the namespace out.
ObjectName name_of(const ClusterObject& object) {
  return {object.kind, object.space == "default" ? "" : object.space, object.name};
}

// Without what the API server, its controllers and kubectl fill in.
json written_part(json object) {
  object.erase("status");
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return object;
  for (const char* key :
       {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}) {
    metadata->erase(key);
  }
  const auto annotations = metadata->find("annotations");
  if (annotations == metadata->end() || !annotations->is_object()) return object;
  annotations->erase(kLastApplied);
  annotations->erase("deployment.kubernetes.io/revision");
  if (annotations->empty()) metadata->erase("annotations");
  return object;
}

// What `kubectl apply` takes away: what was applied before and is no longer said.
void forget(json& there, const json& last, const json& now) {
  if (!there.is_object() || !last.is_object() || !now.is_object()) return;
  for (const auto& [key, value] : last.items()) {
    if (!now.contains(key)) {
      there.erase(key);
    } else if (there.contains(key)) {
      forget(there[key], value, now[key]);
    }
  }
}

bool has_names(const json& list) {
  return list.is_array() && !list.empty() && std::ranges::all_of(list, [](const json& item) {
           return item.is_object() && item.contains("name");
         });
}

// As Kubernetes merges: null takes away, lists whose items have names (containers, variables) are
// merged by these, others are replaced.
void merge(json& there, const json& change) {
  if (!there.is_object()) there = json::object();
  for (const auto& [key, value] : change.items()) {
    if (value.is_null()) {
      there.erase(key);
    } else if (value.is_object()) {
      merge(there[key], value);
    } else if (has_names(value) && has_names(there.value(key, json()))) {
      json& list = there[key];
      for (const json& item : value) {
        const auto same = std::ranges::find_if(
            list, [&](const json& other) { return other["name"] == item["name"]; });
        merge(same == list.end() ? list.emplace_back() : *same, item);
      }
    } else {
      there[key] = value;
    }
  }
}

json last_applied(const json& object) {
  const json::json_pointer at("/metadata/annotations");
  if (!object.contains(at) || !object[at].is_object()) return {};
  const json text = object[at].value(kLastApplied, json());
  return text.is_string() ? json::parse(text.get<std::string>(), nullptr, false) : json();
}

// Values of the device plugin's chart: its ConfigMap has the same map.
json values_of(const std::vector<ClusterObject>& there) {
  for (const ClusterObject& object : there) {
    if (object.kind != "ConfigMap" || !object.name.ends_with(kPluginConfigs)) continue;
    return {{"config", {{"map", json::parse(object.json).value("data", json::object())}}}};
  }
  return {};
}

}  // namespace

AppliedObjects applied_objects(const std::vector<ClusterObject>& there, const ExportFiles& files) {
  std::map<ObjectName, const ClusterObject*> by_name;
  for (const ClusterObject& object : there) {
    if (object.kind.empty()) continue;  // answers of Prometheus
    by_name.emplace(name_of(object), &object);
  }
  AppliedObjects applied;
  for (const ExportFile& file : files) {
    if (!file.path.ends_with(".yaml")) continue;
    std::string before;
    std::string after;
    for (const ClusterObject& object : scenarios::cluster_objects({file.path, file.text})) {
      if (object.kind == "Kustomization" || object.kind == "Component") continue;
      const json now = json::parse(object.json);
      const auto found = by_name.find(name_of(object));
      json was;
      if (found != by_name.end()) {
        was = json::parse(found->second->json);
      } else if (file.path.ends_with("nvdp-values.yaml")) {
        was = values_of(there);
      }
      json then = found == by_name.end() ? json() : written_part(was);
      // What is in pods/ is patched, not applied.
      if (!file.path.starts_with("pods/")) forget(then, last_applied(was), now);
      merge(then, now);
      if (!was.is_null()) before += "---\n" + yaml_text(written_part(was));
      after += "---\n" + yaml_text(then);
    }
    if (!before.empty()) applied.before.push_back({file.path, before, false});
    if (!after.empty()) applied.after.push_back({file.path, after, false});
  }
  return applied;
}

}  // namespace slicewise::reports
