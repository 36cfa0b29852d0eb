#include "clock_watch.hpp"

#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/cluster/cluster.hpp"

namespace slicewise::sim {
namespace {

constexpr std::int64_t kMostAtOnce = 1'000'000;

// The nth workload of those that `have` it.
template <class Has>
const WorkloadModel* nth_workload(const World& world, std::uint32_t nth, const Has& has) {
  for (const WorkloadModel& workload : world.workloads) {
    if (has(workload) && nth-- == 0) return &workload;
  }
  return nullptr;
}

// Whose timer it is; nullptr: no workload's.
const WorkloadModel* workload_of(const RunState& run, Timers::Fired timer) {
  switch (timer.kind) {
    case TimerKind::Pod:
    case TimerKind::Fault:
      return &run.world.workloads[index(run.cluster.pods[timer.nth].workload)];
    case TimerKind::Service:
      return nth_workload(run.world, timer.nth, [](const WorkloadModel& workload) {
        return workload.spec.kind == WorkloadKind::Service;
      });
    case TimerKind::Scaler:
      return nth_workload(run.world, timer.nth, [](const WorkloadModel& workload) {
        return workload.spec.autoscaling.has_value();
      });
    default:
      return nullptr;
  }
}

std::string name_of(const RunState& run, Timers::Fired timer) {
  if (const WorkloadModel* workload = workload_of(run, timer)) {
    const char* const what = timer.kind == TimerKind::Service  ? "requests"
                             : timer.kind == TimerKind::Scaler ? "autoscaler"
                             : timer.kind == TimerKind::Fault  ? "GPU faults"
                                                               : "pods";
    return fmt::format("{} of {}", what, workload->name);
  }
  switch (timer.kind) {
    case TimerKind::Domain:
      return "work on GPUs";
    case TimerKind::HostCpu:
      return "work on host CPUs";
    case TimerKind::Pipeline:
      return "requests of pipeline " + run.world.pipelines[timer.nth].name;
    case TimerKind::Termination:
      return "pods that are told to end";
    case TimerKind::MigDevice:
      return "MIG devices of claims";
    case TimerKind::Scheduler:
      return "the scheduler";
    case TimerKind::Layout:
    case TimerKind::Partitioner:
      return "changes of MIG layouts";
    case TimerKind::Node:
    case TimerKind::Interruption:
    case TimerKind::Provisioner:
    case TimerKind::Removal:
      return "nodes that come and go";
    default:
      return "the recording";
  }
}

}  // namespace

ClockWatch::ClockWatch(const RunState& run)
    : run_(run),
      most_(kMostAtOnce + 100 * static_cast<std::int64_t>(run.timers.size())),
      left_(most_),
      last_(run.now) {}

// A second of the busiest cluster has fewer events.
void ClockWatch::glance() {
  crawls_ = run_.now - glanced_ < seconds(1);
  glanced_ = run_.now;
  until_glance_ = kInASecond;
}

void ClockWatch::keep(Timers::Fired timer) {
  if (!crawls_ && left_ == kKept - 1) kept_.clear();
  kept_.push_back(timer);
  if (static_cast<std::int64_t>(kept_.size()) >= kKept) throw Standstill(problem());
}

Diagnostic ClockWatch::problem() const {
  std::set<std::string> names;
  SourceLocation where;
  for (const Timers::Fired timer : kept_) {
    names.insert(name_of(run_, timer));
    const WorkloadModel* workload = workload_of(run_, timer);
    if (workload != nullptr && where.line == 0) where = workload->spec.name.where;
  }
  return make_diagnostic(
      Code::RunNeverEnds, where,
      fmt::format("the clock {} at {:.3f} s: {} events follow each other with hardly any time "
                  "going by, of {}",
                  crawls_ ? "crawls" : "stands still", to_seconds(run_.now - TimePoint{}),
                  crawls_ ? kInASecond : most_, fmt::join(names, ", ")),
      "give one of them a longer time; if you cannot, please report it with the scenario");
}

}  // namespace slicewise::sim
