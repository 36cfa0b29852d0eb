#pragma once

#include <map>
#include <string>

#include "flow_text.hpp"

namespace slicewise::scenarios {

// The configurations of NVIDIA's device plugin and of mig-parted that were among the files.
class PluginConfigs {
 public:
  // Takes Helm values of the plugin or of the GPU operator, the plugin's own file, mig-parted's
  // file, or a ConfigMap that holds either. False when it is none of them.
  bool add(const NodePtr& document, Diagnostics& found);

  // The `sharing` lines of a pool whose nodes carry these labels; "" when the plugin shares
  // nothing.
  std::string sharing_for(const std::string& config_label, const std::string& mig_label) const;

 private:
  bool add_entry(const std::string& key, const Node& config);
  void add_text(const std::string& key, const Node& text, Diagnostics& found);
  const NodePtr* chosen(const std::string& label) const;

  std::map<std::string, NodePtr> configs_;  // by key
  std::map<std::string, NodePtr> mig_layouts_;
  std::string default_key_;
  std::string mig_strategy_;
};

}  // namespace slicewise::scenarios
