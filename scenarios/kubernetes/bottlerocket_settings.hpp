#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

#include "../text/document.hpp"
#include "toml_reader.hpp"

namespace slicewise::scenarios::manifests {

// A setting of Bottlerocket, as user data in TOML or as eksctl's bottlerocket.settings has it.
struct BottlerocketSetting {
  std::string path;  // below `settings`; keys with dots in quotes: mig.profile."a100.40gb"
  TomlValue::Kind kind = TomlValue::Kind::Other;
  std::string value;
  SourceLocation where;
};

// Of the device plugin, all paths below this.
inline constexpr std::string_view kBottlerocketPlugin = "kubelet-device-plugins.nvidia.";

std::vector<BottlerocketSetting> bottlerocket_settings(const SourceText& toml, Diagnostics& found);
// `settings` may be nullptr.
std::vector<BottlerocketSetting> bottlerocket_settings(const Node* settings);

// The value of kubelet-device-plugins.nvidia.<key>; "" when it is not set.
std::string plugin_setting(const std::vector<BottlerocketSetting>& settings, std::string_view key);

}  // namespace slicewise::scenarios::manifests
