#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/world.hpp"

// From the raw records of the replications to what is reported. Each function but merge() makes one
// part of the result; all take at least one replication, all of the same world.
namespace slicewise::sim {

VariantResult merge(const World& world, std::span<const Replication> replications);

// expected_errors.cpp: known before the run.
std::vector<models::ExpectedError> expected_errors(const World& world);
std::vector<UnsureGain> unsure_gains(const World& world, std::span<const Replication> replications);
// ... in one pool, whose GPUs are shared; and what is known there of one of its workloads.
models::ExpectedError expected_error(const World& world, std::size_t pool);
// Of p99 of requests; without rows where they do not share or nobody measured who knew as much.
models::ExpectedError expected_tail_error(const World& world, std::size_t pool);
// TAIL_NEAR_LIMIT, where the limit of a workload's p99 lies within that error; else nullopt.
std::optional<Diagnostic> near_limit(const World& world, const std::string& workload,
                                     std::string_view objective,
                                     const scenarios::FigureValue& value,
                                     const scenarios::FigureValue& limit);
models::Evidence evidence_of(const World& world, const WorkloadModel& model, std::size_t pool);

// merge_nodes.cpp: pools and nodes.
NodePoolResult pool_result(const PoolModel& pool);
// Of a pool whose nodes come and go; nullopt for others.
std::optional<NodeDynamics> node_dynamics(const World& world, std::size_t pool,
                                          std::span<const Replication> replications);
std::optional<NodeStartUpFigures> node_start_up(std::span<const Replication> replications);
void add_nodes(const World& world, std::span<const Replication> replications,
               VariantResult& result);

// merge_cost.cpp: the bill.
Cost cost_result(const World& world, std::span<const Replication> replications);

// The bill by workload, of all replications together: see models/MODELS.md, "The bill by workload".
class WorkloadBills {
 public:
  WorkloadBills(const World& world, std::span<const Replication> replications);

  Usd whole() const { return whole_; }
  Usd idle() const;  // what no pod holds, mean per replication; likewise
  Usd switching() const { return {switching_.nano / replications_}; }
  // What each workload holds and its part of the rest, mean per replication, without unit costs.
  std::vector<BillPart> parts() const;
  // Its part of an amount that all pay, by what it pays of its nodes; nullopt when nobody held any.
  std::optional<Usd> of(std::size_t workload, Usd amount) const;
  // Its part of the bill after the warm-up, for what is counted there; likewise.
  std::optional<Usd> observed(std::size_t workload) const;
  // ... of several together: all of it where nobody else pays.
  std::optional<Usd> observed(std::span<const std::size_t> workloads) const;

 private:
  std::int64_t replications_;
  Usd whole_;
  Usd observed_;  // after the warm-up
  Usd switching_;
  std::vector<Usd> held_;           // by workload
  std::vector<Usd> paid_;           // of its nodes: what it holds, and of the rest there
  std::vector<Usd> paid_observed_;  // after the warm-up
};

// Gives each workload its part of the bill and the prices of what it did.
void price_workloads(const World& world, std::span<const Replication> replications,
                     VariantResult& result);
// merge_workloads.cpp: everything about one workload, its objectives included.
WorkloadResult workload_result(const World& world, std::size_t workload,
                               std::span<const Replication> replications);

// Jobs of these workloads that wait for a quota; nullopt: they are in no queue. REQUIRES: some.
std::optional<QuotaFigures> quota_figures(const World& world,
                                          std::span<const std::size_t> workloads,
                                          std::span<const Replication> replications);

// bound_by.cpp: what kept the workloads from running as fast as alone; "" when little did.
std::string_view bound_by(const World& world, const WorkloadResult& result,
                          std::span<const std::size_t> workloads,
                          std::span<const Replication> replications);

// merge_traces.cpp: puts one result in the place of those of the workloads of each trace.
// REQUIRES: `result` has those of all workloads of the world, in its order, priced.
void fold_traces(const World& world, std::span<const Replication> replications,
                 VariantResult& result);

// Numbers that were recorded as times: how often `unit` is in them.
std::optional<NumberSummary> in_units(const std::optional<TimeSummary>& times, Duration unit);

// merge_placement.cpp: who sat where. Of a pod as records number them.
std::size_t workload_of_pod(const World& world, std::uint32_t pod);
// The pods on a GPU or MIG instance when most were there.
std::vector<std::string> pods_at_fullest(const World& world, const DomainRecord& domain);
std::vector<GpuNeighbour> gpu_neighbours_of(const World& world, std::size_t workload,
                                            std::span<const Replication> replications);
// nullopt where it is no matter, or nothing but chance tells the replications apart.
std::optional<PlacementSpread> placement_spread(const World& world, std::size_t workload,
                                                std::span<const Replication> replications);

// merge_requests.cpp. A pipeline is shown as one more workload.
WorkloadResult pipeline_result(const World& world, std::size_t pipeline,
                               std::span<const Replication> replications);
// The figures of requests: counts, latency, queueing and goodput. `records` holds one of each
// replication.
void add_requests(const World& world, std::span<const Replication> replications,
                  std::span<const RequestRecord* const> records, WorkloadResult& result);

// Figures that only some workloads have; nullopt for the others.
std::optional<NotebookFigures> notebook_figures(const World& world, std::size_t workload,
                                                std::span<const Replication> replications);

// Of pods with several GPUs, whole or replicas of shared ones; nullopt for the others.
std::optional<GangFigures> gang_figures(const World& world, std::size_t workload,
                                        std::span<const Replication> replications);

// The quantile of a request's latency that an objective limits; nullopt: it limits none.
std::optional<double> latency_quantile(scenarios::Figure figure);

// So much in the unit of `value`: seconds, of one, per second.
scenarios::FigureValue in_unit_of(const scenarios::FigureValue& value, double amount);

// Objectives of one workload or pipeline against what was found.
std::vector<ObjectiveResult> judge_objectives(const World& world, std::size_t workload,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result);
std::vector<ObjectiveResult> judge_objectives(const PipelineModel& model, std::size_t pipeline,
                                              std::span<const Replication> replications,
                                              const WorkloadResult& result);

// ... of all jobs of a trace, or the worst of those that they are judged for by themselves.
std::vector<ObjectiveResult> judge_objectives(const World& world, const TraceModel& trace,
                                              std::span<const Replication> replications,
                                              const RecordedFigures& recorded);

// Gives figures that have no interval of their own one by how they scatter over the replications;
// `objectives_of` judges the same objectives of one alone. Of what is judged for each user, that is
// the worst of each replication, whoever it was.
using ObjectivesOf = std::function<std::vector<ObjectiveResult>(std::span<const Replication>)>;
void add_scatter(std::vector<ObjectiveResult>& judged, std::span<const Replication> replications,
                 const ObjectivesOf& objectives_of);

// Kernels run, share of all GPU time; an instance counts with its share of the GPU.
double gpu_busy_ratio(const VariantResult& result);

// What to say of an objective that was not met.
Diagnostic missed_objective(const std::string& workload, const ObjectiveResult& judged,
                            const SourceLocation& where);

// Warnings that only the run could find: memory, waiting, host CPU, requests; then, once traces are
// folded and policies judged, those about objectives, policies and a run without an end.
Diagnostics run_findings(const World& world, std::span<const Replication> replications,
                         const VariantResult& result);
void verdict_findings(const World& world, std::span<const Replication> replications,
                      const VariantResult& result, Diagnostics& found);
// Of those, the ones about requests (findings_requests.cpp).
void request_findings(const World& world, std::span<const Replication> replications,
                      const VariantResult& result, Diagnostics& found);

// ... about pods that stayed Pending for a while (findings_pending.cpp),
void pending_finding(const World& world, std::span<const Replication> replications,
                     const VariantResult& result, Diagnostics& found);

// ... and about nodes that come and go, or never change (findings_nodes.cpp).
void node_findings(const World& world, std::span<const Replication> replications,
                   const VariantResult& result, Diagnostics& found);

// As the AWS price calculator counts it.
inline constexpr Duration kMonth = hours(730);

template <class Get>
double mean_over(std::span<const Replication> replications, Get get) {
  double sum = 0;
  for (const Replication& r : replications) sum += static_cast<double>(get(r));
  return sum / static_cast<double>(replications.size());
}

inline double ratio(Duration part, Duration whole) {
  return whole.ns == 0 ? 0 : static_cast<double>(part.ns) / static_cast<double>(whole.ns);
}

inline double per_second(std::int64_t count, Duration over) {
  return over.ns <= 0 ? 0 : static_cast<double>(count) / to_seconds(over);
}

}  // namespace slicewise::sim
