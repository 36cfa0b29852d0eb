#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "../text/flow_text.hpp"
#include "blocks.hpp"

// workloads[].schedule: when a CronJob makes its Jobs; workloads[].autoscaling.schedule: when KEDA
// has how many pods.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr std::size_t kMostRuns = 100'000;  // of a CronJob, and starts or ends of a window

constexpr Word word_for(Schedule::Concurrency policy) {
  return {Schedule::kPolicies.at(static_cast<std::size_t>(policy)), policy};
}
constexpr Word kPolicies[] = {word_for(Schedule::Concurrency::Allow),
                              word_for(Schedule::Concurrency::Forbid),
                              word_for(Schedule::Concurrency::Replace)};

// Of a Schedule or a ReplicaWindow.
template <auto cron_member, auto parse>
void read_cron(OwnerOf<cron_member>& owner, const Field& /*field*/, const Entry& entry,
               Reading& reading) {
  const auto cron = parse(entry.value->text);
  if (cron) {
    owner.*cron_member = *cron;
    return;
  }
  reading.findings.add(cron.error().code, entry.value->where, cron.error().message,
                       cron.error().help);
}

template <class Owner>
void read_zone(Owner& owner, const Field& /*field*/, const Entry& entry, Reading& reading) {
  const std::string& name = entry.value->text;
  const auto zone = time_zone(name);
  if (zone && !name.empty()) {
    owner.time_zone = name;
  } else {
    reading.findings.add(Code::ValueRange, entry.value->where,
                         fmt::format("unknown time zone \"{}\"", name), unknown_zone_help(name));
  }
}

void finish_schedule(Schedule& schedule, const Node& map, Reading& reading) {
  if (schedule.time_zone.empty()) return;
  if (map.find("utcOffset") != nullptr) {
    reading.findings.add(Code::SettingConflict, key_place(map, "utcOffset"),
                         "utcOffset beside timeZone", "keep one of the two");
  }
  schedule.utc_offset = time_zone(schedule.time_zone)->offset;
}

constexpr Field kScheduleFields[] = {
    read_by<Schedule, &read_cron<&Schedule::cron, &parse_cron>>(
        T::Text, "cron", "\"30 2 * * 1-5\"",
        "Minute, hour, day of the month, month and day of the week at which `count` Jobs are made. "
        "The run of a scenario is in the week of Monday 2026-01-05.")
        .needed(),
    field<&Schedule::utc_offset>("utcOffset", "\"+01:00\"",
                                 "Local time minus UTC, in place of timeZone.")
        .as(T::UtcOffset),
    read_by<Schedule, &read_zone<Schedule>>(
        T::Text, "timeZone", "America/New_York",
        "Whose time the schedule is in, by its name in IANA's database: as far from UTC as in the "
        "week of the run, all the run long.")
        .otherwise("UTC"),
    field<&Schedule::concurrency>(
        "concurrencyPolicy", "Forbid",
        "When the Jobs of the run before are not done. Allow: both run. Forbid: the Jobs are made "
        "when those are done; of several runs that were missed, those of the last. Replace: those "
        "are deleted.")
        .one_of(kPolicies),
    field<&Schedule::suspend>("suspend", "true", "No Jobs are made."),
    field<&Schedule::starting_deadline>(
        "startingDeadline", "10m",
        "How long after its time a run may still be made (startingDeadlineSeconds).")
        .otherwise("however late"),
};

void finish_window(ReplicaWindow& window, const Node& map, Reading& reading) {
  if (!window.start.text.empty() && window.start.text == window.end.text) {
    reading.findings.add(Code::SettingConflict, value_place(map, "end"),
                         "the window ends when it starts: KEDA refuses it", "another start or end");
  }
}

constexpr Field kReplicaWindowFields[] = {
    read_by<ReplicaWindow, &read_cron<&ReplicaWindow::start, &parse_keda_cron>>(
        T::Text, "start", "\"0 7 * * 1-5\"",
        "Minute, hour, day of the month, month and day of the week from which it holds. The run of "
        "a scenario is in the week of Monday 2026-01-05.")
        .needed(),
    read_by<ReplicaWindow, &read_cron<&ReplicaWindow::end, &parse_keda_cron>>(
        T::Text, "end", "\"0 20 * * 1-5\"", "... until which it holds.")
        .needed(),
    field<&ReplicaWindow::replicas>("desiredReplicas", "6", "Replicas that it asks for meanwhile.")
        .needed()
        .between(1, 1'000'000),
    read_by<ReplicaWindow, &read_zone<ReplicaWindow>>(
        T::Text, "timeZone", "Europe/Berlin",
        "Whose time start and end are in (KEDA's timezone), as in a CronJob's schedule.")
        .otherwise("UTC"),
};

bool goes_on_for_ever(const Scenario& scenario, const SourceLocation& where, Findings& findings) {
  if (scenario.duration) return false;
  findings.add(Code::SettingConflict, where,
               "a schedule goes on for ever, and the run has no duration",
               "add `duration: 24h` to spec");
  return true;
}

}  // namespace

constinit const FieldList kSchedule = block<Schedule, &finish_schedule>(kScheduleFields);
constinit const FieldList kReplicaWindow =
    block<ReplicaWindow, &finish_window>(kReplicaWindowFields);

std::string window_text(const ReplicaWindow& window) {
  const std::string zone =
      window.time_zone.empty() ? "" : fmt::format(", timeZone: {}", scalar_text(window.time_zone));
  return fmt::format("{{start: {}, end: {}, desiredReplicas: {}{}}}",
                     scalar_text(window.start.text), scalar_text(window.end.text), window.replicas,
                     zone);
}

void check_windows(const Scenario& scenario, Findings& findings) {
  for (const Workload& workload : scenario.workloads) {
    if (!workload.autoscaling) continue;
    for (const ReplicaWindow& window : workload.autoscaling->schedule) {
      const bool is_read = !window.start.text.empty() && !window.end.text.empty();
      if (!is_read || goes_on_for_ever(scenario, window.where, findings)) continue;
      if (replica_steps({&window, 1}, scenario.start(), *scenario.duration, kMostRuns)) continue;
      findings.add(
          Code::ValueRange, window.where,
          fmt::format("a window of \"{}\" starts or ends more than {} times within the duration",
                      workload.name.value, kMostRuns),
          "a shorter duration");
    }
  }
}

void expand_schedules(Scenario& scenario, const Node& spec, Findings& findings) {
  for (Workload& workload : scenario.workloads) {
    if (!workload.schedule) continue;
    Schedule& schedule = *workload.schedule;
    schedule.jobs_per_run = workload.count / workload.pods_per_job;
    if (goes_on_for_ever(scenario, schedule.where, findings)) continue;
    if (schedule.cron.at[CronSchedule::Minute] == 0) continue;  // it could not be read
    const Duration local = scenario.start() + schedule.utc_offset;
    if (!schedule.suspend) {
      schedule.runs = cron_times(schedule.cron, local, local + *scenario.duration, kMostRuns + 1);
      for (Duration& at : schedule.runs) at = at - local;
    }
    if (schedule.runs.empty() && !schedule.suspend && workload.count > 0) {
      findings.add(Code::SettingConflict, schedule.where,
                   fmt::format("no run of the schedule of \"{}\" is within the duration",
                               workload.name.value),
                   "a longer duration, or a startsAt before it");
    }
    if (schedule.runs.size() > kMostRuns) {
      findings.add(Code::ValueRange, value_place(spec, "duration"),
                   fmt::format("the schedule of \"{}\" makes more than {} runs within the duration",
                               workload.name.value, kMostRuns),
                   "a shorter duration");
      continue;
    }
    constexpr std::int64_t kMostPods = 5'000'000;
    const std::int64_t pods = std::int64_t{workload.count} * std::ssize(schedule.runs);
    if (pods > kMostPods) {
      findings.add(
          Code::ValueRange, value_place(spec, "duration"),
          fmt::format("the schedule of \"{}\" makes {} pods within the duration, more than {}",
                      workload.name.value, pods, kMostPods),
          "a shorter duration");
      continue;
    }
    workload.count = static_cast<int>(pods);
  }
}

}  // namespace slicewise::scenarios
