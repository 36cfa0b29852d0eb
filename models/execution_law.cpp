#include "slicewise/models/execution_law.hpp"

#include <cassert>

namespace slicewise::models {
namespace {

// Share of the peak DRAM bandwidth that saving and restoring state reaches: GPreempt (ATC'25)
// measured 1.1 TB/s of the 1.555 TB/s of an A100.
constexpr double kReachedBandwidth = 0.71;

}  // namespace

Bytes context_state(const GpuModel& gpu) {
  return {gpu.sm_count * (gpu.register_file_per_sm.count + gpu.shared_memory_per_sm.count)};
}

Duration switch_cost(const GpuModel& gpu, double kappa) {
  assert(kappa >= 0 && kappa <= 1);
  const double bandwidth = kReachedBandwidth * gpu.memory_bandwidth_bytes_per_second;
  const auto state = static_cast<double>(context_state(gpu).count);
  const auto cache = static_cast<double>(gpu.l2_cache.value_or(Bytes{}).count);
  return kSwitchBase + from_seconds((2 * state + kappa * cache) / bandwidth);
}

double usual_cold_cache(const GpuModel& gpu) {
  return gpu.compute_capability == "8.9" ? 0.0 : kDefaultColdCache;
}

ContextMemory context_memory(const GpuModel& gpu) {
  // T4 100 MiB and RTX 4090 384 MiB were measured; P100, Volta's predecessor, took 100-200 MiB.
  if (gpu.name == "T4") return {mebibytes(100), true};
  if (gpu.compute_capability.starts_with("7.")) return {mebibytes(150), false};
  return {mebibytes(384), false};
}

double roofline_scale(const GpuModel& from, const GpuModel& to, double beta) {
  if (from.name == to.name) return 1.0;
  assert(from.fp32_tflops && to.fp32_tflops && beta >= 0 && beta <= 1);
  const double compute = *from.fp32_tflops / *to.fp32_tflops;
  const double bandwidth =
      from.memory_bandwidth_bytes_per_second / to.memory_bandwidth_bytes_per_second;
  return (1 - beta) * compute + beta * bandwidth;
}

Bytes greedy_reserve(const GpuModel& gpu) {
  // compute_capability is "major.minor"; a major of two digits is newer than all listed here.
  const std::size_t dot = gpu.compute_capability.find('.');
  if (dot != 1 || gpu.compute_capability[0] >= '9') return mebibytes(1'800);
  if (gpu.compute_capability[0] == '8') return mebibytes(1'536);
  return gpu.compute_capability[0] == '7' ? mebibytes(1'050) : mebibytes(500);
}

}  // namespace slicewise::models
