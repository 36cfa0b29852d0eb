#pragma once

#include <cstdint>
#include <vector>

#include "../nodes/gpu_access.hpp"
#include "../nodes/usage.hpp"
#include "../run_state.hpp"
#include "notebook_user.hpp"

namespace slicewise::sim {

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
