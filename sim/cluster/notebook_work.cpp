#include <algorithm>
#include <cmath>

#include "cluster_run.hpp"

namespace slicewise::sim {
namespace {

Duration slowdown(Duration wall, Duration alone) {
  return {std::llround(static_cast<double>(wall.ns) / static_cast<double>(alone.ns) *
                       static_cast<double>(kUnitSlowdown.ns))};
}

}  // namespace

NotebookUser& ClusterRun::user_of(std::uint32_t p) { return users_[user_of_[p]]; }

NotebookRecord& ClusterRun::notebooks_of(std::uint32_t p) {
  return record_.workloads[index(cluster_.pods[p].workload)].notebooks;
}

// The user asks for a server: JupyterHub submits a pod.
void ClusterRun::open_session(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  user.session = user.calendar.next();
  user.cells = user.calendar.cells_of_next();
  user.had_kernel = false;
  ++notebooks_of(p).sessions;
  submit(p);
}

// Somebody whose server is Pending waits as long as the session was to last.
void ClusterRun::wait_for_server(std::uint32_t p) {
  timers_.set(p, std::max(now_, user_of(p).leaves_at()));
}

void ClusterRun::kernel_ready(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  NotebookRecord& record = notebooks_of(p);
  user.idle_since = now_;
  if (now_ >= user.leaves_at()) return close_session(p);
  const Cell next = user.cells.next(cluster_.demand(cluster_.pods[p]).gpu);
  if (user.had_kernel) {
    repeat_cell(user, next);  // the container was restarted, the kernel with it
  } else {
    user.cell = next;
    user.had_kernel = true;
    record_session_start(user, record);
    if (!user.was_active) ++record.active_users;
    user.was_active = true;
  }
  arm_user(p);
}

void ClusterRun::record_session_start(const NotebookUser& user, NotebookRecord& record) {
  record.session_start.add(now_ - user.session.start);
  record.waiting += now_ - user.session.start;
}

// What was lost with the process is run again after another pause.
void ClusterRun::repeat_cell(NotebookUser& user, const Cell& next) {
  user.idle_since = now_;
  user.cell.pause = next.pause;
}

// Between two cells the user runs the next one, leaves, or is away for so long that the server is
// culled.
void ClusterRun::arm_user(std::uint32_t p) {
  const NotebookUser& user = user_of(p);
  const scenarios::Notebooks& notebooks = *cluster_.model(cluster_.pods[p]).spec.notebooks;
  TimePoint next = std::min(user.idle_since + user.cell.pause, user.leaves_at());
  if (notebooks.idle_cull) next = std::min(next, user.idle_since + *notebooks.idle_cull);
  timers_.set(p, std::max(now_, next));
}

void ClusterRun::on_user_timer(std::uint32_t p) {
  const NotebookUser& user = user_of(p);
  if (now_ >= user.leaves_at()) return close_session(p);
  if (now_ >= user.idle_since + user.cell.pause) return start_cell(p);
  ++notebooks_of(p).culled;
  close_session(p);
}

// The first cell of a process makes its CUDA context and takes its memory; it keeps both until the
// session ends. What does not fit is a CUDA out-of-memory error: the kernel dies, the pod stays.
void ClusterRun::start_cell(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  Pod& pod = cluster_.pods[p];
  const WorkloadModel& model = cluster_.model(pod);
  const bool holds_memory =
      cluster_.domains[index(pod.domain)].memory.held_by(pod.context) > Bytes{};
  const bool drawn = model.spec.notebooks->memory.has_value();
  if (!holds_memory && !take_memory(p, drawn ? user.session.memory : model.gpu_memory)) {
    repeat_cell(user, user.cells.next(cluster_.demand(pod).gpu));
    return arm_user(p);
  }
  user.cell_started = now_;
  start_on_gpu(pod, user.cell.gpu_time);
}

void ClusterRun::cell_done(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  Pod& pod = cluster_.pods[p];
  const Demand& demand = cluster_.demand(pod);
  const double units =
      static_cast<double>(user.cell.gpu_time.ns) / static_cast<double>(demand.gpu.ns);
  pod.sm_ns += static_cast<double>(demand.sm_active.ns) * units;
  cluster_.nodes[index(pod.node)].cpu_ns += static_cast<double>(demand.cpu.ns) * units;
  WorkloadRecord& record = record_.workloads[index(pod.workload)];
  ++record.units_done;
  ++record.units_in_objective;
  const Duration wall = now_ - user.cell_started;
  ++record.notebooks.cells;
  record.notebooks.slowdown.add(slowdown(wall, user.cell.gpu_time));
  record.notebooks.waiting += std::max(Duration{}, wall - user.cell.gpu_time);
  user.idle_since = now_;
  user.cell = user.cells.next(demand.gpu);
  arm_user(p);
}

// The user leaves, or the server is culled: the pod is deleted, and comes anew with the next
// session. A session that never had a kernel was given up.
void ClusterRun::close_session(std::uint32_t p) {
  NotebookUser& user = user_of(p);
  if (!user.had_kernel) {
    record_session_start(user, notebooks_of(p));
    ++notebooks_of(p).gave_up;
  }
  if (cluster_.pods[p].phase == PodPhase::Pending) {
    scheduler_.withdraw(p);
    enter_phase(p, PodPhase::Unsubmitted);
  } else {
    end_container(p, true);
    set_activity(p, PodPhase::Unsubmitted);
    release_node(p);
    wake_scheduler();
  }
  user.calendar.skip_to(std::max(now_, user.session.start + nanoseconds(1)));
  timers_.set(p, user.calendar.next().start);
}

}  // namespace slicewise::sim
