#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "document_text.hpp"
#include "record_json.hpp"
#include "replay_origin_fields.hpp"

namespace slicewise::sim {

template <>
struct Spelling<QueuePolicy> {
  static constexpr bool kListed = true;
  static constexpr auto kAll = [] {
    std::array<QueuePolicy, static_cast<std::size_t>(QueuePolicy::AntMan) + 1> policies{};
    for (std::size_t p = 0; p < policies.size(); ++p) policies[p] = static_cast<QueuePolicy>(p);
    return policies;
  }();
  static std::string_view of(QueuePolicy policy) { return policy_name(policy); }
};

template <>
struct Spelling<TurnedAway> {
  static constexpr bool kListed = true;
  static constexpr TurnedAway kAll[] = {TurnedAway::GpuMemory, TurnedAway::SeveralGpus,
                                        TurnedAway::OtherSlice};
  static std::string_view of(TurnedAway reason) {
    constexpr std::string_view kWords[] = {"gpuMemory", "severalGpus", "otherSlice"};
    return kWords[static_cast<std::size_t>(reason)];
  }
};

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

struct SampleRatios {
  double mean = 1;
  double p50 = 1;
  double p95 = 1;
  double most = 1;
};

std::optional<SampleRatios> ratios_of(const RatioHistogram& values) {
  if (values.count() == 0) return std::nullopt;
  return SampleRatios{values.mean(), values.quantile(0.5), values.quantile(0.95), values.most()};
}

std::optional<SampleRatios> slowdown_of_jobs(const SharingFigures& f) {
  return ratios_of(f.slowdown);
}
std::optional<SampleRatios> bounded_of_jobs(const SharingFigures& f) {
  return ratios_of(f.bounded);
}
std::optional<SampleRatios> slowdown_of_group(const ReplayGroup& g) {
  return ratios_of(g.slowdown);
}

std::optional<SlowedUser> worst_user(const SharingFigures& f) {
  return f.users.empty() ? std::nullopt : std::optional(f.users.front());
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

struct SmallerShare {
  std::int64_t jobs = 0;
  scenarios::RowPlace first;
};

std::optional<SmallerShare> smaller_share(const SharingFigures& f) {
  if (f.asked_for_more == 0) return std::nullopt;
  return SmallerShare{f.asked_for_more, f.first_asked_for_more};
}

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

namespace {

// What screens and the page call it. A quantile stands right of the mean that it belongs to.

Field finished_jobs(Field field, int priority) {
  return std::move(field).column("FINISHED", priority, "", "Finished");
}

Field mean_wait(Field field, std::string_view part = {}) {
  return std::move(field).column("WAIT MEAN", 0, part, "Wait");
}

Field waits(Field field, int p50, int p90) {
  return mean_wait(std::move(field), "mean")
      .column("P50", p50, "p50")
      .column("P90", p90, "p90")
      .column("P99", 0, "p99", "Wait p99");
}

Field mean_completion(Field field, std::string_view part = {}) {
  return std::move(field).column("COMPLETION MEAN", 0, part, "Completion");
}

Field mean_slowdown(Field field, std::string_view part = {}) {
  return std::move(field).column("SLOWDOWN MEAN", 0, part, "Slowdown");
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
const Record& record_of<SampleRatios>() {
  using R = SampleRatios;
  static const Record declared{"",
                               {field<&R::mean>("mean", "exact").of(Unit::Times),
                                field<&R::p50>("p50", "median").of(Unit::Times),
                                field<&R::p95>("p95", "95th percentile").of(Unit::Times),
                                field<&R::most>("max", "the largest").of(Unit::Times)}};
  return declared;
}

template <>
const Record& record_of<ReplayGroup>() {
  using G = ReplayGroup;
  static const Record declared{
      "jobs that have something in common",
      {field<&G::name>("name", "what they have in common; empty: the trace does not say"),
       finished_jobs(field<&G::finished>("finished", "jobs"), 1),
       field<&G::lost>("lost", "jobs that never ran, or failed")
           .positive()
           .column("LOST", 1, "", "Lost"),
       mean_wait(field<&G::wait_mean>("waitMeanSeconds", "time in the queue")),
       mean_completion(field<&G::completion_mean>("completionMeanSeconds", "from arrival to end")),
       mean_slowdown(
           field<&slowdown_of_group>("slowdown", "time on the GPU / alone on a whole GPU"), "mean")
           .column("P95", 0, "p95")}};
  return declared;
}

template <>
const Record& record_of<JobFigures>() {
  using J = JobFigures;
  static const Record declared{
      "of how many jobs the trace says what they bring to sharing",
      {field<&J::jobs>("jobs", "rows that ask for GPUs"),
       field<&J::with_use>("gpuUse", "how busy they kept their GPUs, or their SMs at least"),
       field<&J::by_profile>("profile", "of those: by a profile of the catalogue").positive(),
       field<&J::with_fraction>(
           "fractionAsked",
           "not that, but the part of a GPU that they asked for, taken for their "
           "use (Assumed); the others keep their GPUs busy all the time (Assumed)"),
       field<&J::with_sm>("smActivity", "the others use all SMs while kernels run (Assumed)"),
       field<&J::with_memory>("gpuMemory", "the others need next to none (Assumed)"),
       field<&J::with_gpu>(
           "gpuModel", "ran on a GPU of the catalogue, from which their times are carried over")}};
  return declared;
}

template <>
const Record& record_of<SharingFigures::Refusal>() {
  using R = SharingFigures::Refusal;
  static const Record declared{
      "jobs that no share of a GPU is enough for",
      {field<&R::reason>(
           "reason",
           "gpuMemory: they need more than a job may have anywhere; severalGpus: MIG "
           "instances do not work together; otherSlice: they name a MIG profile that the "
           "layout does not have, nor one with as much compute"),
       field<&R::jobs>("jobs", "how many"),
       field<&R::first, &scenarios::RowPlace::row>("firstRow",
                                                   "the first, of the trace's rows that "
                                                   "were kept, counted from 1"),
       field<&R::first, &scenarios::RowPlace::line>("firstLine", "its line of the file")}};
  return declared;
}

template <>
const Record& record_of<SmallerShare>() {
  using S = SmallerShare;
  static const Record declared{
      "jobs that asked for more of a GPU than a share of it is, and got one share",
      {field<&S::jobs>("jobs", "how many"),
       field<&S::first, &scenarios::RowPlace::row>("firstRow",
                                                   "the first, of the trace's rows that "
                                                   "were kept, counted from 1"),
       field<&S::first, &scenarios::RowPlace::line>("firstLine", "its line of the file")}};
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

template <>
const Record& record_of<SlowedUser>() {
  using U = SlowedUser;
  static const Record declared{
      "a user whose jobs were slowed down",
      {field<&U::name>("name", "as the trace has it"),
       finished_jobs(field<&U::jobs>("finished", "jobs with a GPU"), 0),
       mean_slowdown(
           field<&U::mean_slowdown>("slowdownMean", "of the user's jobs").of(Unit::Times))}};
  return declared;
}

template <>
const Record& record_of<SharingFigures>() {
  using F = SharingFigures;
  static const Record declared{
      "what jobs that met on GPUs did to each other",
      {mean_slowdown(field<&slowdown_of_jobs>("slowdown", "time on the GPU / alone on a whole GPU"),
                     "mean")
           .column("P95", 1, "p95", "Slowdown p95")
           .csv(kSharingColumn + 2, "slowdownMean", "mean")
           .csv(kSharingColumn + 3, "slowdownP95", "p95"),
       field<&bounded_of_jobs>("boundedSlowdown",
                               "completion / time alone, of which 10 s count at least")
           .column("BOUNDED MEAN", 6, "mean")
           .column("P95", 7, "p95")
           .csv(kSharingColumn + 6, "boundedSlowdownMean", "mean")
           .csv(kSharingColumn + 7, "boundedSlowdownP95", "p95"),
       field<&worst_user>("worstUser", "the first of users")
           .csv(kSharingColumn + 4, "worstUser", "name")
           .csv(kSharingColumn + 5, "worstUserSlowdown", "slowdownMean"),
       field<&F::users>("users", "those slowed down most, worst first, twenty at most").optional(),
       field<&F::user_count>("userCount", "all with jobs on a GPU").positive(),
       same_figure<&F::oom_killed>(record_of<PodCounts>(), "oomKilled")
           .saying("times that a job found no GPU memory left")
           .positive()
           .column("OOM-KILLED", 1, "", "Out of memory")
           .csv(kSharingColumn + 8, "oomKilled"),
       field<&F::failed>("failed", "jobs that found none once more than they are tried again")
           .positive()
           .column("FAILED", 1)
           .csv(kSharingColumn + 9, "failed"),
       field<&F::refusals>("fitNoShare", "jobs that never ran").optional(),
       field<&smaller_share>("smallerShare"),
       field<&F::gpu_busy>("gpuBusyRatio", "kernels run, of the time of all GPUs")
           .of(Unit::Ratio)
           .column("GPU BUSY", 0, "", "GPU busy")
           .csv(kSharingColumn + 10, "gpuBusy"),
       field<&F::sm_active>("smActiveRatio", "SMs work, of the time of all GPUs")
           .of(Unit::Ratio)
           .column("SM ACTIVE", 3, "", "SM active")
           .csv(kSharingColumn + 11, "smActive"),
       field<&F::switching>("switchRatio", "contexts are switched, of the time of all GPUs")
           .of(Unit::Ratio)
           .column("SWITCH", 5)
           .csv(kSharingColumn + 12, "switching"),
       field<&F::known>("provenance", "where what jobs bring comes from")}};
  return declared;
}

template <>
const Record& record_of<ReplayOutcome>() {
  using O = ReplayOutcome;
  using R = ReplayResult;
  using Role = DiffFigure::Role;
  static const Record declared = [] {
    const auto of = [](Field field) { return std::move(field).from<&O::result>(); };
    return Record{
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
         of(field<&R::jobs>("jobs", "of the trace, all repetitions")),
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
                .optional()),
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
         of(field<&R::groups>("groups", "of --group-by, worst first").optional())}};
  }();
  return declared;
}

template <>
const Record& record_of<ReplayStudy>() {
  static const Record declared{
      "a trace of jobs on one cluster under several schedulers",
      {constant("apiVersion", kReplayApiVersion, "version of this format"),
       constant("kind", "Replay", "what this document is"), group("metadata", &replay_metadata),
       field<&ReplayStudy::outcomes>("schedulers", "in the order asked for"),
       field<&ReplayStudy::findings>("notes", "what the user should know").as(&finding_record)}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

using nlohmann::json;

json replay_document(const sim::ReplayStudy& study) {
  json document = described_json(study);
  if (study.on_nodes) return document;
  for (json& scheduler : document["schedulers"]) scheduler.erase("placement");
  return document;
}

std::string replay_json(const sim::ReplayStudy& study) { return json_text(replay_document(study)); }

std::string replay_yaml(const sim::ReplayStudy& study) { return yaml_text(replay_document(study)); }

std::string replay_schema_json() {
  return json_text({{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "slicewise replay"},
                    {"oneOf",
                     {record_schema(sim::record_of<sim::ReplayStudy>()),
                      record_schema(sim::record_of<sim::InflationStudy>())}}});
}

}  // namespace slicewise::reports
