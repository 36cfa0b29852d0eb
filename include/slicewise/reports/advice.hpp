#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/cluster_objects.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/plan.hpp"

// What `slicewise advise` says of a cluster: how far a simulation is from what was recorded, and
// what would be cheaper. Pure functions: same advice, same bytes.
namespace slicewise::reports {

// A figure of a workload that both the cluster and the simulation have.
struct Deviation {
  std::string workload;
  std::string space;
  std::string figure;   // "gpuUse", "wait", "latencyP95"
  double recorded = 0;  // a share of a GPU, or seconds
  double simulated = 0;
  bool is_time = false;

  // (simulated - recorded) / recorded; of what was recorded as zero the difference itself.
  double off() const;
};

// `result`: JSON of one variant. Workloads and figures that only one of them has are left
// out.
std::vector<Deviation> deviations(const std::vector<scenarios::RecordedWorkload>& recorded,
                                  std::string_view result);

// Pods that have a node in the cluster (`on_nodes`, by workload) and find none in the simulation,
// which places all anew: a sentence for each workload, "" without any.
std::string unplaced_pods(const std::map<std::string, std::int64_t>& on_nodes,
                          std::string_view result);

struct Advice {
  std::string scenario;            // its name
  std::string recorded_from;       // "http://prometheus:9090, 2024-06-10T...": "" nothing
  std::string how_to_record;       // where nothing is: what to call, "" nobody knows
  std::vector<std::string> notes;  // of the import
  // Workloads of whose load and GPU time nothing is known, and pools that were made up.
  std::vector<std::string> placeholders;
  std::vector<std::string> assumed_pools;
  std::int64_t read_at_unix_s = 0;  // when the cluster was read
  std::vector<Deviation> deviations;
  std::string plan_markdown;
  std::string problem;                // that the plan has, or why there is none; "" none
  std::string no_path;                // why the plan says nothing of the way there; "" it does
  bool keeps_as_is = false;           // no option is better than what there is
  std::vector<std::string> commands;  // that make the files again, in the directory
  ExportFiles files;                  // of the directory, beside the advice itself
  std::vector<scenarios::NodeGroup> groups;     // that there are
  std::optional<scenarios::Scenario> option{};  // that there are files of
};

// README.md of the directory.
std::string advice_text(const Advice& advice);

// OpenMetrics text: what today's pools and the best option cost, how far the simulation is off, and
// when the cluster was read. Nothing is the best as long as it follows from placeholders, and pools
// that were made up are not today's.
std::string advice_metrics(const sim::Plan& plan, const Advice& advice);

// A Grafana dashboard over these metrics, to be imported as it is: what runs against what would be
// cheapest.
std::string advice_dashboard();

// Objects of a cluster by the files that change them, without what the API server fills in.
struct AppliedObjects {
  ExportFiles before;  // as they are there; of a chart's values what its ConfigMap has
  ExportFiles after;   // as they are once the files are applied; of pods/, once they are patched
};
AppliedObjects applied_objects(const std::vector<scenarios::ClusterObject>& there,
                               const ExportFiles& files);

// Files that are written anew, by path, as `diff -u` shows them; "" where all are as they were.
std::string files_diff(const ExportFiles& before, const ExportFiles& after,
                       const std::string& before_folder, const std::string& after_folder);

}  // namespace slicewise::reports
