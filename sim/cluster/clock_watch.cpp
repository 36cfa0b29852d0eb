#include "clock_watch.hpp"

#include <algorithm>
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
        return workload.spec.kind == scenarios::WorkloadKind::Service;
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
    case TimerKind::Scheduler:
      return "the scheduler";
    case TimerKind::Layout:
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

void ClockWatch::keep(Timers::Fired timer) {
  kept_.push_back(timer);
  if (left_ <= 0) throw Standstill(problem());
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
      fmt::format("the clock stands still at {:.3f} s: {} events follow each other without time "
                  "going by, of {}",
                  to_seconds(run_.now - TimePoint{}), most_, fmt::join(names, ", ")),
      "give one of them a time above zero; if you cannot, please report it with the scenario");
}

}  // namespace slicewise::sim
