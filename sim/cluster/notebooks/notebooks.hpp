#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "slicewise/sim/serving/user_calendar.hpp"
#include "slicewise/units.hpp"

#include "../nodes/gpu_access.hpp"
#include "../nodes/usage.hpp"
#include "../run_state.hpp"

namespace slicewise::sim {

// Somebody who uses a notebook: when they come, and how far the present session is. Each has a pod,
// which is submitted and deleted again with every session.
struct NotebookUser {
  explicit NotebookUser(UserCalendar when)
      : calendar(std::move(when)), cells(calendar.cells_of_next()) {}

  UserCalendar calendar;
  Session session;  // that goes on
  CellStream cells;
  Cell cell{};  // that runs, or comes next
  TimePoint idle_since;
  TimePoint cell_started;
  bool had_kernel = false;  // in this session
  bool was_active = false;  // has had a kernel in any session

  TimePoint leaves_at() const { return session.start + session.length; }
};

class PodLife;

// People with notebooks: sessions, and the cells that they run in them.
class Notebooks {
 public:
  Notebooks(RunState& run, GpuAccess& gpus, Usage& usage, PodLife& pods);

  // The user asks for a server: JupyterHub submits a pod.
  void open_session(std::uint32_t pod);
  // Somebody whose server is Pending waits as long as the session was to last.
  void wait_for_server(std::uint32_t pod);
  void kernel_ready(std::uint32_t pod);
  // The pod's timer while its server runs: the user does something, or has not for too long.
  void on_timer(std::uint32_t pod);
  void cell_done(std::uint32_t pod);
  void close_session(std::uint32_t pod);

  // Of the cell under way.
  Duration gpu_work(std::uint32_t pod) const { return users_[user_of_[pod]].cell.gpu_time; }

 private:
  NotebookUser& user_of(std::uint32_t pod) { return users_[user_of_[pod]]; }
  NotebookRecord& record_of(std::uint32_t pod);
  void repeat_cell(NotebookUser& user, const Cell& next);
  void arm(std::uint32_t pod);
  void start_cell(std::uint32_t pod);

  RunState& run_;
  GpuAccess& gpus_;
  Usage& usage_;
  PodLife& pods_;
  std::vector<NotebookUser> users_;     // of all notebooks
  std::vector<std::uint32_t> user_of_;  // by pod
};

}  // namespace slicewise::sim
