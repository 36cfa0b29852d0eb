#pragma once

#include <array>
#include <cstddef>

#include "slicewise/scenarios/placements.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "../fields/bind.hpp"

// The blocks of a scenario, one file each: their fields, bound to the structs of scenario.hpp, and
// the rules that span several of them. Wrong fields read as absent: check_fields has reported them.
namespace slicewise::scenarios {

inline constexpr auto kConsolidationWords = words_of(kConsolidations);

// Of the times in a log: below, its end is farther away than anything that is simulated.
inline constexpr double kLeastScale = 1e-6;

extern const FieldList kRandomTime;
extern const FieldList kTokenAmount;
extern const FieldList kMemoryAmount;
extern const FieldList kSlo;
extern const FieldList kPipelineSlo;
extern const FieldList kServing;
extern const FieldList kAutoscaling;
extern const FieldList kLlm;
extern const FieldList kNotebooks;
extern const FieldList kTraffic;
extern const FieldList kRecordedJobs;
extern const FieldList kSchedule;
extern const FieldList kReplicaWindow;
extern const FieldList kPipeline;
extern const FieldList kPodTemplate;
extern const FieldList kManifest;
extern const FieldList kMeasured;
extern const FieldList kGpuMemory;
extern const FieldList kStartup;
extern const FieldList kWork;
extern const FieldList kWorkload;
extern const FieldList kDevicePlugin;
extern const FieldList kMig;
extern const FieldList kMps;
extern const FieldList kVgpu;
extern const FieldList kVirtualGpu;
extern const FieldList kNos;
extern const FieldList kHami;
extern const FieldList kDaemonSet;
extern const FieldList kNodePool;
extern const FieldList kProvisioner;
extern const FieldList kGpuSoftware;
extern const FieldList kPlanning;
extern const FieldList kGoal;
extern const FieldList kIsolation;
extern const FieldList kTaint;
extern const FieldList kResourceClaim;
extern const FieldList kResourceFlavor;
extern const FieldList kClusterQueue;
extern const FieldList kPolicy;
extern const FieldList kPricing;
extern const FieldList kReplayFile;  // of a file of `kind: Replay`

// Jobs whose pods a trace lists.
inline constexpr std::string_view kTraceJobs = "TraceJobs";

inline constexpr Word kWorkloadKinds[] = {{"Job", WorkloadKind::Job},
                                          {"Deployment", WorkloadKind::Deployment},
                                          {"Service", WorkloadKind::Service},
                                          {"Notebook", WorkloadKind::Notebook},
                                          {kTraceJobs, WorkloadKind::Job}};
// The words of fields that stand in two blocks.
inline constexpr Word kMigStrategies[] = {
    {"none", MigStrategy::None}, {"single", MigStrategy::Single}, {"mixed", MigStrategy::Mixed}};
inline constexpr Word kProvenances[] = {{"Measured", Provenance::Measured},
                                        {"Catalog", Provenance::Catalog},
                                        {"Assumed", Provenance::Assumed}};
inline constexpr auto kPlacements = [] {
  std::array<Word, kPlacementWords.size()> words;
  for (std::size_t n = 0; n < words.size(); ++n) words[n] = Word(kPlacementWords[n], 0);
  return words;
}();
// Of taints and of what tolerates them.
inline constexpr Word kTaintEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

// Reports a mapping of what varies at random that is neither a mean nor a median with one of the
// upper percentiles. `path` and `where` as in check_field().
void check_random_form(const Node& node, const std::string& path, const SourceLocation& where,
                       Findings& findings);

// The figure that a key of slo limits.
std::optional<Figure> figure_called(std::string_view name);

// Rules of a workload: what contradicts its kind or another of its figures, and what its kind
// needs.
void check_workload(const Node& node, const Workload& workload, Findings& findings);
// Rules of a Service: what contradicts its kind, and figures that its kind needs.
void check_service(const Node& node, const Workload& workload, Findings& findings);
// Whether requests come with numbers of tokens, as those of a trace may.
bool brings_tokens(const Traffic& traffic);
// Reports that nothing says how many tokens the requests of a Service with llm have.
void report_missing_tokens(const Workload& workload, Findings& findings);
// What autoscaling decides of the workload around it.
void finish_scaled_workload(const Node& node, Workload& workload, Findings& findings);

// Puts workloads of alike jobs in the place of each that has a trace.
void expand_traces(Scenario& scenario, Reading& reading);

// Ways to divide a GPU that exclude each other, and settings that need another.
void check_gpu_sharing(const Node& pool, const NodePool& read, Findings& findings);
// Reports pools with nodes {min, max} to which nobody adds nodes.
void check_node_ranges(const Scenario& scenario, Findings& findings);

// Stages that are no Service of `scenario`, that stand twice in a pipeline or wait for each other,
// and Services that nobody sends requests to.
void check_pipelines(const Scenario& scenario, Findings& findings);
// Makes the Jobs of each run of a CronJob within the duration.
void expand_schedules(Scenario& scenario, const Node& spec, Findings& findings);
// As a file says it: "{start: \"0 7 * * *\", end: ...}".
std::string window_text(const ReplicaWindow& window);
// Windows of autoscalers that open or close too often within the duration.
void check_windows(const Scenario& scenario, Findings& findings);
// Claims that pods name and nobody has, and what claims cannot be beside.
void check_claims(const Scenario& scenario, const Node& spec, Findings& findings);
// Queues and flavors that nobody has, and what queues of Kueue cannot be beside.
void check_queues(const Scenario& scenario, const Node& spec, Findings& findings);
// Workloads that are parts of one object, and the order in which they start.
void check_parts(const Scenario& scenario, Findings& findings);
void finish_planning(Scenario& scenario, const Node& spec, Findings& findings);
// REQUIRES: the workloads and pipelines of `scenario` are read; assertions name them.
void parse_policies(Scenario& scenario, const Node& spec, Findings& findings);

// Labels and taints that Kubernetes would refuse. `map` is what `pool` was read from.
void check_labels(const NodePool& pool, const Node& map, Findings& findings);

}  // namespace slicewise::scenarios
