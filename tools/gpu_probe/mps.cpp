#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "experiments.hpp"

// Variables and file names are those of NVIDIA's MPS documentation (docs.nvidia.com/deploy/mps).
namespace slicewise::gpu_probe {
namespace {

constexpr std::array kKernels = {Kernel::Compute, Kernel::Bandwidth, Kernel::Latency};
constexpr std::size_t kBeyondCaches = std::size_t{1} << 28;

// The daemon listens on a pipe named control.
bool daemon_is_there() {
  const char* directory = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  std::error_code ignored;
  return std::filesystem::exists(
      std::filesystem::path(directory == nullptr ? "/tmp/nvidia-mps" : directory) / "control",
      ignored);
}

// Launched anew every 20 ms: whose blocks were there first has more of an SM as long as they stay
// (on H200 of two kernels alike that never end one does 0.14 of its work and one 0.90).
Task client(const Machine& machine, Kernel kernel) {
  constexpr int kLaunch = 20'000;
  Task task;
  task.kernel = kernel;
  task.run_ms = machine.run_ms;
  task.launch_us = kLaunch;
  if (kernel != Kernel::Compute) task.working_set = kBeyondCaches;
  return task;
}

nlohmann::json interference(const Machine& machine, const std::array<double, 3>& alone) {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t a = 0; a < kKernels.size(); ++a) {
    for (std::size_t b = a; b < kKernels.size(); ++b) {
      std::vector<double> speeds_of_a;
      std::vector<double> speeds_of_b;
      for (const std::vector<Outcome>& run :
           run_together(machine, {client(machine, kKernels[a]), client(machine, kKernels[b])})) {
        speeds_of_a.push_back(run[0].units_per_second / alone[a]);
        (a == b ? speeds_of_a : speeds_of_b).push_back(run[1].units_per_second / alone[b]);
      }
      out.push_back({{"kernel", name_of(kKernels[a])},
                     {"beside", name_of(kKernels[b])},
                     {"speed", spread_of(std::move(speeds_of_a))}});
      if (a == b) continue;
      out.push_back({{"kernel", name_of(kKernels[b])},
                     {"beside", name_of(kKernels[a])},
                     {"speed", spread_of(std::move(speeds_of_b))}});
    }
  }
  return out;
}

nlohmann::json thread_percentages(const Machine& machine, const std::array<double, 3>& alone) {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t kernel = 0; kernel < kKernels.size(); ++kernel) {
    for (const int percent : {10, 25, 50, 75}) {
      Task task = client(machine, kKernels[kernel]);
      task.environment["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = std::to_string(percent);
      Spread speeds = speeds_alone(machine, task);
      for (double* figure : {&speeds.median, &speeds.low, &speeds.high}) *figure /= alone[kernel];
      out.push_back({{"kernel", name_of(kKernels[kernel])},
                     {"percent", percent},
                     {"speed", speeds.median},
                     {"spread", speeds}});
    }
  }
  return out;
}

// A light client beside one whose kernels are long and fill every SM, with blocks as long as the
// kernel or many one after the other.
nlohmann::json short_beside_long(const Machine& machine) {
  constexpr int kShort = 200;
  constexpr unsigned kFilling = 8;
  struct Neighbour {
    int block_us;
    unsigned waves;
  };
  Task light = client(machine, Kernel::Compute);
  light.launch_us = kShort;
  const auto figures = [](const Outcome& outcome) {
    return nlohmann::json{{"mean", outcome.mean_latency_us}, {"spread", outcome.latency_us}};
  };
  nlohmann::json out = {{"kernelMicroseconds", kShort},
                        {"alone", figures(run_together(machine, {light}).back().front())},
                        {"beside", nlohmann::json::array()}};
  for (const auto [block, waves] : {Neighbour{500, 1}, Neighbour{2'000, 1}, Neighbour{10'000, 1},
                                    Neighbour{500, 4}, Neighbour{100, 20}}) {
    Task heavy = client(machine, Kernel::Compute);
    heavy.launch_us = block;
    heavy.blocks_per_sm = kFilling * waves;
    const std::vector<Outcome> seen = run_together(machine, {light, heavy}).back();
    out["beside"].push_back({{"neighbourMicroseconds", block * static_cast<int>(waves)},
                             {"blockMicroseconds", block},
                             {"latencyMicroseconds", figures(seen[0])},
                             {"neighbourLatencyMicroseconds", figures(seen[1])}});
  }
  return out;
}

nlohmann::json memory_limit(const Machine& machine) {
  constexpr std::size_t kGibibyte = std::size_t{1} << 30;
  Task task;
  task.environment["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = "0=1G";
  task.allocate = 2 * kGibibyte;
  const bool refused = !run_together(machine, {task}).back().front().allocated;
  return {{"limitBytes", kGibibyte}, {"askedBytes", 2 * kGibibyte}, {"refused", refused}};
}

// Clients until one is refused; some more than any driver lets in (60 from CUDA 13.1).
nlohmann::json client_limit(const Machine& machine) {
  constexpr std::size_t kEnough = 64;
  std::vector<std::unique_ptr<Worker>> clients;
  try {
    while (clients.size() < kEnough) {
      auto next = std::make_unique<Worker>(machine, Task{});
      next->wait_ready();
      clients.push_back(std::move(next));
    }
  } catch (const std::runtime_error& reason) {
    return {{"clients", clients.size()}, {"refusal", reason.what()}};
  }
  return {{"clients", clients.size()}};
}

}  // namespace

nlohmann::json measure_mps(const Machine& machine) {
  if (!daemon_is_there()) return {{"running", false}};
  std::array<double, 3> alone{};
  nlohmann::json speeds = nlohmann::json::object();
  nlohmann::json spreads = nlohmann::json::object();
  for (std::size_t i = 0; i < kKernels.size(); ++i) {
    const Spread seen = speeds_alone(machine, client(machine, kKernels[i]));
    const std::string kernel(name_of(kKernels[i]));
    speeds[kernel] = alone[i] = seen.median;
    spreads[kernel] = seen;
  }
  return {{"running", true},
          {"unitsPerSecondAlone", speeds},
          {"spreadAlone", spreads},
          {"interference", interference(machine, alone)},
          {"threadPercentage", thread_percentages(machine, alone)},
          {"shortBesideLong", short_beside_long(machine)},
          {"memoryLimit", memory_limit(machine)},
          {"clientLimit", client_limit(machine)}};
}

}  // namespace slicewise::gpu_probe
