#include <algorithm>
#include <memory>

#include "experiments.hpp"

namespace slicewise::gpu_probe {

nlohmann::json measure_context_memory(const Machine& machine) {
  const Task empty = without_mps({});
  Worker observer(machine, empty);
  observer.wait_ready();
  const auto free_memory = [&] {
    observer.go();
    return static_cast<double>(observer.outcome().free_bytes);
  };
  std::vector<std::unique_ptr<Worker>> others;
  std::vector<double> taken;
  double before = free_memory();
  for (int i = 0; i < std::max(3, machine.repetitions); ++i) {
    others.push_back(std::make_unique<Worker>(machine, empty));
    others.back()->wait_ready();
    const double after = free_memory();
    taken.push_back(before - after);
    before = after;
  }
  return spread_of(std::move(taken));
}

nlohmann::json measure_launches(const Machine& machine) {
  Task task;
  task.kernel = Kernel::Compute;
  task.launch_us = 1;
  task.run_ms = machine.run_ms;
  task.blocks_per_sm = 1;
  const Outcome seen = run_together(machine, {without_mps(task)}).back().front();
  return {{"hostMicroseconds", seen.launch_us}, {"untilDoneMicroseconds", seen.latency_us}};
}

}  // namespace slicewise::gpu_probe
