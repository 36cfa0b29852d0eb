#include "experiments.hpp"

namespace slicewise::gpu_probe {
namespace {

Task of(Kernel kernel, const Machine& machine) {
  constexpr std::size_t kBeyondCaches = std::size_t{1} << 28;
  Task task;
  task.kernel = kernel;
  task.run_ms = machine.run_ms;
  if (kernel != Kernel::Compute) task.working_set = kBeyondCaches;
  return without_mps(task);
}

nlohmann::json reading(const Management& management) {
  nlohmann::json out = nlohmann::json::object();
  if (const auto mhz = management.sm_clock_mhz()) out["smMhz"] = *mhz;
  if (const auto mhz = management.memory_clock_mhz()) out["memoryMhz"] = *mhz;
  if (const auto degrees = management.temperature()) out["celsius"] = *degrees;
  return out;
}

}  // namespace

nlohmann::json measure_mig(const Machine& machine, const std::vector<MigDevice>& devices) {
  nlohmann::json out = nlohmann::json::array();
  for (const MigDevice& device : devices) {
    nlohmann::json speeds = nlohmann::json::object();
    nlohmann::json spreads = nlohmann::json::object();
    nlohmann::json seen;
    for (const Kernel kernel : {Kernel::Compute, Kernel::Bandwidth, Kernel::Latency}) {
      Task task = of(kernel, machine);
      task.environment["CUDA_VISIBLE_DEVICES"] = device.uuid;
      if (seen.is_null()) seen = Worker(machine, task).wait_ready();
      const Spread alone = speeds_alone(machine, task);
      speeds[std::string(name_of(kernel))] = alone.median;
      spreads[std::string(name_of(kernel))] = alone;
    }
    // "NVIDIA A100-SXM4-40GB MIG 1g.5gb": the profile is what the name ends with.
    out.push_back({{"profile", device.name.substr(device.name.rfind(' ') + 1)},
                   {"smCount", seen.at("smCount")},
                   {"memoryBytes", seen.at("memoryBytes")},
                   {"unitsPerSecond", speeds},
                   {"spread", spreads}});
  }
  return out;
}

nlohmann::json measure_clocks(const Machine& machine, const Management& management) {
  nlohmann::json out = {{"atRest", reading(management)}};
  for (const Kernel kernel : {Kernel::Compute, Kernel::Bandwidth}) {
    Worker worker(machine, of(kernel, machine));
    worker.wait_ready();
    for (int run = 0; run < machine.repetitions; ++run) {
      worker.go();
      // Read while it runs: the last of the repetitions counts.
      out[std::string(name_of(kernel))] = reading(management);
      worker.outcome();
    }
  }
  return out;
}

}  // namespace slicewise::gpu_probe
