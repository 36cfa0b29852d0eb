#include "slicewise/sim/result_record.hpp"

#include <algorithm>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/scenarios/policy.hpp"
#include "slicewise/sim/isolation.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using Role = DiffFigure::Role;

// What is not stored but follows from what is.

std::string_view unit_of_limit(const ObjectiveResult& o) { return unit_word(o.limit); }

bool is_partition(const GpuResult& gpu) { return !gpu.partition.empty(); }

bool has_place(const Diagnostic& d) { return d.where.line > 0; }

std::string_view severity_of_policy(const PolicyResult& p) { return p.deny ? "Deny" : "Warn"; }

bool has_length(const VariantResult& v) { return v.makespan.count > 0; }

bool nodes_come_and_go(const VariantResult& v) {
  return std::ranges::any_of(v.node_pools,
                             [](const NodePoolResult& pool) { return pool.dynamics.has_value(); });
}

bool is_split(const VariantResult& v) { return !v.cost.split.rule.empty(); }

bool has_prices(const Stamp& s) { return !s.price_date.empty(); }

// For policies.

bool all_pass(const WorkloadResult& workload) {
  return std::ranges::all_of(workload.objectives, &ObjectiveResult::pass);
}

std::optional<bool> objectives_pass(const WorkloadResult& workload) {
  return workload.objectives.empty() ? std::nullopt : std::optional(all_pass(workload));
}

std::optional<bool> all_objectives_pass(const VariantResult& v) {
  const bool none = std::ranges::all_of(
      v.workloads, [](const WorkloadResult& w) { return w.objectives.empty(); });
  return none ? std::nullopt : std::optional(std::ranges::all_of(v.workloads, all_pass));
}

double node_count_of(const VariantResult& v) {
  int nodes = 0;
  for (const NodePoolResult& pool : v.node_pools) nodes += pool.nodes;
  return nodes;
}

// Each once.
template <std::string NodePoolResult::*Word>
std::vector<std::string> words_of_pools(const VariantResult& v) {
  std::vector<std::string> words;
  for (const NodePoolResult& pool : v.node_pools) {
    if (std::ranges::find(words, pool.*Word) == words.end()) words.push_back(pool.*Word);
  }
  return words;
}

// A plan knows it, no single result.
std::optional<double> no_headroom(const VariantResult&) { return std::nullopt; }

int strength(Isolation::Memory level) { return static_cast<int>(level); }
int strength(Isolation::Compute level) { return static_cast<int>(level); }
int strength(Isolation::Fault level) {
  if (level == Isolation::Fault::Shared) return 0;
  return level == Isolation::Fault::Hardware ? 2 : 1;
}

// Of the pool that has least of it.
template <auto Level>
std::optional<std::string> weakest(const VariantResult& v) {
  if (v.node_pools.empty()) return std::nullopt;
  const auto rank = [](const NodePoolResult& p) { return strength(isolation_of(p).*Level); };
  const auto pool = std::ranges::min_element(v.node_pools, {}, rank);
  return std::string(level_name(isolation_of(*pool).*Level));
}

}  // namespace

std::string_view unit_word(const scenarios::FigureValue& value) {
  return std::visit(models::Overloaded{
                        [](Duration) { return "seconds"; },
                        [](scenarios::Share) { return "ratio"; },
                        [](Rate) { return "perSecond"; },
                        [](double) { return "number"; },
                    },
                    value);
}

double in_its_unit(const scenarios::FigureValue& value) {
  return std::visit(
      models::Overloaded{[](Duration d) { return to_seconds(d); },
                         [](scenarios::Share s) { return s.of_one; },
                         [](Rate r) { return r.per_second; }, [](double x) { return x; }},
      value);
}

template <>
const Record& record_of<Stamp>() {
  using S = Stamp;
  static const Record declared{
      "what figures were made from",
      {field<&S::scenario>("scenario", "metadata.name of the scenario"),
       field<&S::scenario_file>("scenarioFile", "as it was given").optional(),
       field<&S::settings>("settings", "--set, in order").optional(),
       field<&S::scenario_sha256>("scenarioSha256", "SHA-256 of the scenario, in hexadecimal"),
       field<&S::inputs>("inputs", "what the scenario says after --set")
           .optional()
           .each("path=value, as --set takes it"),
       field<&S::variant>("variant", "which of its variants"),
       field<&S::seed>("seed", "seed of the random streams"),
       field<&S::replications>("replications",
                               "runs per variant that were asked for, each with its own random "
                               "streams"),
       field<&S::version>("version", "version of slicewise"),
       field<&S::price_date>("priceDate", "date of the newest price in force, YYYY-MM-DD")
           .optional(),
       field<&S::price_file>("priceFile", "--prices file laid over the catalogue's prices")
           .when<&has_prices>(),
       field<&S::price_file_sha256>("priceFileSha256", "SHA-256 of that file, in hexadecimal")
           .when<&has_prices>(),
       field<&S::catalogue_files>("catalogueFiles", "--catalogue files, in order").optional(),
       field<&S::catalogue_sha256>("catalogueSha256", "SHA-256 of each of them, in hexadecimal")
           .optional(),
       field<&S::allow_pending>("allowPending", "--allow-pending: pods left Pending do not count")
           .optional()}};
  return declared;
}

template <>
const Record& record_of<TimeSummary>() {
  using T = TimeSummary;
  static const Record declared{
      "",
      {field<&T::count>("count", "values observed, over all replications"),
       field<&T::mean>("mean", "seconds"), field<&T::p50>("p50", "seconds"),
       field<&T::p95>("p95", "seconds"), field<&T::p99>("p99", "seconds"),
       field<&T::p999>("p999", "seconds; absent below 1,000 values"),
       field<&T::ci95>("ci95",
                       "half width of the 95 % interval of the mean, seconds; absent with "
                       "one replication or too few values"),
       field<&T::p50_ci95>("p50Ci95",
                           "half width of the 95 % interval of p50, seconds; absent "
                           "with one replication or too few values"),
       field<&T::p95_ci95>("p95Ci95",
                           "half width of the 95 % interval of p95, seconds; absent "
                           "with one replication or too few values"),
       field<&T::p99_ci95>("p99Ci95",
                           "half width of the 95 % interval of p99, seconds; absent "
                           "with one replication or too few values"),
       field<&T::p999_ci95>("p999Ci95",
                            "half width of the 95 % interval of p999, seconds; absent "
                            "with one replication or too few values"),
       field<&T::p999_is_rough>("p999IsRough",
                                "p999 is one of the ten largest values: fewer than "
                                "10,000 were seen")
           .optional()}};
  return declared;
}

template <>
const Record& record_of<NumberSummary>() {
  using N = NumberSummary;
  static const Record declared{
      "",
      {field<&N::count>("count", "values observed, over all replications"),
       field<&N::mean>("mean", "mean"), field<&N::p50>("p50", "median"),
       field<&N::p95>("p95", "95th percentile"), field<&N::p99>("p99", "99th percentile")}};
  return declared;
}

template <>
const Record& record_of<LostShare>() {
  using L = LostShare;
  static const Record declared{
      "requests that met no limit: refused, dropped or timed out",
      {field<&L::share>("ratio", "of those whose fate is known").of(Unit::Ratio),
       field<&L::ci95>("ci95Ratio", "half width of its 95 % interval").of(Unit::Ratio),
       field<&L::most>("mostRatio", "that the quantile leaves out: it is missed by more")
           .of(Unit::Ratio)}};
  return declared;
}

template <>
const Record& record_of<ObjectiveResult>() {
  using O = ObjectiveResult;
  static const Record declared{
      "one objective of the workload",
      {field<&O::name>("name", "objective, as in the scenario"),
       field<&unit_of_limit>("unit", "of limit, value and ci95")
           .one_of("seconds ratio perSecond number"),
       field<&O::at_least>("atLeast", "the limit is a lower one").optional(),
       field<&O::limit>("limit", "at most, or at least"),
       field<&O::value>("value", "what was found; 0 when nothing was observed"),
       field<&O::ci95>("ci95", "half width of its 95 % interval"),
       field<&O::pass>("pass",
                       "value <= limit (>= with atLeast), and of a quantile no more "
                       "requests lost than it leaves out"),
       field<&O::of>("of",
                     "whose jobs the value is of, where trace.judgeBy judges each user, group or "
                     "project by itself: the worst")
           .optional(),
       field<&O::lost>("lost", "absent: no request was lost, or it is no quantile of requests")}};
  return declared;
}

template <>
const Record& record_of<RequestCounts>() {
  using R = RequestCounts;
  static const Record declared{
      "requests of a Service or pipeline, means per replication",
      {field<&R::arrived>("arrived", "requests that came after the warm-up")
           .csv(42, "requestsArrived"),
       field<&R::answered>("answered", "of those, answered before the run ended")
           .csv(43, "requestsAnswered"),
       field<&R::in_objectives>("inObjectives",
                                "answered, and within every limit on a single request")
           .csv(44, "requestsInObjectives"),
       field<&R::refused>("refused", "found no ready replica, or died with it")
           .csv(45, "requestsRefused"),
       field<&R::dropped>("dropped", "met a full queue, and so did their retries")
           .csv(46, "requestsDropped"),
       field<&R::timed_out>("timedOut", "waited longer than the time-out")
           .csv(47, "requestsTimedOut"),
       field<&R::retried>("retried", "attempts after the first").csv(48, "requestsRetried"),
       field<&R::mean_in_system>("meanInSystem",
                                 "requests between arrival and answer, mean over time")
           .csv(50, "meanInSystem"),
       field<&R::mean_batch>("meanBatch",
                             "requests of a batch on the GPU, sequences of a step of "
                             "a language model; absent when there was none")
           .positive()
           .csv(51, "meanBatch"),
       field<&R::availability>("availability",
                               "answered / (answered + refused + dropped + timedOut)")
           .of(Unit::Ratio)
           .csv(49, "availability")
           .policy("availability")}};
  return declared;
}

template <>
const Record& record_of<TokenFigures>() {
  using T = TokenFigures;
  static const Record declared{
      "a language model, means per replication",
      {field<&T::input_tokens>("input", "prompt tokens of answered requests"),
       field<&T::output_tokens>("output", "tokens of their answers"),
       field<&T::output_per_second>("outputPerSecond", "answer tokens per second")
           .of(Unit::PerSecond)
           .csv(57, "outputTokensPerSecond"),
       field<&T::first_token>("firstTokenSeconds", "arrival to first token (TTFT)")
           .csv(54, "ttftP95Seconds", "p95")
           .csv(55, "ttftP99Seconds", "p99"),
       field<&T::per_token>("perTokenSeconds",
                            "time per token after the first, mean of each request (TPOT)")
           .csv(56, "tpotP95Seconds", "p95"),
       field<&T::kv_cache_peak>("kvCachePeakRatio",
                                "highest share of the KV cache in use, of the fullest pod")
           .of(Unit::Ratio),
       field<&T::kv_cache>("kvCacheBytes", "KV cache of one pod, bytes"),
       field<&T::preemptions>("preemptions",
                              "sequences that lost their cache and were computed again")
           .csv(58, "preemptions"),
       field<&T::per_million_output>("perMillionOutputUsd", "US dollars per million output tokens")
           .csv(59, "perMillionOutputTokensUsd")}};
  return declared;
}

template <>
const Record& record_of<ScalingFigures>() {
  using S = ScalingFigures;
  static const Record declared{
      "an autoscaled Service, means per replication",
      {field<&S::mean_replicas>("replicasMean", "replicas wanted, mean over the run")
           .csv(60, "replicasMean"),
       field<&S::max_replicas>("replicasMax", "most replicas wanted at once")
           .csv(61, "replicasMax"),
       field<&S::scale_ups>("scaleUps", "times that more were wanted"),
       field<&S::scale_downs>("scaleDowns", "times that fewer were wanted"),
       field<&S::start_up>("startUpSeconds", "from wanted to ready")
           .csv(62, "startUpP95Seconds", "p95")}};
  return declared;
}

template <>
const Record& record_of<NotebookFigures>() {
  using N = NotebookFigures;
  static const Record declared{
      "notebooks, means per replication",
      {field<&N::users>("users", "people"),
       field<&N::sessions>("sessions", "sessions opened").csv(63, "sessions"),
       field<&N::cells>("cells", "cells run"),
       field<&N::culled>("culled", "sessions ended for idleness"),
       field<&N::gave_up>("gaveUp", "sessions that had no kernel by the time they were to end"),
       field<&N::session_start>("sessionStartSeconds", "asked for to ready")
           .csv(64, "sessionStartP95Seconds", "p95"),
       field<&N::cell_slowdown>("cellSlowdown", "time of a cell / its time alone on the GPU")
           .csv(65, "cellSlowdownP95", "p95"),
       field<&N::oom_per_user_month>("oomPerUserMonth",
                                     "out-of-memory kills per user and month of 730 h")
           .csv(66, "oomPerUserMonth"),
       field<&N::waiting_per_user_month_s>(
           "waitingPerUserMonthSeconds",
           "waiting for sessions and slowed cells per user and month, seconds")
           .of(Unit::Seconds),
       field<&N::per_active_user_month>(
           "perActiveUserMonthUsd",
           "what its pods pay of the nodes of a month / users with a session in the run, US "
           "dollars")
           .csv(67, "perActiveUserMonthUsd")}};
  return declared;
}

template <>
const Record& record_of<GpuSetFigures>() {
  using G = GpuSetFigures;
  static const Record declared{
      "a set of GPUs that pods were given",
      {field<&G::pool>("pool", "node pool"),
       field<&G::gpus>("gpus", "GPUs of the pod").each("index on the node"),
       field<&G::pods>("pods", "placed on them, mean per replication"),
       field<&G::all_linked>("allLinked", "every two of them are joined by NVLink"),
       field<&G::all_reduce>("allReduceSeconds", "of one step").positive()}};
  return declared;
}

template <>
const Record& record_of<GangFigures>() {
  using G = GangFigures;
  static const Record declared{
      "pods with several whole GPUs",
      {field<&G::gpus>("gpusPerPod", "GPUs of each pod"),
       field<&G::all_reduce_share>("allReduceRatio",
                                   "share of the working time of its containers that all-reduces "
                                   "took")
           .of(Unit::Ratio),
       field<&G::sets>("gpuSets", "sets of GPUs that its pods were given")}};
  return declared;
}

template <>
const Record& record_of<GpuNeighbour>() {
  using N = GpuNeighbour;
  static const Record declared{
      "a workload whose containers it had beside its own",
      {field<&N::workload>("workload", "name in the scenario; its own: pods of it shared a GPU"),
       field<&N::replications>("replications",
                               "runs in which they were on one GPU, or MIG "
                               "instance, at once")}};
  return declared;
}

template <>
const Record& record_of<PlacementSpread>() {
  using P = PlacementSpread;
  static const Record declared{
      "what the placement of its pods decided; absent where it decided little",
      {field<&P::figure>("figure", "latencyP95 or jobCompletionP95, of each run"),
       field<&P::usual>("usualSeconds", "median of the other runs"),
       field<&P::usual_replications>("usualReplications", "other runs in which it was seen"),
       field<&P::worst>("worstSeconds",
                        "median of the runs with the worst placement; absent where nothing was "
                        "answered or finished")
           .csv(kPlacementColumn + 1, "worstPlacementP95Seconds"),
       field<&P::replications>("worstReplications", "runs that had it"),
       field<&P::beside>("beside",
                         "workloads that had more pods on its GPUs there than in the other runs")
           .each("workload")}};
  return declared;
}

namespace {

std::vector<Field> times_of_workload() {
  using W = WorkloadResult;
  return {field<&W::job_completion>("jobCompletionSeconds", "from submission to success")
              .csv(11, "jobCompletionMeanSeconds", "mean")
              .csv(12, "jobCompletionCi95Seconds", "ci95")
              .csv(13, "jobCompletionP50Seconds", "p50")
              .csv(14, "jobCompletionP95Seconds", "p95")
              .csv(15, "jobCompletionP99Seconds", "p99")
              .column("MEAN", 2, "mean")
              .column("P50", 3, "p50")
              .column("P95", 0, "p95")
              .column("P99", 2, "p99")
              .policy("completionP95", "p95")
              .diff({.role = Role::Latency, .rank = 2, .name = "jobCompletionP95", .part = "p95"}),
          field<&W::wait>("waitSeconds", "from submission to the first running container")
              .csv(16, "waitMeanSeconds", "mean")
              .csv(17, "waitP95Seconds", "p95")
              .column("WAIT MEAN", 2, "mean")
              .column("WAIT P95", 4, "p95")
              .policy("waitP95", "p95"),
          field<&W::latency>("latencySeconds", "from arrival to response")
              .csv(18, "latencyMeanSeconds", "mean")
              .csv(19, "latencyCi95Seconds", "ci95")
              .csv(20, "latencyP50Seconds", "p50")
              .csv(21, "latencyP95Seconds", "p95")
              .csv(22, "latencyP99Seconds", "p99")
              .csv(23, "latencyP999Seconds", "p999")
              .csv(52, "latencyP99Ci95Seconds", "p99Ci95")
              .policy("latencyP50", "p50")
              .policy("latencyP95", "p95")
              .policy("latencyP99", "p99")
              .diff({.role = Role::Latency, .rank = 1, .name = "latencyP99", .part = "p99"}),
          field<&W::queueing>("queueingSeconds", "of that, until the GPU took it up")
              .csv(53, "queueingP95Seconds", "p95")};
}

std::vector<Field> limits_of_workload() {
  using W = WorkloadResult;
  return {
      field<&W::objectives>("objectives", "empty when the scenario sets none"),
      field<&W::gpu_busy_share>("gpuBusyShare",
                                "share of the GPU time of the run that its kernels took")
          .optional()
          .of(Unit::Ratio)
          .csv(24, "gpuBusyShare")
          .column("GPU TIME", 5),
      field<&W::gpu_lost>("gpuSecondsLost",
                          "GPU time of containers that later died, mean per replication; absent "
                          "when none did")
          .positive()
          .csv(70, "gpuSecondsLost")
          .policy("gpuSecondsLost")
          .diff({.role = Role::Pods, .rank = 14, .title = "GPU time lost"}),
      field<&W::bill>("bill"),
      field<&W::bound_by>(
          "boundBy",
          "what limits it: GPU, host CPU, bursts (host time between them), GPU memory, ...")
          .optional()
          .csv(25, "boundBy")
          .column("BOUND BY"),
      field<&W::neighbours>("neighbours",
                            "whom it really had beside it, in the order of the "
                            "scenario")
          .optional()
          .csv(kPlacementColumn, "neighbours", "workload"),
      field<&W::placement>("placement"),
      field<&objectives_pass>("").policy("slo.pass")};
}

std::vector<Field> with_times_and_limits(std::vector<Field> fields) {
  for (const std::vector<Field>& more : {times_of_workload(), limits_of_workload()}) {
    fields.insert(fields.end(), more.begin(), more.end());
  }
  return fields;
}

}  // namespace

template <>
const Record& record_of<WorkloadResult>() {
  using W = WorkloadResult;
  static const Record declared{
      "results of one workload",
      with_times_and_limits(
          {field<&W::name>("name", "name in the scenario").csv(5, "workload").column("WORKLOAD"),
           field<&W::kind>("kind", "Job, Deployment, Service, Notebook, Pipeline or TraceJobs")
               .csv(6, "kind"),
           field<&W::namespace_name>("namespace", "of its pods").optional().csv(73, "namespace"),
           field<&W::labels>("labels", "of its pods").optional(),
           field<&W::unit_name>("unitName", "unit of throughput: epoch, request, ...")
               .optional()
               .csv(7, "unitName"),
           field<&W::completed>("completed",
                                "jobs, container runs or requests finished, mean per replication")
               .csv(8, "completed")
               .column("DONE"),
           field<&W::throughput_per_second>("throughputPerSecond",
                                            "units finished per second of the run")
               .optional()
               .of(Unit::PerSecond)
               .csv(9, "throughputPerSecond")
               .column("RATE", 1)
               .policy("throughput"),
           field<&W::goodput_per_second>("goodputPerSecond",
                                         "units that met every objective on them, per second")
               .optional()
               .of(Unit::PerSecond)
               .csv(10, "goodputPerSecond")
               .policy("goodput"),
           field<&W::requests>("requests"), field<&W::tokens>("tokens"),
           field<&W::scaling>("scaling"), field<&W::notebooks>("notebooks"),
           field<&W::gang>("gang"), field<&W::recorded>("recorded")})};
  return declared;
}

template <>
const Record& record_of<GpuResult>() {
  using G = GpuResult;
  static const Record declared{
      "means over the replications for one GPU or MIG instance",
      {field<&G::node>("node", "name of the node"),
       field<&G::index>("index", "index of the GPU in its node"),
       field<&G::model>("model", "catalogue name"),
       field<&G::partition>("migProfile", "of the MIG instance; absent for a whole GPU").optional(),
       field<&G::instance>("migInstance", "counts the instances of the GPU, from 0")
           .when<&is_partition>(),
       field<&G::gpu_share>("gpuShare", "compute slices of the instance / those of the GPU")
           .when<&is_partition>()
           .of(Unit::Ratio),
       field<&G::time_busy_ratio>(
           "timeBusyRatio",
           "share of the run in which a kernel ran; of a g6f, of the part of the GPU's time that "
           "EC2 sells, whatever shares it")
           .optional()
           .of(Unit::Ratio),
       field<&G::time_busy_most>("timeBusyMaxRatio", "that of the run in which it was highest")
           .positive()
           .of(Unit::Ratio),
       field<&G::pods>("pods", "on it in the first run, when most containers were there")
           .optional()
           .each("pod"),
       field<&G::sm_active_ratio>("smActiveRatio",
                                  "mean share of busy multiprocessors; absent when unknown")
           .of(Unit::Ratio)
           .column("SM ACTIVE", 2),
       field<&G::context_switch_ratio>("contextSwitchRatio",
                                       "share of the run spent switching contexts")
           .optional()
           .of(Unit::Ratio)
           .column("SWITCHING", 1),
       field<&G::memory_peak>("memoryPeakBytes", "highest memory in use, bytes")
           .column("MEMORY PEAK"),
       field<&G::memory_total>("memoryTotalBytes", "memory that processes can use, bytes")}};
  return declared;
}

template <>
const Record& record_of<NodeResult>() {
  using N = NodeResult;
  static const Record declared{
      "means over the replications for one node",
      {field<&N::name>("name", "name of the node"), field<&N::pool>("pool", "its node pool"),
       field<&N::cpu_busy_ratio>("cpuBusyRatio", "busy share of its vCPUs")
           .optional()
           .of(Unit::Ratio)}};
  return declared;
}

const Record& cost_record() {
  using V = VariantResult;
  using L = CostLedger;
  static const Record declared{
      "US dollars, mean per replication",
      {field<&V::cost, &Cost::ledger, &L::total>(
           "totalUsd", "nodes x time x price; the sum of the parts below, exactly")
           .csv(31, "variantTotalUsd")
           .policy("cost.total")
           .diff({.role = Role::Cost,
                  .rank = 3,
                  .title = "bill of the run",
                  .condition = "cost.total"}),
       field<&V::cost, &Cost::ledger, &L::useful>(
           "usefulUsd", "GPU time of work that was finished or still ran at the end"),
       field<&V::cost, &Cost::ledger, &L::idle>("idleUsd", "time in which no kernel ran"),
       field<&V::cost, &Cost::ledger, &L::switching>("switchUsd", "context switches"),
       field<&V::cost, &Cost::ledger, &L::failed>("failedUsd", "work of containers that died"),
       field<&V::cost, &Cost::ledger, &L::cold_start>(
           "coldStartUsd", "nodes that start; image pull and model load on an otherwise idle GPU"),
       field<&V::cost, &Cost::ledger, &L::missed_slo>("missedSloUsd", "requests served too late"),
       field<&V::cost, &Cost::ledger, &L::thrash>(
           "thrashUsd",
           "nodes started without need, until they were taken away; absent where nodes do not "
           "come and go")
           .when<&nodes_come_and_go>()
           .csv(68, "variantThrashUsd"),
       field<&V::cost, &Cost::split>("split").when<&is_split>(),
       field<&V::cost, &Cost::per_job>(
           "perJobUsd", "what Jobs and Deployments pay / jobs finished; absent when none was")
           .csv(32, "variantPerJobUsd")
           .policy("cost.perJob")
           .diff({.role = Role::Cost,
                  .rank = 5,
                  .title = "$/job",
                  .condition = "cost.perJob",
                  .is_main = true}),
       field<&V::cost, &Cost::per_1k_requests_in_slo>("per1kRequestsInSloUsd",
                                                      "what Services pay after the warm-up / "
                                                      "thousands of requests in SLO")
           .csv(33, "variantPer1kRequestsInSloUsd")
           .policy("cost.per1kInSlo")
           .diff({.role = Role::Cost,
                  .rank = 4,
                  .title = "$/1k requests in SLO",
                  .condition = "cost.per1k",
                  .is_main = true}),
       field<&V::cost, &Cost::monthly>(
           "monthlyUsd",
           "nodes x price x 730 h; where nodes come and go, the bill of the run x 730 h")
           .policy("cost.monthly")
           .diff({.role = Role::Cost,
                  .rank = 1,
                  .title = "$/month",
                  .condition = "cost",
                  .is_main = true})}};
  return declared;
}

template <>
const Record& record_of<NodeDynamics>() {
  using D = NodeDynamics;
  static const Record declared{
      "nodes that come and go, means per replication; absent where they do not",
      {field<&D::provisioner>("provisioner", "Karpenter, ClusterAutoscaler or ManagedNodeGroup"),
       field<&D::least>("least", "fewest nodes that the scenario allows"),
       field<&D::most>("most", "most nodes that the scenario allows"),
       field<&D::mean_nodes>("nodesMean", "nodes that EC2 bills, mean over the run"),
       field<&D::max_nodes>("nodesMax", "most of them at once, of all replications"),
       field<&D::launches>("launches", "nodes started in the run"),
       field<&D::surplus>("surplusLaunches", "of those, more than the pods needed"),
       field<&D::removed>("removed", "nodes taken away as empty or underused"),
       field<&D::interruptions>("interruptions", "nodes that EC2 took back"),
       field<&D::on_demand_nodes>("onDemandLaunches",
                                  "nodes bought as on-demand after an interruption"),
       field<&D::node_hours>("nodeHours", "node time that EC2 bills, hours"),
       field<&D::thrash_node_hours>("thrashNodeHours",
                                    "of that, of nodes that were started without need")}};
  return declared;
}

template <>
const Record& record_of<NodeStartUpFigures>() {
  using S = NodeStartUpFigures;
  static const Record declared{
      "the way of pods that waited for a node; absent when none did",
      {field<&S::pods>("pods", "pods that waited for a node, mean per replication"),
       field<&S::decision>("decisionSeconds", "until the provisioner decides, mean"),
       field<&S::launch>("launchSeconds", "until EC2 bills the node, mean"),
       field<&S::ready>("readySeconds", "until the node is Ready, mean"),
       field<&S::gpu_allocatable>("gpuAllocatableSeconds", "until its GPUs are advertised, mean"),
       field<&S::scheduling>("schedulingSeconds", "until the pod is bound, mean"),
       field<&S::image_pull>("imagePullSeconds", "until the image is there, mean"),
       field<&S::model_load>("modelLoadSeconds", "until the container works, mean"),
       field<&S::total>(
           "totalSeconds",
           "from Pending, or when a node could first be asked for, to work; the sum of the stages")
           .csv(69, "nodeStartUpMeanSeconds", "mean")}};
  return declared;
}

template <>
const Record& record_of<SpotRisk>() {
  using S = SpotRisk;
  static const Record declared{
      "how often EC2 takes a node back; absent where nodes are not bought as spot",
      {field<&S::per_1000_hours>("interruptionsPer1000Hours", "of one node"),
       field<&S::source>("source", "where that comes from"),
       field<&S::falls_back>("fallback", "the node in its place is bought as on-demand")
           .optional()}};
  return declared;
}

template <>
const Record& record_of<NodePoolResult>() {
  using P = NodePoolResult;
  static const Record declared{
      "a group of equal nodes",
      {field<&P::name>("name", "name in the scenario"),
       field<&P::instance_type>("instanceType", "EC2 instance type").setting(1),
       field<&P::gpu_model>("gpuModel", "catalogue name of its GPUs").optional(),
       field<&P::region>("region", "AWS region of the price").optional().setting(6),
       field<&P::purchase_option>("purchaseOption", "on-demand, spot or reserved")
           .optional()
           .setting(5),
       field<&P::strategy>("strategy",
                           "how its GPUs are shared: exclusive, timeSlicing, mps, mig, mig+mps, "
                           "mig+timeSlicing, vgpu, awsVirtualGpu, nos")
           .setting(2),
       field<&P::nodes>("nodes",
                        "number of nodes; the most that it may have, where nodes come and go")
           .setting(3),
       field<&P::gpus_per_node>("gpusPerNode", "physical GPUs of a node").setting(4),
       field<&P::price, &UsdPerHour::per_hour>("usdPerHour",
                                               "price of one node, US dollars per hour")
           .setting(7),
       field<&P::price_source>("priceSource", "where the price comes from").optional().setting(8),
       field<&P::turn>("turnSeconds", "time slice of a context, seconds").setting(11),
       field<&P::switch_cost>("switchCostSeconds", "cost of one context switch, seconds")
           .setting(12),
       field<&P::active_threads>("activeThreadsRatio",
                                 "share of the SMs that one MPS client may use")
           .of(Unit::Ratio)
           .setting(13),
       field<&P::memory_limit>("clientMemoryLimitBytes",
                               "GPU memory that one MPS client may take, bytes; absent when there "
                               "is no limit or several")
           .setting(14),
       field<&P::vgpu_policy>("vgpuPolicy",
                              "how vGPUs take turns on a physical GPU: bestEffort, equalShare or "
                              "fixedShare")
           .optional(),
       field<&P::vgpus_per_gpu>("vgpusPerGpu", "virtual machines on a physical GPU")
           .positive()
           .setting(10),
       field<&P::mig_config>("migConfig", "MIG layout in force at the start").optional().setting(9),
       field<&P::instances>("migInstances", "MIG instances at the start, by profile")
           .optional()
           .each("instances, all nodes together"),
       field<&P::sms_unused_ratio>("smsUnusedRatio",
                                   "share of the SMs that belong to no MIG instance")
           .of(Unit::Ratio),
       field<&P::advertised>("advertised", "extended resources that the kubelets advertise")
           .each("units, all nodes together")
           .setting(15),
       field<&P::dynamics>("dynamics"),
       field<&P::spot>("spot")}};
  return declared;
}

template <>
const Record& record_of<GpuRoom::Tenant>() {
  using T = GpuRoom::Tenant;
  static const Record declared{
      "pods of one workload",
      {field<&T::workload>("workload", "its name"), field<&T::pods>("pods", "that fit there"),
       field<&T::processes>("processes", "CUDA processes of each pod"),
       field<&T::process>("processBytes", "GPU memory of a process without its context, bytes"),
       field<&T::greedy>("greedy", "a process maps all free memory").optional()}};
  return declared;
}

template <>
const Record& record_of<GpuRoom>() {
  using R = GpuRoom;
  static const Record declared{
      "how many pods one GPU or MIG instance holds, whichever come: the largest first",
      {field<&R::pool>("nodePool", "name in the scenario"),
       field<&R::partition>("migProfile", "of the MIG instance; absent for a whole GPU").optional(),
       field<&R::safe>("safePods", "pods that fit"),
       field<&R::may_meet>("meetingPods", "of those there are, that may meet there"),
       field<&R::replicas>("replicas", "that the device plugin offers of it"),
       field<&R::bound>("boundBy", "what stops more"),
       field<&R::usable>("usableBytes", "memory that processes can use, bytes"),
       field<&R::context>("contextBytes", "CUDA context of each process, bytes"),
       field<&R::process_limit>("processLimitBytes", "limit that a process passes, bytes"),
       field<&R::tenants>("pods", "that fit"),
       field<&R::needed>("neededBytes", "by the pods that fit, contexts included, bytes"),
       field<&R::next>("nextBytes", "by them and one more, bytes; absent where all fit").positive(),
       field<&R::next_workload>("nextWorkload", "whose pod one more would be").optional()}};
  return declared;
}

template <>
const Record& record_of<PodCounts>() {
  using P = PodCounts;
  static const Record declared{
      "what became of the pods",
      {field<&P::submitted>("submitted", "pods created, mean per replication"),
       field<&P::running_max>("runningMax", "most pods Running at once").csv(26, "podsRunningMax"),
       field<&P::pending_max>("pendingMax", "most pods Pending at once")
           .csv(27, "podsPendingMax")
           .policy("pods.pending")
           .diff({.role = Role::Pods,
                  .rank = 11,
                  .title = "pods Pending",
                  .condition = "pods.pending"}),
       field<&P::succeeded>("succeeded", "pods Succeeded, mean per replication")
           .diff({.role = Role::Pods, .rank = 10, .title = "jobs finished"}),
       field<&P::failed>("failed", "pods Failed, mean per replication")
           .csv(28, "podsFailed")
           .policy("pods.failed")
           .diff({.role = Role::Pods,
                  .rank = 13,
                  .title = "pods failed",
                  .condition = "pods.failed"}),
       field<&P::oom_kills>("oomKilled",
                            "containers that ran out of GPU memory, mean per replication")
           .csv(29, "podsOomKilled")
           .policy("pods.oomKills")
           .diff({.role = Role::Pods, .rank = 12, .title = "OOM kills", .condition = "pods.oom"}),
       field<&P::restarts>("restarts", "container restarts, mean per replication")
           .policy("pods.restarts"),
       field<&P::faults>("gpuFaults", "fatal GPU faults, mean per replication")
           .csv(39, "gpuFaults"),
       field<&P::fault_victims>("faultVictims",
                                "containers that died of the fault of a neighbour, mean per "
                                "replication")
           .csv(40, "faultVictims"),
       field<&P::evicted>("evicted",
                          "pods evicted for a change of the MIG layout or from a node that ends, "
                          "mean per replication")
           .csv(41, "podsEvicted"),
       field<&P::pending_reasons>("pendingReasons", "distinct messages, in order of appearance")
           .each("message of the kube-scheduler")}};
  return declared;
}

template <>
const Record& record_of<ProvenanceCounts>() {
  using P = ProvenanceCounts;
  static const Record declared{
      "where the inputs of the variant come from",
      {field<&P::measured>("measured", "inputs that were measured"),
       field<&P::catalog>("catalog", "inputs from the catalogue"),
       field<&P::assumed>("assumed", "inputs that nobody measured"),
       field<&P::assumed_inputs>("assumedInputs", "which ones").each("workload: field")}};
  return declared;
}

template <>
const Record& record_of<Verdict::Reason>() {
  using R = Verdict::Reason;
  static const Record declared{"one reason",
                               {field<&R::cause>("cause", "what kind of reason it is"),
                                field<&R::workload>("workload", "absent: all of them").optional(),
                                field<&R::brief>("brief", "in a few words"),
                                field<&R::text>("text", "one sentence, no full stop")}};
  return declared;
}

template <>
const Record& record_of<Verdict>() {
  using V = Verdict;
  static const Record declared{
      "whether it does what it should",
      {field<&V::stands>("stands",
                         "every pod that should run does, every objective holds with its interval, "
                         "no policy denies it, nothing ran out of memory")
           .csv(kVerdictColumn, "stands"),
       field<&V::reasons>("reasons", "why it does not stand; empty when it does")
           .csv(kVerdictColumn + 1, "reasons", "brief")}};
  return declared;
}

template <>
const Record& record_of<PolicyResult::Figure>() {
  using F = PolicyResult::Figure;
  static const Record declared{
      "a figure that the assertion asks for",
      {field<&F::name>("name", "as assertions spell it"),
       field<&F::value>("value", "for people; absent when it is not known").optional()}};
  return declared;
}

template <>
const Record& record_of<PolicyResult>() {
  using P = PolicyResult;
  static const Record declared{
      "a policy of the scenario, held against the result",
      {field<&P::name>("name", "name in the scenario"),
       field<&P::assertion>("assertion", "as written in the scenario"),
       field<&P::verdict>("verdict", "unknown when a figure that decides it is absent"),
       field<&severity_of_policy>("severity", "whether a failure refuses the configuration")
           .one_of("Deny Warn"),
       field<&P::figures>("figures", "in the order of the assertion, each once")}};
  return declared;
}

template <>
const Record& record_of<Diagnostic>() {
  using D = Diagnostic;
  static const Record declared{
      "something the user should know",
      {field<&D::code>("code", "stable code; `slicewise explain CODE` describes it"),
       field<&D::severity>("severity", "how bad it is"),
       field<&D::message>("message", "what was found"),
       field<&D::help>("help", "what to do").optional(),
       field<&D::where, &SourceLocation::file>("file", "input file it comes from")
           .when<&has_place>(),
       field<&D::where, &SourceLocation::line>("line", "line in that file, from 1")
           .when<&has_place>(),
       field<&D::where, &SourceLocation::column>("column", "column in that line, from 1")
           .when<&has_place>()}};
  return declared;
}

const Record& finding_record() {
  static const Record declared = [] {
    const Record& whole = record_of<Diagnostic>();
    return Record{whole.meaning,
                  {whole.like("code"), whole.like("severity"), whole.like("message")}};
  }();
  return declared;
}

template <>
const Record& record_of<VariantResult>() {
  using V = VariantResult;
  static const Record declared{
      "one variant of the scenario",
      {field<&V::name>("name", "name in the scenario").csv(3, "variant"),
       field<&V::description>("description", "description in the scenario").optional(),
       field<&V::strategy>("strategy",
                           "of its pools, joined by a comma and a space when they differ")
           .csv(4, "strategy"),
       field<&V::replications>("replications", "runs that were done")
           .csv(34, "variantReplications"),
       field<&V::makespan>("makespanSeconds", "length of the run, one value per replication")
           .when<&has_length>()
           .csv(30, "makespanMeanSeconds", "mean"),
       field<&V::node_pools>("nodePools", "in the order of the scenario"),
       field<&V::rooms>("gpuRooms", "known before the run, in the order of the pools").optional(),
       field<&V::pods>("pods"),
       field<&V::workloads>("workloads", "in the order of the scenario, pipelines last"),
       field<&V::gpus>("gpus", "in the order of nodes, MIG layouts of the run, GPUs and instances"),
       field<&V::nodes>("nodes", "in the order of the pools"),
       group("cost", &cost_record),
       field<&V::node_start_up>("nodeStartUp"),
       field<&V::verdict>("verdict"),
       field<&V::policies>("policies", "in the order of the scenario").optional(),
       field<&V::findings>("findings", "in the order found"),
       field<&V::provenance>("provenance"),
       field<&no_headroom>("").policy("headroom"),
       field<&node_count_of>("").policy("nodes"),
       field<&gpu_busy_ratio>("").of(Unit::Ratio).policy("gpu.busy"),
       field<&all_objectives_pass>("").policy("slo.pass"),
       field<&words_of_pools<&NodePoolResult::strategy>>("").policy(
           "strategy", "",
           "exclusive timeSlicing mps mig mig+mps mig+timeSlicing vgpu awsVirtualGpu nos"),
       field<&words_of_pools<&NodePoolResult::instance_type>>("").policy("instanceType"),
       field<&weakest<&Isolation::memory>>("").policy("isolation.memory", "",
                                                      "none processLimit hardware"),
       field<&weakest<&Isolation::compute>>("").policy("isolation.compute", "",
                                                       "none cap hardware"),
       field<&weakest<&Isolation::fault>>("").policy("isolation.fault", "",
                                                     "shared process hardware"),
       field<&V::pods_share_gpu>("").policy("sharedGpu"),
       field<&V::namespaces_share_gpu>("").policy(scenarios::kNamespacesShareGpu)}};
  return declared;
}

namespace {

const Record& result_metadata() {
  using R = Result;
  static const Record declared{
      "what produced the result; the same values produce the same bytes",
      {stamp_field<R>("scenario").csv(1, "scenario"), stamp_field<R>("scenarioFile"),
       stamp_field<R>("settings"),
       field<&R::fidelity>("fidelity", "--fidelity, when it was given").optional(),
       field<&R::cost_split>("split", "--split, when it was given").optional(),
       field<&R::group_by>("groupBy", "--group-by: workload, namespace, label:NAME or user")
           .optional()
           .csv(81, "groupBy"),
       stamp_field<R>("scenarioSha256"), stamp_field<R>("inputs"),
       stamp_field<R>("seed").csv(2, "seed"), stamp_field<R>("replications"),
       stamp_field<R>("version"), stamp_field<R>("priceDate").csv(36, "priceDate"),
       stamp_field<R>("priceFile").csv(37, "priceFile"),
       stamp_field<R>("priceFileSha256").csv(38, "priceFileSha256"), stamp_field<R>("allowPending"),
       stamp_field<R>("catalogueFiles"), stamp_field<R>("catalogueSha256"),
       field<&R::interrupted>("interrupted",
                              "some replications were not run; variants without any are absent")
           .optional()
           .csv(35, "interrupted")}};
  return declared;
}

}  // namespace

template <>
const Record& record_of<Result>() {
  static const Record declared{
      "What `slicewise run -o json` prints. SI units in the keys; fields that do not apply are "
      "absent. Keys are added, never renamed.",
      {constant("apiVersion", kResultApiVersion), constant("kind", "Result"),
       group("metadata", &result_metadata),
       field<&Result::variants>("variants", "in the order of the scenario")}};
  return declared;
}

}  // namespace slicewise::sim
