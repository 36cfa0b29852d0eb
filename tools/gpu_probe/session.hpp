#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "driver_api.hpp"
#include "task.hpp"

// One process on the GPU: its context, its memory, its kernels.
namespace slicewise::gpu_probe {

class Session {
 public:
  // Throws NoGpu, or std::runtime_error with the driver's words.
  Session(const std::string& library, int gpu, const Task& task);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  nlohmann::json description() const;  // of the GPU, and of the slice of it that is seen
  Outcome run();

 private:
  int attribute(CuAttribute attribute) const;
  void prepare_data();
  void launch(std::uint64_t nanoseconds);
  void run_one_kernel(Outcome& out);
  void run_many_kernels(Outcome& out);

  Task task_;
  DriverApi driver_;
  CuDevice device_ = 0;
  CuHandle function_ = nullptr;
  CuAddress report_ = 0;
  CuAddress data_ = 0;
  unsigned blocks_ = 0;
};

// What `gpu_probe --child` does: says "ready", runs at each line of its input, prints what it saw,
// and ends with its input. Returns the exit code.
int serve(const std::string& library, int gpu, const Task& task);

}  // namespace slicewise::gpu_probe
