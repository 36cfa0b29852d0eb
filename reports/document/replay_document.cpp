#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "document_text.hpp"
#include "documents.hpp"
#include "record_json.hpp"
#include "replay_columns.hpp"
#include "replay_origin_fields.hpp"

namespace slicewise::sim {

template <>
struct Spelling<QueuePolicy> : SpellingOf<kQueuePolicies> {};

template <>
struct Spelling<GroupBy> {
  static constexpr bool kListed = true;
  static constexpr GroupBy kAll[] = {GroupBy::Nothing, GroupBy::User, GroupBy::Group,
                                     GroupBy::Project, GroupBy::Size};
  static std::string_view of(GroupBy by) {
    constexpr std::string_view kWords[] = {"nothing", "user", "group", "project", "size"};
    return kWords[static_cast<std::size_t>(by)];
  }
};

namespace {

using Role = DiffFigure::Role;

struct SampleTimes {
  Duration mean;
  Duration p50;
  Duration p90;
  Duration p99;
};

std::optional<SampleTimes> times_of(const Histogram& values) {
  if (values.count() == 0) return std::nullopt;
  return SampleTimes{values.mean(), values.quantile(0.5), values.quantile(0.9),
                     values.quantile(0.99)};
}

std::optional<SampleTimes> wait_of_class(const ReplayClass& c) { return times_of(c.wait); }
std::optional<SampleTimes> completion_of_class(const ReplayClass& c) {
  return times_of(c.completion);
}
std::optional<SampleTimes> wait_of_jobs(const ReplayResult& r) { return times_of(r.wait); }
std::optional<SampleTimes> completion_of_jobs(const ReplayResult& r) {
  return times_of(r.completion);
}

std::string_view placement_word(const ReplayOutcome& o) {
  return interleaves(o.scheduling.queue) ? "" : policy_name(o.scheduling.placement);
}

// So much of the jobs waited and were slowed down up to that.
struct QuantileRow {
  double quantile = 0;
  Duration wait;
  std::optional<double> slowdown;
};

std::vector<QuantileRow> distribution_of(const ReplayResult& result) {
  std::vector<QuantileRow> rows;
  if (result.wait.count() == 0) return rows;
  for (const double q : {0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999}) {
    // As far as there are jobs beyond it.
    if (q > 0.5 && static_cast<double>(result.wait.count()) * (1 - q) < 1) break;
    QuantileRow row{q, result.wait.quantile(q), std::nullopt};
    if (result.sharing && result.sharing->slowdown.count() > 0) {
      row.slowdown = result.sharing->slowdown.quantile(q);
    }
    rows.push_back(row);
  }
  return rows;
}

std::optional<Duration> p95_of(const Histogram& times) {
  return times.count() > 0 ? std::optional(times.quantile(0.95)) : std::nullopt;
}
std::optional<Duration> wait_p95(const ReplayResult& r) { return p95_of(r.wait); }
std::optional<Duration> completion_p95(const ReplayResult& r) { return p95_of(r.completion); }

std::optional<double> unshared_utilization(const ReplayResult& r) {
  return r.sharing ? std::nullopt : std::optional(r.utilization());
}

std::string_view way_of(const ReplayOutcome& o) {
  return o.scheduling.sharing ? std::string_view(o.scheduling.sharing->name) : "";
}
bool is_shared(const ReplayOutcome& o) { return o.result.sharing.has_value(); }
bool is_of_sharing(const ReplayResult& r) { return r.sharing.has_value(); }

bool groups(const ReplayStudy& study) { return study.group_by != GroupBy::Nothing; }

bool repeats(const ReplayStudy& study) { return study.repeat > 1; }

const Record& replay_metadata() {
  using S = ReplayStudy;
  static const Record declared = [] {
    Record record{kReplayMetadata, origin_fields<S>()};
    record.fields[3] = std::move(record.fields[3]).csv(3, "seed");
    record.fields.push_back(field<&S::origin, &ReplayOrigin::stamp, &Stamp::allow_pending>(
                                "allowPending", "--allow-pending: jobs left Pending do not count")
                                .optional());
    record.fields.push_back(field<&S::repeat>("repeat", "times that the trace was replayed"));
    record.fields.push_back(
        field<&S::shift>("shiftSeconds", "between the repetitions").when<&repeats>());
    record.fields.push_back(
        field<&S::restart_preempted>("restartPreempted", "preempted jobs start over").optional());
    record.fields.push_back(field<&S::run_under_sharing>("runTimesUnderSharing",
                                                         "run times are lifetimes on shared GPUs")
                                .optional());
    record.fields.push_back(
        field<&S::company_taken_out>("companyTakenOut",
                                     "jobs whose recorded time with neighbours was taken out of "
                                     "their run times")
            .positive());
    record.fields.push_back(
        field<&S::backoff_limit>("backoffLimit",
                                 "times that a job without one of its own comes back after it "
                                 "found no GPU memory left")
            .when<&S::shares>());
    record.fields.push_back(
        field<&S::group_by>("groupBy", "what the jobs of a group have in common").when<&groups>());
    return record;
  }();
  return declared;
}

}  // namespace

template <>
const Record& record_of<SampleTimes>() {
  using T = SampleTimes;
  static const Record declared{
      "",
      {field<&T::mean>("mean", "exact"), field<&T::p50>("p50", "median"),
       field<&T::p90>("p90", "90th percentile"), field<&T::p99>("p99", "99th percentile")}};
  return declared;
}

template <>
const Record& record_of<ReplayClass>() {
  using C = ReplayClass;
  static const Record declared{
      "jobs of like size",
      {field<&C::name>("name", "how many GPUs the jobs ask for").csv(6, "size"),
       finished_jobs(field<&C::finished>("finished", "jobs"), 1).csv(7, "finished"),
       waits(field<&wait_of_class>("waitSeconds", "time without progress"), 2, 3)
           .required()
           .csv(8, "waitMeanSeconds", "mean")
           .csv(9, "waitP50Seconds", "p50")
           .csv(10, "waitP90Seconds", "p90")
           .csv(11, "waitP99Seconds", "p99"),
       mean_completion(field<&completion_of_class>("completionSeconds", "from arrival to end"),
                       "mean")
           .required()
           .csv(12, "completionMeanSeconds", "mean")}};
  return declared;
}

template <>
const Record& record_of<ReplaySeries>() {
  using S = ReplaySeries;
  static const Record declared{
      "means over equal steps from the first arrival on",
      {field<&S::step>("stepSeconds", "their length"),
       field<&S::waiting>("waiting", "jobs in the queue").each("of one step"),
       field<&S::running>("running", "jobs that run").each("of one step"),
       field<&S::gpus>("gpus", "GPUs that jobs hold").each("of one step")}};
  return declared;
}

template <>
const Record& record_of<QuantileRow>() {
  using Q = QuantileRow;
  static const Record declared{
      "what so many of the finished jobs met at most",
      {field<&Q::quantile>("quantile", "share of the jobs").of(Unit::Ratio),
       field<&Q::wait>("waitSeconds", "time without progress"),
       field<&Q::slowdown>("slowdown", "time on the GPU / alone on a whole GPU")}};
  return declared;
}

namespace {

Field of_result(Field field) { return std::move(field).from<&ReplayOutcome::result>(); }

// What became of the jobs, and what they made of the GPUs.
std::vector<Field> fields_of_work() {
  using R = ReplayResult;
  const auto of = of_result;
  return {of(field<&R::jobs>("jobs", "of the trace, all repetitions")),
          finished_jobs(of(field<&R::finished>("finished", "jobs that ended")), 5)
              .diff({.role = Role::Pods, .rank = 5, .is_main = true}),
          of(field<&R::never_fit>("neverFit", "jobs that ask for more than the empty cluster has")
                 .positive())
              .csv(18, "neverFit"),
          of(field<&R::without_run>("withoutRunTime", "jobs left out: their run time is not known")
                 .positive()),
          of(field<&R::started_at_once>("startedAtOnce", "jobs that did not wait")),
          of(field<&R::preemptions>("preemptions", "times that a job lost its GPUs"))
              .csv(16, "preemptions")
              .column("PREEMPTED", 2),
          of(field<&R::most_waiting>("mostWaiting", "jobs in the queue at most"))
              .column("LONGEST QUEUE", 7),
          of(field<&R::events>("events", "arrivals, ends and preemptions")),
          waits(of(field<&wait_of_jobs>("waitSeconds", "time without progress, of finished jobs")),
                4, 6)
              .diff({.role = Role::Latency, .rank = 3, .name = "waitMean", .part = "mean"})
              .diff({.role = Role::Latency, .rank = 4, .name = "waitP99", .part = "p99"}),
          mean_completion(of(field<&completion_of_jobs>("completionSeconds",
                                                        "from arrival to end, of finished jobs")),
                          "mean")
              .column("P99", 7, "p99")
              .diff({.role = Role::Latency,
                     .rank = 1,
                     .name = "completionMean",
                     .part = "mean",
                     .is_main = true})
              .diff({.role = Role::Latency, .rank = 2, .name = "completionP99", .part = "p99"}),
          of(field<&R::makespan>("makespanSeconds", "from the first arrival to the last end"))
              .csv(13, "makespanSeconds")
              .column("MAKESPAN", 1, "", "Time"),
          of(field<&unshared_utilization>("gpuUtilization",
                                          "GPU time of finished work over GPUs x makespan, above 1 "
                                          "where jobs interleave; absent under sharing"))
              .of(Unit::Share)
              .csv(14, "gpuUtilization")
              .column("GPU USE", 1, "", "GPU used"),
          of(field<&R::total_gpus>("totalGpus", "of the cluster")),
          of(field<&R::peak_gpus>("peakGpus", "allocated at once"))
              .of(Unit::Count)
              .csv(15, "peakGpus")
              .column("PEAK GPUS", 2),
          of(field<&R::gpu_hours>("gpuHours", "of finished work")),
          of(field<&R::lost_gpu_hours>("lostGpuHours", "work that preempted jobs did again")
                 .positive()),
          of(field<&R::perfect_estimates>("perfectEstimates", "backfilling knew the true run times")
                 .optional())};
}

}  // namespace

template <>
const Record& record_of<ReplayOutcome>() {
  using O = ReplayOutcome;
  using R = ReplayResult;
  constexpr int kFieldsOfWay = 3;  // before those of the work
  static const Record declared = [] {
    const auto of = of_result;
    Record record{
        "the trace under one scheduler",
        {field<&O::scheduling, &Scheduling::queue>("queue", "which waiting job goes next")
             .csv(4, "queue"),
         field<&placement_word>("placement",
                                "which node a job gets; absent on one pool and where the queue "
                                "chooses")
             .optional()
             .csv(5, "placement"),
         field<&way_of>("sharing", "how jobs share GPUs; absent: as the trace says")
             .optional()
             .csv(kSharingColumn, "sharing"),
         field<&O::cost>("costUsd", "of all nodes over the makespan")
             .csv(17, "costUsd")
             .column("COST", 0, "", "Cost")
             .diff({.role = Role::Cost,
                    .rank = 6,
                    .title = "bill of the replay",
                    .condition = "cost.total",
                    .is_main = true}),
         field<&O::verdict>("verdict"),
         of(field<&R::interrupted>("interrupted", "this replay was stopped early").optional()),
         of(field<&distribution_of>("distribution", "of finished jobs").optional()),
         of(field<&R::series>("series", "over the time of the replay")),
         of(field<&R::classes>("sizes", "small to large; those with jobs")),
         of(field<&wait_p95>("waitP95Seconds", "of finished jobs")).when<&is_of_sharing>(),
         of(field<&completion_p95>("completionP95Seconds", "of finished jobs"))
             .when<&is_of_sharing>()
             .column("P95", 6, "", "Completion p95")
             .csv(kSharingColumn + 1, "completionP95Seconds"),
         field<&O::cost_per_job>("usdPerJob", "per finished job")
             .when<&is_shared>()
             .column("$/JOB", 1, "", "$/job")
             .diff({.role = Role::Cost, .rank = 7, .title = "$/job", .condition = "cost.perJob"})
             .csv(kSharingColumn + 13, "usdPerJob"),
         field<&O::gpu_hours_per_usd>("gpuHoursPerUsd", "of finished work, as recorded")
             .when<&is_shared>()
             .column("GPU-H PER $", 3, "", "GPU-h per $")
             .csv(kSharingColumn + 14, "gpuHoursPerUsd"),
         of(field<&R::sharing>("company", "how jobs fared beside each other")),
         of(field<&R::groups>("groups", "of --group-by, worst first").optional()),
         field<&O::ranges>("ranges",
                           "of --inputs sampled: as the least and the most of GPU_UTIL that may be "
                           "busy time have it; names are waitMean, completionMean, slowdownMean "
                           "and costUsd")
             .optional()}};
    const std::vector<Field> work = fields_of_work();
    record.fields.insert(record.fields.begin() + kFieldsOfWay, work.begin(), work.end());
    return record;
  }();
  return declared;
}

template <>
const Record& record_of<FastestAt>() {
  using F = FastestAt;
  static const Record declared{
      "if busy time is so much of GPU_UTIL",
      {field<&F::busy_of_util>("busyOfGpuUtil", "the usual part, the least and the most"),
       field<&F::outcome>("scheduler", "place in schedulers, from 0")}};
  return declared;
}

template <>
const Record& record_of<ReplayStudy>() {
  static const Record declared{
      "a trace of jobs on one cluster under several schedulers",
      {constant("apiVersion", kReplayApiVersion, "version of this format"),
       constant("kind", "Replay", "what this document is"), group("metadata", &replay_metadata),
       field<&ReplayStudy::outcomes>("schedulers", "in the order asked for"),
       field<&ReplayStudy::fastest>("fastest",
                                    "of --inputs sampled: whose jobs are done soonest in the mean, "
                                    "of those that leave none behind")
           .optional(),
       field<&ReplayStudy::findings>("notes", "what the user should know").as(&finding_record)}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

using nlohmann::json;

json document_of(const sim::ReplayStudy& study) {
  json document = described_json(study);
  if (study.on_nodes) return document;
  for (json& scheduler : document["schedulers"]) scheduler.erase("placement");
  return document;
}

template <>
std::string Report<sim::ReplayStudy>::schema() {
  return json_text({{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "slicewise replay"},
                    {"oneOf",
                     {record_schema(sim::record_of<sim::ReplayStudy>()),
                      record_schema(sim::record_of<sim::InflationStudy>())}}});
}

}  // namespace slicewise::reports
