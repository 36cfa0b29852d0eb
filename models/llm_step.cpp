#include "slicewise/models/llm_step.hpp"

#include <cmath>

namespace slicewise::models {

double step_seconds(const LlmStep& law, double tokens, double cached) {
  const double compute_s = tokens * law.token_s;
  return std::sqrt(law.weights_s * law.weights_s + compute_s * compute_s) + cached * law.kv_read_s +
         law.overhead_s;
}

double cache_read_seconds(Bytes per_token, const GpuModel& gpu) {
  return static_cast<double>(per_token.count) /
         (kCacheBandwidthShare * gpu.memory_bandwidth_bytes_per_second);
}

bool can_carry_over(const GpuModel& from, const GpuModel& to) {
  return &from == &to || (from.fp16_tensor_tflops && to.fp16_tensor_tflops);
}

LlmStep carried_over(const LlmStep& law, const GpuModel& from, const GpuModel& to) {
  if (&from == &to) return law;
  const double bandwidth =
      to.memory_bandwidth_bytes_per_second / from.memory_bandwidth_bytes_per_second;
  return in_domain(law, {*to.fp16_tensor_tflops / *from.fp16_tensor_tflops, bandwidth});
}

LlmStep in_domain(const LlmStep& law, DomainShare share) {
  return {law.weights_s / share.bandwidth, law.token_s / share.compute,
          law.kv_read_s / share.bandwidth, law.overhead_s};
}

}  // namespace slicewise::models
