#pragma once

#include <map>
#include <string>

#include "../text/document.hpp"
#include "import_report.hpp"
#include "pod_record.hpp"

namespace slicewise::scenarios {

// A time of the API server in ns since 1970; nullopt when it is absent or none.
PodRecord::Time time_of(const Node* text);

// What the events of a cluster say about its pods. They are kept for an hour, so as a rule they are
// few.
class PodEvents {
 public:
  // An Event of v1 or events.k8s.io.
  void add(const Node& event, ImportReport& report);

  // Fills in what the pod does not know of itself.
  void complete(PodRecord& pod, const std::string& uid, ImportReport& report);

  // Counts the pods that no list has: what they asked for is not known.
  void report_unknown_pods(ImportReport& report) const;

 private:
  struct Facts {
    PodRecord::Time scheduled;
    PodRecord::Time killed;
    bool failed_scheduling = false;
    bool preempted = false;
    bool is_listed = false;
    SourceLocation where;
  };
  std::map<std::string, Facts> by_uid_;
};

}  // namespace slicewise::scenarios
