#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"

#include "import_report.hpp"
#include "node_sharing.hpp"
#include "scenario_draft.hpp"

// The node pools of a scenario that `import k8s` makes: of nodes that are there, of node groups and
// of NodePools.
namespace slicewise::scenarios {

// Where the nodes are, by eksctl's file, the nodes' own labels, the zones of NodePools and of what
// pods select; "" when nothing says it.
std::string region_of(const ClusterFiles& cluster);

class ClusterPools {
 public:
  ClusterPools(const ClusterFiles& cluster, const ImportOptions& options, ImportReport& report,
               ScenarioDraft& draft)
      : cluster_(cluster),
        options_(options),
        report_(report),
        draft_(draft),
        sharing_(cluster, options, report, draft) {}

  // Those of the files, for workloads that the draft has.
  void add();
  // Its nodes are among the files: there are no others.
  bool are_live() const { return is_live_; }
  const NodeSharing& sharing() const { return sharing_; }
  // Who adds nodes to the pools that grow; nullopt when none does.
  std::optional<Provisioner> provisioner() const;

 private:
  void add_nodes();
  void add_group(const NodeGroupFile& group);
  void add_pools_of(const NodeGroupFile& group);
  // A pool for each of the types and purchases that a NodePool leaves open.
  void add_choices(const NodeGroupFile& group, DraftPool pool);
  bool pods_choose_purchase() const;
  void start_of_type(const NodeGroupFile& group, const std::string& type, DraftPool& pool) const;
  void grow_by_karpenter(const NodeGroupFile& group, std::int64_t most, DraftPool& pool);
  void take_node_pool(const NodeGroupFile& group, DraftPool& pool);
  void take_node_group(const NodeGroupFile& group, DraftPool& pool);
  // Where pods have their GPUs by claim and none of the device plugin, the nodes have the driver.
  void give_to_driver();

  const ClusterFiles& cluster_;
  const ImportOptions& options_;
  ImportReport& report_;
  ScenarioDraft& draft_;
  NodeSharing sharing_;
  bool is_live_ = false;                  // its nodes are here
  std::set<std::string> started_;         // NodePools that have nodes
  std::optional<Provisioner> karpenter_;  // by the first NodePool that grows
  bool autoscales_ = false;               // a node group is the Cluster Autoscaler's
};

}  // namespace slicewise::scenarios
