#include "replay_record.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace slicewise::sim {
namespace {

constexpr double kMilliNsPerGpuHour = 1000 * 3.6e12;

struct SizeClass {
  std::int64_t most_milli;
  std::string_view name;
};

constexpr std::array<SizeClass, 7> kSizes = {{{0, "no GPU"},
                                              {999, "part of a GPU"},
                                              {1000, "1 GPU"},
                                              {4000, "2-4 GPUs"},
                                              {8000, "5-8 GPUs"},
                                              {16'000, "9-16 GPUs"},
                                              {INT64_MAX, "more than 16"}}};

std::size_t class_of(std::int64_t milli) {
  std::size_t at = 0;
  while (milli > kSizes[at].most_milli) ++at;
  return at;
}

}  // namespace

ReplayRecord::ReplayRecord(const JobStream& jobs, const ReplaySettings& settings)
    : jobs_(jobs),
      group_by_(settings.group_by),
      over_time_(jobs.size() > 0 ? jobs.arrival(0) : TimePoint{}) {
  result_.jobs = jobs.size();
  if (settings.keep_jobs) result_.job_times.resize(jobs.size());
  for (std::size_t at = 0; at < kSizes.size(); ++at) classes_[at].name = kSizes[at].name;
  if (jobs.size() > 0) result_.first_arrival = jobs.arrival(0);
  result_.last_end = result_.first_arrival;
  if (settings.sharing) {
    result_.sharing.emplace();
    if (!jobs.trace().user.empty()) slowdown_of_user_.resize(jobs.trace().names.size());
  }
  const bool by_name = group_by_ != GroupBy::Nothing && group_by_ != GroupBy::Size;
  group_of_name_.resize(by_name ? jobs.trace().names.size() : kSizes.size());
}

// Those who lost all of their jobs are in the table as well.
void ReplayRecord::lose(JobNumber job) {
  if (group_by_ == GroupBy::Nothing) return;
  for (const std::uint32_t row : jobs_.rows_of(job)) ++group_of(row).lost;
}

void ReplayRecord::never_fits(JobNumber job) {
  lose(job);
  result_.never_fit += static_cast<std::int64_t>(jobs_.rows_of(job).size());
  if (!result_.first_never_fit) result_.first_never_fit = jobs_.rows_of(job).front();
}

void ReplayRecord::refused(JobNumber job, TurnedAway reason) {
  lose(job);
  std::vector<SharingFigures::Refusal>& refusals = result_.sharing->refusals;
  auto known = std::ranges::find(refusals, reason, &SharingFigures::Refusal::reason);
  if (known == refusals.end()) {
    const std::size_t row = jobs_.rows_of(job).front();
    known = refusals.insert(known, {reason, 0, jobs_.trace().row_place(row)});
  }
  known->jobs += static_cast<std::int64_t>(jobs_.rows_of(job).size());
}

void ReplayRecord::started(JobNumber job, TimePoint now) {
  used_milli_ += jobs_.gpu_milli(job);
  if (used_milli_ > peak_milli_) peak_milli_ = used_milli_;
  if (result_.job_times.empty()) return;
  const JobNumber first = job - static_cast<JobNumber>(jobs_.row(job));
  for (const std::uint32_t row : jobs_.rows_of(job)) {
    JobTimes& times = result_.job_times[first + row];
    if (times.start == kNever) times.start = now;
  }
}

void ReplayRecord::preempted(JobNumber job) {
  used_milli_ -= jobs_.gpu_milli(job);
  ++result_.preemptions;
  ++result_.events;
}

void ReplayRecord::lost(JobNumber job, Duration work) {
  lost_milli_ns_ += static_cast<Int128>(jobs_.gpu_milli(job)) * work.ns;
}

void ReplayRecord::killed(JobNumber job) {
  used_milli_ -= jobs_.gpu_milli(job);
  ++result_.sharing->oom_killed;
  ++result_.events;
}

void ReplayRecord::failed(JobNumber job) {
  lose(job);
  result_.sharing->failed += static_cast<std::int64_t>(jobs_.rows_of(job).size());
}

void ReplayRecord::ended(JobNumber job, TimePoint now, const ServedInCompany* served) {
  const std::int64_t milli = jobs_.gpu_milli(job);
  const Duration run = jobs_.run(job);
  used_milli_ -= milli;
  milli_ns_ += static_cast<Int128>(milli) * run.ns;
  ++result_.events;
  if (now > result_.last_end) result_.last_end = now;
  const auto rows = jobs_.rows_of(job);
  if (rows.size() == 1) {
    ended_row(job, rows.front(), jobs_.arrival(job), now, served);
    return;
  }
  const JobNumber first = job - static_cast<JobNumber>(jobs_.row(job));
  for (const std::uint32_t row : rows) {
    ended_row(first + row, row, jobs_.arrival(first + row), now, served);
  }
}

void ReplayRecord::ended_row(JobNumber job, std::size_t row, TimePoint arrival, TimePoint now,
                             const ServedInCompany* served) {
  const scenarios::JobTrace& trace = jobs_.trace();
  const Duration completion = now - arrival;
  // Of a gang each row has waited for the run time of the longest less than all of them.
  Duration wait = completion - trace.run[row];
  if (served != nullptr) wait -= served->on_gpu - served->run;
  ReplayClass& size = classes_[class_of(jobs_.milli_of_row(row))];
  ++size.finished;
  size.wait.add(wait);
  size.completion.add(completion);
  result_.wait.add(wait);
  result_.completion.add(completion);
  ++result_.finished;
  result_.started_at_once += wait.ns == 0 ? 1 : 0;
  if (!result_.job_times.empty()) result_.job_times[job].end = now;
  if (group_by_ != GroupBy::Nothing) {
    ReplayGroup& group = group_of(row);
    ++group.finished;
    group.wait_ns += wait.ns;
    group.completion_ns += completion.ns;
  }
  if (served != nullptr && trace.gpus[row] > 0) slowed_down(row, completion, *served);
}

void ReplayRecord::slowed_down(std::size_t row, Duration completion,
                               const ServedInCompany& served) {
  constexpr double kShortest = 10;
  const double alone_s = to_seconds(served.run) * served.whole;
  const double slowdown = alone_s > 0 ? to_seconds(served.on_gpu) / alone_s : 1;
  SharingFigures& figures = *result_.sharing;
  figures.slowdown.add(slowdown);
  figures.bounded.add(std::max(1.0, to_seconds(completion) / std::max(alone_s, kShortest)));
  if (group_by_ != GroupBy::Nothing) group_of(row).slowdown.add(slowdown);
  if (slowdown_of_user_.empty()) return;
  Sum& user = slowdown_of_user_[jobs_.trace().user[row]];
  user.of += slowdown;
  ++user.jobs;
}

ReplayGroup& ReplayRecord::group_of(std::size_t row) {
  const scenarios::JobTrace& trace = jobs_.trace();
  const auto by_column = [&](const scenarios::TraceColumn<std::uint32_t>& column) {
    return column.empty() ? 0 : column[row];
  };
  std::size_t key = 0;
  switch (group_by_) {
    case GroupBy::Nothing:
      break;
    case GroupBy::User:
      key = by_column(trace.user);
      break;
    case GroupBy::Group:
      key = by_column(trace.group);
      break;
    case GroupBy::Project:
      key = by_column(trace.project);
      break;
    case GroupBy::Size:
      key = class_of(jobs_.milli_of_row(row));
      break;
  }
  std::uint32_t& number = group_of_name_[key];
  if (number == 0) {
    ReplayGroup& group = result_.groups.emplace_back();
    group.name = group_by_ == GroupBy::Size ? std::string(kSizes[key].name) : trace.names[key];
    number = static_cast<std::uint32_t>(result_.groups.size());
  }
  return result_.groups[number - 1];
}

// Those who suffer most come first: without a job that ended, from their neighbours, in the queue.
void ReplayRecord::sort_groups() {
  const auto suffering = [](const ReplayGroup& group) {
    const double slowdown = group.slowdown.count() > 0 ? group.slowdown.mean() : 0;
    return std::tuple(group.finished == 0, slowdown, group.wait_mean());
  };
  std::ranges::sort(result_.groups, [&](const ReplayGroup& a, const ReplayGroup& b) {
    const auto of_a = suffering(a);
    const auto of_b = suffering(b);
    return of_a != of_b ? of_a > of_b : a.name < b.name;
  });
}

void ReplayRecord::rank_users() {
  constexpr std::size_t kMostUsers = 20;
  std::vector<std::size_t> users;                                        // by name
  for (std::size_t name = 1; name < slowdown_of_user_.size(); ++name) {  // 0: nobody is named
    if (slowdown_of_user_[name].jobs > 0) users.push_back(name);
  }
  const auto mean = [this](std::size_t name) {
    return slowdown_of_user_[name].of / static_cast<double>(slowdown_of_user_[name].jobs);
  };
  std::ranges::stable_sort(users, std::ranges::greater{}, mean);
  result_.sharing->user_count = static_cast<std::int64_t>(users.size());
  users.resize(std::min(users.size(), kMostUsers));
  for (const std::size_t name : users) {
    result_.sharing->users.push_back(
        {jobs_.trace().names[name], slowdown_of_user_[name].jobs, mean(name)});
  }
}

ReplayResult ReplayRecord::take(std::int64_t total_milli, bool interrupted) {
  for (ReplayClass& size : classes_) {
    if (size.finished > 0) result_.classes.push_back(std::move(size));
  }
  for (const Duration run : jobs_.trace().run.values()) result_.without_run += run.ns < 0 ? 1 : 0;
  if (const auto rows = static_cast<std::int64_t>(jobs_.trace().size()); rows > 0) {
    result_.without_run *= static_cast<std::int64_t>(jobs_.size()) / rows;
  }
  result_.total_gpus = static_cast<double>(total_milli) / 1000;
  result_.peak_gpus = static_cast<double>(peak_milli_) / 1000;
  result_.gpu_hours = static_cast<double>(milli_ns_) / kMilliNsPerGpuHour;
  result_.lost_gpu_hours = static_cast<double>(lost_milli_ns_) / kMilliNsPerGpuHour;
  result_.interrupted = interrupted;
  sort_groups();
  if (result_.sharing) rank_users();
  result_.series = over_time_.series();
  return std::move(result_);
}

}  // namespace slicewise::sim
