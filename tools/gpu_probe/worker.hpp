#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "task.hpp"

// Processes on the GPU, as seen by the one that measures: it has no context of its own.
namespace slicewise::gpu_probe {

// What all processes are told.
struct Machine {
  std::string driver = "libcuda.so.1";
  std::string management = "libnvidia-ml.so.1";
  int gpu = 0;
  int run_ms = 400;     // of one run
  int repetitions = 3;  // of each run
  int most_processes = 4;
};

// This program once more, with a task. Ends with the object.
class Worker {
 public:
  Worker(const Machine& machine, const Task& task);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  nlohmann::json wait_ready();  // the description of its GPU; throws NoGpu or std::runtime_error
  void go();
  Outcome outcome();

 private:
  nlohmann::json read_line();

  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::string read_;
};

// What `gpu_probe --child` does: says "ready", runs at each line of its input, prints what it saw,
// and ends with its input. Returns the exit code.
int serve(const std::string& library, int gpu, const Task& task);

// All tasks at once, begun together when every one is ready; `repetitions` times.
std::vector<std::vector<Outcome>> run_together(const Machine& machine,
                                               const std::vector<Task>& tasks);

// One task by itself, over its repetitions.
Spread speeds_alone(const Machine& machine, const Task& task);

// Workers that do not meet an MPS daemon: without one at that place, CUDA runs as if there were
// none (NVIDIA MPS documentation, "the program continues to run as it normally would without MPS").
Task without_mps(Task task);

}  // namespace slicewise::gpu_probe
