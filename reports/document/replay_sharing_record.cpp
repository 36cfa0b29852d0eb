#include <optional>
#include <string_view>

#include "slicewise/sim/result_record.hpp"

#include "documents.hpp"
#include "replay_columns.hpp"
#include "replay_origin_fields.hpp"

// What jobs of a replay that share GPUs did to each other.
namespace slicewise::sim {

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

namespace {

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

struct SmallerShare {
  std::int64_t jobs = 0;
  scenarios::RowPlace first;
};

std::optional<SmallerShare> smaller_share(const SharingFigures& f) {
  if (f.asked_for_more == 0) return std::nullopt;
  return SmallerShare{f.asked_for_more, f.first_asked_for_more};
}

}  // namespace

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
       field<&J::with_util>("gpuUtilisation",
                            "of those: in how much of the time kernels ran (GPU_UTIL), 75 % of "
                            "which is taken for time that they need the GPU (Assumed)")
           .positive(),
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

}  // namespace slicewise::sim
