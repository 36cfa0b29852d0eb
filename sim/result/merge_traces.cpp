#include <algorithm>
#include <cmath>
#include <utility>

#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

// The workloads that one trace became, as one.
namespace slicewise::sim {
namespace {

using scenarios::RecordedJobs;

// Of jobs that are looked at together, by replication.
class JobSamples {
 public:
  JobSamples(std::string name, std::size_t replications,
             std::span<const scenarios::Objective> objectives)
      : name_(std::move(name)),
        objectives_(objectives),
        waits_(replications),
        completions_(replications),
        slowdowns_(replications) {}

  void add(std::size_t replication, const RecordedJobs::Job& job, const JobOutcome& outcome,
           bool interrupted) {
    ++jobs_;
    const bool finished = outcome.completion.ns >= 0;
    if (outcome.wait.ns >= 0) waits_[replication].push_back(outcome.wait);
    add_late(replication, outcome);
    // The deadline of a job that an interrupt cut off may not have come yet.
    if (job.deadline.ns >= 0 && (finished || !interrupted)) {
      ++with_deadline_;
      in_time_ += finished && outcome.completion <= job.deadline ? 1 : 0;
    }
    if (!finished) return;
    const Duration ran = outcome.completion - outcome.wait;
    completions_[replication].push_back(outcome.completion);
    slowdowns_[replication].push_back(
        Duration{std::llround(ratio(ran, job.run) * static_cast<double>(kUnitSlowdown.ns))});
    past_limit_ += job.time_limit.ns >= 0 && ran > job.time_limit ? 1 : 0;
  }

  JobGroupFigures figures() const {
    const auto runs = static_cast<double>(waits_.size());
    JobGroupFigures figures;
    figures.name = name_;
    figures.jobs = jobs_ / static_cast<std::int64_t>(waits_.size());
    if (const auto wait = summarize(waits_)) figures.wait_p95 = wait->p95;
    if (const auto completion = summarize(completions_)) figures.completion_p95 = completion->p95;
    figures.slowdown = in_units(summarize(slowdowns_), kUnitSlowdown);
    if (figures.slowdown) figures.finished = static_cast<double>(figures.slowdown->count) / runs;
    if (with_deadline_ > 0) {
      figures.deadlines_met = static_cast<double>(in_time_) / static_cast<double>(with_deadline_);
    }
    figures.past_time_limit = static_cast<double>(past_limit_) / runs;
    return figures;
  }

 private:
  // What is not over and takes longer than its limit already took at least that long.
  void add_late(std::size_t replication, const JobOutcome& outcome) {
    for (const scenarios::Objective& objective : objectives_) {
      const auto* limit = std::get_if<Duration>(&objective.limit);
      if (limit == nullptr || outcome.unfinished <= *limit) continue;
      if (objective.figure == scenarios::Figure::CompletionP95) {
        completions_[replication].push_back(outcome.unfinished);
      } else if (objective.figure == scenarios::Figure::WaitP95 && outcome.wait.ns < 0) {
        waits_[replication].push_back(outcome.unfinished);
      }
    }
  }

  std::string name_;
  std::span<const scenarios::Objective> objectives_;
  std::int64_t jobs_ = 0;
  std::int64_t with_deadline_ = 0;
  std::int64_t in_time_ = 0;
  std::int64_t past_limit_ = 0;
  std::vector<std::vector<Duration>> waits_;
  std::vector<std::vector<Duration>> completions_;
  std::vector<std::vector<Duration>> slowdowns_;  // as times, see kUnitSlowdown
};

// Calls `use` with each job of a workload, what became of it and in which replication.
void for_each_job(const World& world, std::size_t w, std::span<const Replication> replications,
                  const auto& use) {
  const std::vector<RecordedJobs::Job>& jobs = *world.workloads[w].spec.trace->jobs;
  for (std::size_t r = 0; r < replications.size(); ++r) {
    const std::vector<JobOutcome>& outcomes = replications[r].workloads[w].outcomes;
    for (std::size_t n = 0; n < outcomes.size(); ++n) use(r, jobs[n], outcomes[n]);
  }
}

RecordedFigures recorded_figures(const World& world, const TraceModel& trace,
                                 std::span<const Replication> replications) {
  const RecordedJobs& source = *world.workloads[trace.workloads.front()].spec.trace;
  const std::span<const scenarios::Objective> objectives =
      world.workloads[trace.workloads.front()].spec.objectives;
  JobSamples all(trace.name, replications.size(), objectives);
  std::vector<JobSamples> judged;
  if (source.judge_by != RecordedJobs::Split::None) {
    for (const std::string& name : *source.judged_groups) {
      judged.emplace_back(name, replications.size(), objectives);
    }
  }
  RecordedFigures figures;
  for (const std::size_t w : trace.workloads) {
    JobSamples own(world.workloads[w].name, replications.size(), objectives);
    for_each_job(world, w, replications, [&](std::size_t r, const auto& job, const auto& outcome) {
      const bool interrupted = replications[r].interrupted;
      for (JobSamples* samples : {&all, &own}) samples->add(r, job, outcome, interrupted);
      if (!judged.empty()) judged[job.judged].add(r, job, outcome, interrupted);
    });
    figures.classes.push_back({own.figures(), {}, {}, {}, {}, 1});
  }
  figures.all = all.figures();
  for (const JobSamples& samples : judged) figures.judged.push_back(samples.figures());
  // A part of the trace may run without them.
  std::erase_if(figures.judged, [](const JobGroupFigures& group) { return group.jobs == 0; });
  figures.apart = trace.apart;
  return figures;
}

void add(const BillPart& part, BillPart& sum) {
  sum.held += part.held;
  sum.shared += part.shared;
  sum.total += part.total;
}

void add(const LeftBehind& part, LeftBehind& sum) {
  sum.pods += part.pods;
  sum.jobs += part.jobs;
  sum.oom_kills += part.oom_kills;
  sum.failed += part.failed;
  sum.crash_looping += part.crash_looping;
  sum.pending += part.pending;
  sum.never_admitted += part.never_admitted;
}

WorkloadResult trace_result(const World& world, const TraceModel& trace,
                            std::span<const Replication> replications,
                            std::span<WorkloadResult> by_workload) {
  WorkloadResult result;
  result.name = trace.name;
  result.kind = kTraceJobsKind;
  result.unit_name = by_workload[trace.workloads.front()].unit_name;
  result.namespace_name = by_workload[trace.workloads.front()].namespace_name;
  RecordedFigures& recorded = result.recorded.emplace(recorded_figures(world, trace, replications));
  BillPart bill;
  std::vector<std::vector<Duration>> waits(replications.size());
  std::vector<std::vector<Duration>> completions(replications.size());
  for (std::size_t c = 0; c < trace.workloads.size(); ++c) {
    const std::size_t w = trace.workloads[c];
    WorkloadResult& part = by_workload[w];
    if (part.namespace_name != result.namespace_name) result.namespace_name.clear();
    result.completed += part.completed;
    result.throughput_per_second += part.throughput_per_second;
    result.goodput_per_second += part.goodput_per_second;
    result.gpu_busy_share += part.gpu_busy_share;
    result.gpu_lost += part.gpu_lost;
    add(part.left_behind, result.left_behind);
    if (part.bill) add(*part.bill, bill);
    for (std::size_t r = 0; r < replications.size(); ++r) {
      const WorkloadRecord& record = replications[r].workloads[w];
      waits[r].insert(waits[r].end(), record.wait.begin(), record.wait.end());
      completions[r].insert(completions[r].end(), record.completion.begin(),
                            record.completion.end());
    }
    JobClass& job_class = recorded.classes[c];
    job_class.namespace_name = std::move(part.namespace_name);
    job_class.labels = std::move(part.labels);
    job_class.gang = std::move(part.gang);
    job_class.bill = part.bill;
    job_class.pods_per_job = world.workloads[w].pods_per_job;
  }
  result.wait = summarize(waits);
  result.quota = quota_figures(world, trace.workloads, replications);
  result.job_completion = summarize(completions);
  result.bound_by = bound_by(world, result, trace.workloads, replications);
  if (result.completed > 0) bill.per_job = from_dollars(to_dollars(bill.total) / result.completed);
  result.bill = bill;
  result.objectives = judge_objectives(world, trace, replications, recorded);
  add_scatter(result.objectives, replications, [&](auto one) {
    return judge_objectives(world, trace, one, recorded_figures(world, trace, one));
  });
  return result;
}

}  // namespace

void fold_traces(const World& world, std::span<const Replication> replications,
                 VariantResult& result) {
  std::vector<WorkloadResult> folded;
  for (std::size_t w = 0; w < result.workloads.size(); ++w) {
    const bool recorded = w < world.workloads.size() && world.workloads[w].spec.trace;
    if (!recorded) {
      folded.push_back(std::move(result.workloads[w]));
      continue;
    }
    const auto trace =
        std::ranges::find(world.traces, world.workloads[w].spec.trace->workload, &TraceModel::name);
    if (trace->workloads.front() != w) continue;
    folded.push_back(trace_result(world, *trace, replications, result.workloads));
  }
  result.workloads = std::move(folded);
}

}  // namespace slicewise::sim
