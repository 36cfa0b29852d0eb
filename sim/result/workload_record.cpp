#include <algorithm>

#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result_record.hpp"

// Figures of a workload: its requests, times, pods and objectives.
namespace slicewise::sim {
namespace {

using Role = DiffFigure::Role;

std::string_view unit_of_limit(const ObjectiveResult& o) { return unit_word(o.limit); }

// Of those that were put to the test; nullopt: none was.
std::optional<bool> objectives_pass(const WorkloadResult& workload) {
  const auto& all = workload.objectives;
  if (std::ranges::all_of(all, &ObjectiveResult::is_unasked)) return std::nullopt;
  return std::ranges::all_of(all, is_kept);
}

}  // namespace

Record declared(Of<TimeSummary>) {
  using T = TimeSummary;
  return {"",
          {field<&T::count>("count", "values observed, over all replications"),
           field<&T::mean>("mean", "seconds"), field<&T::p50>("p50", "seconds"),
           field<&T::p95>("p95", "seconds"), field<&T::p99>("p99", "seconds"),
           field<&T::p999>("p999", "seconds; absent below 1,000 values"),
           field<&T::ci95>("ci95",
                           "half width of the 95 % interval of the mean, seconds; absent with one "
                           "replication or too few values"),
           field<&T::p50_ci95>("p50Ci95",
                               "half width of the 95 % interval of p50, seconds; absent with one "
                               "replication or too few values"),
           field<&T::p95_ci95>("p95Ci95",
                               "half width of the 95 % interval of p95, seconds; absent with one "
                               "replication or too few values"),
           field<&T::p99_ci95>("p99Ci95",
                               "half width of the 95 % interval of p99, seconds; absent with one "
                               "replication or too few values"),
           field<&T::p999_ci95>("p999Ci95",
                                "half width of the 95 % interval of p999, seconds; absent with one "
                                "replication or too few values"),
           field<&T::p999_is_rough>(
               "p999IsRough", "p999 is one of the ten largest values: fewer than 10,000 were seen")
               .optional()}};
}

Record declared(Of<NumberSummary>) {
  using N = NumberSummary;
  return {"",
          {field<&N::count>("count", "values observed, over all replications"),
           field<&N::mean>("mean", "mean"), field<&N::p50>("p50", "median"),
           field<&N::p95>("p95", "95th percentile"), field<&N::p99>("p99", "99th percentile")}};
}

Record declared(Of<LostShare>) {
  using L = LostShare;
  return {"requests that met no limit: refused, dropped or timed out",
          {field<&L::share>("ratio", "of those whose fate is known").of(Unit::Ratio),
           field<&L::ci95>("ci95Ratio", "half width of its 95 % interval").of(Unit::Ratio),
           field<&L::most>("mostRatio", "that the quantile leaves out: it is missed by more")
               .of(Unit::Ratio)}};
}

Record declared(Of<ObjectiveResult>) {
  using O = ObjectiveResult;
  return {
      "one objective of the workload",
      {field<&O::name>("name", "objective, as in the scenario"),
       field<&unit_of_limit>("unit", "of limit, value and ci95")
           .one_of("seconds ratio perSecond number"),
       field<&O::at_least>("atLeast", "the limit is a lower one").optional(),
       field<&O::limit>("limit", "at most, or at least"),
       field<&O::value>("value", "what was found; 0 when nothing was observed"),
       field<&O::ci95>("ci95", "half width of its 95 % interval"),
       field<&O::pass>("pass",
                       "value <= limit (>= with atLeast), and of a quantile no more requests lost "
                       "than it leaves out"),
       field<&O::is_unasked>("unasked",
                             "no request came, or there are no Jobs: nothing was put to the test, "
                             "and nothing is missed")
           .optional(),
       field<&O::of>("of",
                     "whose jobs the value is of, where trace.judgeBy judges each user, group or "
                     "project by itself: the worst")
           .optional(),
       field<&O::lost>("lost", "absent: no request was lost, or it is no quantile of requests")}};
}

Record declared(Of<RequestCounts>) {
  using R = RequestCounts;
  return {"requests of a Service or pipeline, means per replication",
          {field<&R::arrived>("arrived", "requests that came after the warm-up")
               .csv(42, "requestsArrived"),
           field<&R::answered>("answered", "of those, answered before the run ended")
               .csv(43, "requestsAnswered"),
           field<&R::in_objectives>("inObjectives",
                                    "answered, and within every limit on a single request")
               .csv(44, "requestsInObjectives"),
           field<&R::refused>("refused",
                              "found no ready replica, died with it, or were too long for it")
               .csv(45, "requestsRefused"),
           field<&R::too_long>("tooLong",
                               "of these: more tokens than the key-value cache of a pod could ever "
                               "hold; absent when there were none")
               .positive(),
           field<&R::dropped>("dropped", "met a full queue, and so did their retries")
               .csv(46, "requestsDropped"),
           field<&R::timed_out>("timedOut", "waited longer than the time-out")
               .csv(47, "requestsTimedOut"),
           field<&R::retried>("retried", "attempts after the first").csv(48, "requestsRetried"),
           field<&R::mean_in_system>("meanInSystem",
                                     "requests between arrival and answer, mean over time")
               .csv(50, "meanInSystem"),
           field<&R::mean_batch>("meanBatch",
                                 "requests of a batch on the GPU, sequences of a step of a "
                                 "language model; absent when there was none")
               .positive()
               .csv(51, "meanBatch"),
           field<&R::availability>("availability",
                                   "answered / (answered + refused + dropped + timedOut)")
               .of(Unit::Ratio)
               .csv(49, "availability")
               .policy("availability")}};
}

Record declared(Of<TokenFigures>) {
  using T = TokenFigures;
  return {
      "a language model, means per replication",
      {field<&T::answered>("answered", "requests answered after the warm-up, whenever they came")
           .optional(),
       field<&T::input_tokens>("input", "prompt tokens of answered requests"),
       field<&T::output_tokens>("output", "tokens of their answers"),
       field<&T::output_per_second>("outputPerSecond", "answer tokens per second")
           .column("TOK/S")
           .of(Unit::PerSecond)
           .csv(57, "outputTokensPerSecond"),
       field<&T::first_token>("firstTokenSeconds", "arrival to first token (TTFT)")
           .column("TTFT P50", 0, "p50")
           .column("TTFT P95", 0, "p95")
           .column("TTFT P99", 0, "p99")
           .csv(54, "ttftP95Seconds", "p95")
           .csv(55, "ttftP99Seconds", "p99"),
       field<&T::per_token>("perTokenSeconds",
                            "time per token after the first, mean of each request (TPOT)")
           .column("TPOT P50", 0, "p50")
           .column("TPOT P95", 0, "p95")
           .column("TPOT P99", 0, "p99")
           .csv(56, "tpotP95Seconds", "p95"),
       field<&T::kv_cache_peak>("kvCachePeakRatio",
                                "highest share of the KV cache in use, of the fullest pod")
           .column("KV PEAK", 2)
           .of(Unit::Ratio),
       field<&T::kv_cache>("kvCacheBytes", "KV cache of one pod, bytes").column("KV CACHE"),
       field<&T::preemptions>("preemptions",
                              "sequences that lost their cache and were computed again")
           .column("PREEMPTED")
           .csv(58, "preemptions"),
       field<&T::prefix_hits>("prefixHitRatio",
                              "share of the tokens of prompts that were found in the KV cache "
                              "(vLLM's prefix cache hit rate); absent when none was")
           .column("PREFIX HITS", 2)
           .of(Unit::Ratio)
           .positive()
           .csv(kPlacementColumn + 2, "prefixHitRatio"),
       field<&T::adapter_loads>(
           "adapterLoads",
           "times that a LoRA adapter was copied into GPU memory; absent when none was")
           .column("ADAPTER LOADS", 2)
           .positive(),
       field<&T::wake_ups>("wakeUps",
                           "times that an engine that sleeps was woken up; absent when none was")
           .column("WAKE-UPS", 2)
           .positive(),
       field<&T::awake>("awakeRatio",
                        "share of the time that such an engine is awake; absent without llm.sleep")
           .column("AWAKE", 3)
           .of(Unit::Ratio),
       field<&T::per_million_output>("perMillionOutputUsd", "US dollars per million output tokens")
           .column("$/M TOK")
           .csv(59, "perMillionOutputTokensUsd")}};
}

Record declared(Of<ScalingFigures>) {
  using S = ScalingFigures;
  return {"an autoscaled Service, means per replication",
          {field<&S::mean_replicas>("replicasMean", "replicas wanted, mean over the run")
               .column("REPLICAS MEAN")
               .csv(60, "replicasMean"),
           field<&S::max_replicas>("replicasMax", "most replicas wanted at once")
               .column("MAX")
               .csv(61, "replicasMax"),
           field<&S::scale_ups>("scaleUps", "times that more were wanted").column("UPS", 1),
           field<&S::scale_downs>("scaleDowns", "times that fewer were wanted").column("DOWNS", 1),
           field<&S::start_up>("startUpSeconds", "from wanted to ready")
               .column("START-UP P50", 0, "p50")
               .column("START-UP P95", 0, "p95")
               .csv(62, "startUpP95Seconds", "p95")}};
}

Record declared(Of<ScheduleFigures>) {
  using S = ScheduleFigures;
  return {
      "a CronJob, means per replication",
      {field<&S::runs>("runs", "times of its schedule within the duration"),
       field<&S::missed>("missed",
                         "of these, whose Jobs were not made: the run before was not done"),
       field<&S::replaced>("replaced", "of these, deleted for the next before they were done")}};
}

Record declared(Of<QuotaFigures>) {
  using Q = QuotaFigures;
  return {"Jobs that wait for a quota of Kueue: while they do they have no pods",
          {field<&Q::wait>(
               "waitSeconds",
               "from submission to admission, a part of the workload's waitSeconds, and of those "
               "that were stopped until they were admitted again; absent: none was admitted")
               .column("FOR QUOTA", 1, "mean")
               .csv(kPlacementColumn + 3, "quotaWaitMeanSeconds", "mean")
               .csv(kPlacementColumn + 4, "quotaWaitP95Seconds", "p95"),
           field<&Q::stopped>("stopped",
                              "times that an admitted Job was stopped for others to have its "
                              "quota, mean per replication"),
           field<&Q::waiting>("waiting", "Jobs at the end of the run, mean per replication")}};
}

Record declared(Of<NotebookFigures>) {
  using N = NotebookFigures;
  return {
      "notebooks, means per replication",
      {field<&N::users>("users", "people").column("USERS", 1),
       field<&N::sessions>("sessions", "sessions opened").column("SESSIONS").csv(63, "sessions"),
       field<&N::cells>("cells", "cells run").column("CELLS"),
       field<&N::culled>("culled", "sessions ended for idleness").column("CULLED", 2),
       field<&N::gave_up>("gaveUp", "sessions that had no kernel by the time they were to end")
           .column("GAVE UP"),
       field<&N::session_start>("sessionStartSeconds", "asked for to ready")
           .column("START P95", 0, "p95")
           .csv(64, "sessionStartP95Seconds", "p95"),
       field<&N::cell_slowdown>("cellSlowdown", "time of a cell / its time alone on the GPU")
           .column("SLOWDOWN P95", 0, "p95")
           .csv(65, "cellSlowdownP95", "p95"),
       field<&N::oom_per_user_month>("oomPerUserMonth",
                                     "out-of-memory kills per user and month of 730 h")
           .column("OOM/USER-MONTH")
           .csv(66, "oomPerUserMonth"),
       field<&N::waiting_per_user_month_s>(
           "waitingPerUserMonthSeconds",
           "waiting for sessions and slowed cells per user and month, seconds")
           .column("WAIT/USER-MONTH", 1)
           .of(Unit::Seconds),
       field<&N::per_active_user_month>("perActiveUserMonthUsd",
                                        "what its pods pay of the nodes of a month / users with a "
                                        "session in the run, US dollars")
           .column("$/USER")
           .csv(67, "perActiveUserMonthUsd")}};
}

Record declared(Of<GpuSetFigures>) {
  using G = GpuSetFigures;
  return {"a set of GPUs that pods were given",
          {field<&G::pool>("pool", "node pool"),
           field<&G::gpus>("gpus", "GPUs of the pod").each("index on the node"),
           field<&G::pods>("pods", "placed on them, mean per replication"),
           field<&G::all_linked>("allLinked", "every two of them are joined by NVLink"),
           field<&G::all_reduce>("allReduceSeconds", "of one step").positive()}};
}

Record declared(Of<GangFigures>) {
  using G = GangFigures;
  return {
      "pods with several GPUs: the sets that they were given, and what all-reduces took",
      {field<&G::gpus>("gpusPerPod", "GPUs of each pod, of shared ones at the most"),
       field<&G::all_reduce_share>(
           "allReduceRatio", "share of the working time of its containers that all-reduces took")
           .of(Unit::Ratio),
       field<&G::sets>("gpuSets", "sets of GPUs that its pods were given")}};
}

Record declared(Of<PlacementSpread>) {
  using P = PlacementSpread;
  return {"what the placement of its pods decided; absent where it decided little",
          {field<&P::figure>("figure", "latencyP95 or jobCompletionP95, of each run"),
           field<&P::usual>("usualSeconds", "median of the other runs"),
           field<&P::usual_replications>("usualReplications", "other runs in which it was seen"),
           field<&P::worst>("worstSeconds",
                            "median of the runs with the worst placement; absent where nothing was "
                            "answered or finished")
               .csv(kPlacementColumn + 1, "worstPlacementP95Seconds"),
           field<&P::replications>("worstReplications", "runs that had it"),
           field<&P::beside>(
               "beside", "workloads that had more pods on its GPUs there than in the other runs")
               .each("workload")}};
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
  return {field<&W::objectives>("objectives", "empty when the scenario sets none"),
          field<&W::gpu_busy_share>("gpuBusyShare",
                                    "share of the GPU time of the run that its kernels took")
              .optional()
              .of(Unit::Ratio)
              .csv(24, "gpuBusyShare")
              .column("GPU TIME", 5),
          field<&W::gpu_lost>("gpuSecondsLost",
                              "GPU time of containers that later died, or were evicted and start "
                              "over, mean per replication; absent when none did")
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
                                "whom it really had beside it, in the order of the scenario")
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

Record declared(Of<WorkloadResult>) {
  using W = WorkloadResult;
  return {
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
           field<&W::requests>("requests"),
           field<&W::is_stage>("stage", "its requests all come from pipelines").optional(),
           field<&W::tokens>("tokens"), field<&W::scaling>("scaling"),
           field<&W::notebooks>("notebooks"), field<&W::schedule>("schedule"),
           field<&W::quota>("quota"), field<&W::gang>("gang"), field<&W::recorded>("recorded")})};
}

}  // namespace slicewise::sim
