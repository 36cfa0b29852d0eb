#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"

#include "import_report.hpp"
#include "scenario_draft.hpp"

// What a cluster holds beside what people wrote: nodes, and pods that controllers made.
namespace slicewise::scenarios {

// Pods of one kind, and how many of them there are where that is not their object's to say.
struct LivePods {
  PodFile file;
  std::int64_t pods = 0;  // 0: as many as the object says
};

// Each pod once: none that has ended, or that an object makes which is here as well; the pods of
// any other controller together, under its name.
std::vector<LivePods> pods_that_run(const ClusterFiles& cluster, ImportReport& report);

// The labels by which pods choose nodes, and which values their selectors name.
using SelectedLabels = std::map<std::string, std::set<std::string>>;

// Nodes with GPUs that are alike: of one group or NodePool, type, purchase, sharing, CPUs and
// places for pods, and labels by which pods choose.
struct LiveNodes {
  DraftPool pool;                        // but for its sharing, where labels choose that
  const NodeGroupFile* first = nullptr;  // of them
  std::string node_pool;                 // that started them; "" none
};

// Nodes that take pods. Of the labels that programs set a pool has those that are `selected`.
std::vector<LiveNodes> nodes_that_are_there(const ClusterFiles& cluster,
                                            const SelectedLabels& selected,
                                            const ImportOptions& options, ImportReport& report);

// The settings of the device plugin that GPU Feature Discovery tells of.
DraftSharing labelled_sharing(const NodeGroupFile& node);

// How a node shares its GPUs: as `files` say, its labels or what it offers (allocatable), whichever
// agrees with what it offers.
struct LiveSharing {
  DraftSharing sharing;
  bool is_guessed = false;           // by the numbers of what it offers alone
  bool is_other = false;             // than the files or labels say
  std::optional<std::int64_t> gpus;  // of those that it has it offers so many
};
LiveSharing sharing_of(const NodeGroupFile& node, DraftSharing files, const std::string& type,
                       const ImportOptions& options);

// Whether it says what it offers, and no GPU is there.
bool offers_no_gpu(const NodeGroupFile& node);

}  // namespace slicewise::scenarios
