#pragma once

#include <string_view>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"

#include "import_report.hpp"
#include "scenario_draft.hpp"

// How nodes share their GPUs, by the files of a cluster and by what nodes that are there offer.
namespace slicewise::scenarios {

class NodeSharing {
 public:
  NodeSharing(const ClusterFiles& cluster, const ImportOptions& options, ImportReport& report,
              const ScenarioDraft& draft)
      : cluster_(cluster), options_(options), report_(report), draft_(draft) {}

  // As files and labels say it.
  DraftSharing of(const NodeGroupFile& group) const;
  // Of nodes that are there: what they offer, they have, whatever somebody wrote about them.
  void take_live(const NodeGroupFile& node, DraftPool& pool) const;
  // By the device plugin, where nodes carry these labels. `strategy_label`: what GPU Feature
  // Discovery says of a node that is there.
  DraftSharing by_plugin(const KeyValue* config_label, std::string_view mig_label,
                         std::string_view strategy_label) const;

 private:
  DraftSharing by_nos(const NodeGroupFile& group) const;

  const ClusterFiles& cluster_;
  const ImportOptions& options_;
  ImportReport& report_;
  const ScenarioDraft& draft_;  // its workloads, which ask for slices
};

}  // namespace slicewise::scenarios
