#include "notebooks.hpp"

#include <algorithm>
#include <cmath>

#include "../control/pod_life.hpp"
#include "../entity_streams.hpp"

namespace slicewise::sim {
namespace {

Duration slowdown(Duration wall, Duration alone) {
  return {std::llround(static_cast<double>(wall.ns) / static_cast<double>(alone.ns) *
                       static_cast<double>(kUnitSlowdown.ns))};
}

void record_session_start(NotebookRecord& record, const NotebookUser& user, TimePoint now) {
  record.session_start.add(now - user.session.start);
  record.waiting += now - user.session.start;
}

}  // namespace

Notebooks::Notebooks(RunState& run, GpuAccess& gpus, Usage& usage, PodLife& pods)
    : run_(run), gpus_(gpus), usage_(usage), pods_(pods), user_of_(run.cluster.pods.size()) {
  std::uint32_t p = 0;
  for_each_entity(run.world, [&](std::uint32_t entity) {
    const Workload& spec = run.cluster.model(run.cluster.pods[p]).spec;
    if (spec.kind == WorkloadKind::Notebook) {
      user_of_[p] = static_cast<std::uint32_t>(users_.size());
      users_.emplace_back(UserCalendar(*spec.notebooks, run.world.starts_at, run.world.seed,
                                       run.replication, entity));
      run.timers.set(TimerKind::Pod, p, users_.back().calendar.next().start);
    }
    ++p;
  });
}

NotebookRecord& Notebooks::record_of(std::uint32_t p) {
  return run_.record_of(run_.cluster.pods[p]).notebooks;
}

// The user asks for a server: JupyterHub submits a pod.
void Notebooks::open_session(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  user.session = user.calendar.next();
  user.cells = user.calendar.cells_of_next();
  user.had_kernel = false;
  ++record_of(p).sessions;
  pods_.submit(p);
}

// Somebody whose server is Pending waits as long as the session was to last.
void Notebooks::wait_for_server(std::uint32_t p) {
  run_.timers.set(TimerKind::Pod, p, std::max(run_.now, user_of(p).leaves_at()));
}

void Notebooks::kernel_ready(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  NotebookRecord& record = record_of(p);
  user.idle_since = run_.now;
  if (run_.now >= user.leaves_at()) return close_session(p);
  const Cell next = user.cells.next(run_.cluster.demand(run_.cluster.pods[p]).gpu);
  if (user.had_kernel) {
    repeat_cell(user, next);  // the container was restarted, the kernel with it
  } else {
    user.cell = next;
    user.had_kernel = true;
    record_session_start(record, user, run_.now);
    if (!user.was_active) ++record.active_users;
    user.was_active = true;
  }
  arm(p);
}

// What was lost with the process is run again after another pause.
void Notebooks::repeat_cell(NotebookUser& user, const Cell& next) {
  user.idle_since = run_.now;
  user.cell.pause = next.pause;
}

// Between two cells the user runs the next one, leaves, or is away for so long that the server is
// culled.
void Notebooks::arm(std::uint32_t p) {
  const NotebookUser& user = user_of(p);
  const scenarios::Notebooks& notebooks = *run_.cluster.model(run_.cluster.pods[p]).spec.notebooks;
  TimePoint next = std::min(user.idle_since + user.cell.pause, user.leaves_at());
  if (notebooks.idle_cull) next = std::min(next, user.idle_since + *notebooks.idle_cull);
  run_.timers.set(TimerKind::Pod, p, std::max(run_.now, next));
}

void Notebooks::on_timer(std::uint32_t p) {
  const NotebookUser& user = user_of(p);
  if (run_.now >= user.leaves_at()) return close_session(p);
  if (run_.now >= user.idle_since + user.cell.pause) return start_cell(p);
  ++record_of(p).culled;
  close_session(p);
}

// The first cell of a process makes its CUDA context and takes its memory; it keeps both until the
// session ends. What does not fit is a CUDA out-of-memory error: the kernel dies, the pod stays.
void Notebooks::start_cell(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  const Pod& pod = run_.cluster.pods[p];
  const WorkloadModel& model = run_.cluster.model(pod);
  const bool holds_memory =
      run_.cluster.domains[index(pod.domain)].memory.held_by(pod.context) > Bytes{};
  const bool drawn = model.spec.notebooks->memory.has_value();
  if (!holds_memory && !pods_.take_memory(p, drawn ? user.session.memory : model.gpu_memory)) {
    repeat_cell(user, user.cells.next(run_.cluster.demand(pod).gpu));
    return arm(p);
  }
  user.cell_started = run_.now;
  gpus_.start(p, user.cell.gpu_time);
}

void Notebooks::cell_done(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  const Pod& pod = run_.cluster.pods[p];
  const Demand& demand = run_.cluster.demand(pod);
  const double units =
      static_cast<double>(user.cell.gpu_time.ns) / static_cast<double>(demand.gpu.ns);
  usage_.used_sms(p, static_cast<double>(demand.sm_active.ns) * units);
  usage_.used_host(pod.node, static_cast<double>(demand.cpu.ns) * units);
  WorkloadRecord& record = run_.record_of(pod);
  ++record.units_done;
  ++record.units_in_objective;
  const Duration wall = run_.now - user.cell_started;
  ++record.notebooks.cells;
  record.notebooks.slowdown.add(slowdown(wall, user.cell.gpu_time));
  record.notebooks.waiting += std::max(Duration{}, wall - user.cell.gpu_time);
  user.idle_since = run_.now;
  user.cell = user.cells.next(demand.gpu);
  arm(p);
}

// The user leaves, or the server is culled: the pod is deleted, and comes anew with the next
// session. A session that never had a kernel was given up.
void Notebooks::close_session(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  if (!user.had_kernel) {
    record_session_start(record_of(p), user, run_.now);
    ++record_of(p).gave_up;
  }
  pods_.remove(p);
  user.calendar.move_on(run_.now);
  run_.timers.set(TimerKind::Pod, p, user.calendar.next().start);
}

}  // namespace slicewise::sim
