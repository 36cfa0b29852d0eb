#include <string>

#include "manifest_reader.hpp"

// ConfigMaps that hold files of the device plugin or of mig-parted.
namespace slicewise::scenarios::manifests {

bool read_config_map(Context& context, const Node& object) {
  const Located<std::string> name = located_below(&object, {"metadata", "name"});
  const Located<std::string> space = located_below(&object, {"metadata", "namespace"});
  const Node* data = object.find("data");
  if (!is_map(data)) return false;
  ConfigMapFile map{name.value, space.value, {}, object.where, space.where};
  bool has_configs = false;
  for (const Entry& entry : data->entries) {
    map.keys.push_back(entry.key);
    if (entry.value == nullptr || entry.value->kind != Node::Kind::Text) continue;
    const std::string& text = entry.value->text;
    const bool plugin = text.find("version:") != std::string::npos;
    if (!plugin && text.find("mig-configs") == std::string::npos &&
        text.find("sharing:") == std::string::npos) {
      continue;
    }
    const NodePtr inner = embedded_document(context, *entry.value);
    if (inner == nullptr) continue;
    if (is_mig_file(*inner)) {
      has_configs = true;
      if (entry.key != "config.yaml") {
        report(context, make_diagnostic(Code::MigManagerConfig, entry.key_where,
                                        "mig-manager reads the key config.yaml only",
                                        "rename the key to config.yaml"));
      }
      read_mig_file(context, *inner);
    } else if (is_plugin_config(*inner)) {
      has_configs = true;
      read_plugin_config(context, inner, entry.key);
    }
  }
  if (has_configs) context.files.config_maps.push_back(std::move(map));
  return has_configs;
}

}  // namespace slicewise::scenarios::manifests
