#pragma once

#include "slicewise/scenarios/cluster_files.hpp"

#include "import_report.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {

// The queues of Kueue in which Jobs wait: their ClusterQueues with all of their cohorts, and the
// flavors that these have quotas of.
class QueueImport {
 public:
  QueueImport(const ClusterFiles& files, ImportReport& report) : files_(files), report_(report) {}

  // What of it nobody can simulate is remarked.
  void take(const PodFile& pod, DraftWorkload& workload);
  void add_to(ScenarioDraft& draft);

 private:
  void note(std::string_view what, const SourceLocation& where);
  static void name_parts(ScenarioDraft& draft);
  void take_flavors(const ClusterQueue& queue, DraftWorkload& workload);
  bool is_of_kai(const PodFile& pod, DraftWorkload& workload);
  void add_flavors(const ClusterQueue& queue, ScenarioDraft& draft);

  const ClusterFiles& files_;
  ImportReport& report_;
};

}  // namespace slicewise::scenarios
