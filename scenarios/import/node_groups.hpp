#pragma once

#include <map>
#include <string>
#include <vector>

#include "flow_text.hpp"
#include "import_report.hpp"
#include "plugin_configs.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {

// The node pools of Karpenter and the node groups of eksctl that were among the files.
class NodeGroups {
 public:
  // False when the object is neither.
  bool add(const NodePtr& object, ImportReport& report);

  // Those with GPUs.
  std::vector<DraftPool> pools(const PluginConfigs& plugin, ImportReport& report) const;

  const std::string& region() const { return region_; }

  // Who adds nodes to the pools that grow, as a flow mapping; "" when none does.
  std::string provisioner() const;

 private:
  struct Group {
    DraftPool pool;
    std::string config_label;
    std::string mig_label;
    std::string class_name;
    SourceLocation where;
  };

  void add_node_pool(const Node& object, ImportReport& report);
  void take_disruption(const Node* disruption);
  void add_cluster(const Node& object, ImportReport& report);
  void add_node_group(const Node& group, ImportReport& report);
  static void take_labels(const Node* labels, Group& group);
  static void take_taints(const Node* taints, DraftPool& pool);

  std::vector<Group> groups_;
  std::map<std::string, std::string> user_data_;  // of EC2NodeClasses
  std::string region_;
  std::string disruption_;  // of the first NodePool that grows
  bool has_overlay_ = false;
  bool autoscales_ = false;  // a node group is the Cluster Autoscaler's
};

}  // namespace slicewise::scenarios
