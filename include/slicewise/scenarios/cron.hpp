#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/units.hpp"

// When a CronJob makes its Jobs, and when KEDA has how many pods.
namespace slicewise::scenarios {

// Minutes of the hour, hours, days of the month, months and days of the week (0 is Sunday) at which
// a Job is made: a bit for each.
struct CronSchedule {
  enum Part : std::uint8_t { Minute, Hour, Day, Month, Weekday };
  std::array<std::uint64_t, 5> at{};
  std::array<bool, 5> any{};  // "*": of days of the month and of the week, both are then asked
  std::string text;           // as it is written
};

// As the controller of CronJobs reads it: five parts of lists, ranges and steps, names of months
// and days, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually. Where the days of
// the month and of the week are both given, one of them is enough. Errors: FIELD_TYPE, VALUE_RANGE.
// Source: github.com/robfig/cron v3, parser.go (ParseStandard), spec.go.
Parsed<CronSchedule> parse_cron(std::string_view text);
// ... and as KEDA's cron scaler reads the start and the end of a window: without macros.
Parsed<CronSchedule> parse_keda_cron(std::string_view text);

// The times of the schedule from `from` on, before `until`, both local and counted from Monday
// 2026-01-05 00:00, on which scenarios start. At most `most` of them.
std::vector<Duration> cron_times(const CronSchedule& schedule, Duration from, Duration until,
                                 std::size_t most);

// A CronJob. Sources: Kubernetes documentation, "CronJob"; kubernetes/kubernetes
// pkg/controller/cronjob/cronjob_controllerv2.go.
struct Schedule {
  enum class Concurrency : std::uint8_t {
    Allow,
    Forbid,   // a run whose time comes during another one is made after it, if it is the last such
    Replace,  // ... ends it
  };
  // concurrencyPolicy as Kubernetes spells it, in the order of Concurrency.
  static constexpr std::array<std::string_view, 3> kPolicies = {"Allow", "Forbid", "Replace"};

  CronSchedule cron;
  Duration utc_offset;
  std::string time_zone;  // that says it; "" none does
  Concurrency concurrency = Concurrency::Allow;
  bool suspend = false;
  std::optional<Duration> starting_deadline;  // later no run is made; absent: however late
  int jobs_per_run = 1;
  std::vector<Duration> runs{};  // their times within the run of the scenario, from its start
  SourceLocation where;
};

// A trigger of KEDA's cron scaler: so many replicas from each start to the next end. Sources:
// kedacore/keda pkg/scalers/cron_scaler.go; keda.sh docs, "Cron".
struct ReplicaWindow {
  CronSchedule start;
  CronSchedule end;
  std::string time_zone;  // "" is UTC
  int replicas = 1;       // desiredReplicas
  SourceLocation where;
};

// From `at` on, until the next.
struct ReplicaStep {
  Duration at;       // since the start of the run
  int replicas = 0;  // the most that a window asks for; 0: none is open
};

// What windows ask for during a run. nullopt: one of them opens or ends more than `most` times.
// REQUIRES: their time zones are known.
std::optional<std::vector<ReplicaStep>> replica_steps(std::span<const ReplicaWindow> windows,
                                                      Duration starts_at, Duration duration,
                                                      std::size_t most);

// A time zone while scenarios run, in the week of Monday 2026-01-05.
struct TimeZone {
  Duration offset;       // local time - UTC
  bool changes = false;  // by summer time, later in the year
  // How it changes each year, as POSIX writes it: "CET-1CEST,M3.5.0,M10.5.0/3"; "": nobody knows.
  std::string_view rule{};

  // Local time - UTC at a local time in nanoseconds since 1970, by that rule, whatever the year. Of
  // an hour that comes twice, the first; of one that is left out, as before.
  Duration offset_at(std::int64_t local_ns) const;
};
// By its name in IANA's database; "" is UTC. nullopt: there is none of that name.
std::optional<TimeZone> time_zone(std::string_view name);
// By its name, or its distance from UTC: "+01:00".
Parsed<TimeZone> parse_time_zone(std::string_view text);
// What may be meant by a name that is none.
std::string unknown_zone_help(std::string_view name);
// "Etc/GMT-1", which is UTC+1; nullopt: no whole hours.
std::optional<std::string> zone_of_offset(Duration offset);

}  // namespace slicewise::scenarios
