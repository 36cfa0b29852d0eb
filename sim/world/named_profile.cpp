#include <algorithm>
#include <cmath>
#include <string_view>

#include "slicewise/nearest_name.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/calibration.hpp"

#include "parts.hpp"

// What a profile says of a workload that names it.
namespace slicewise::sim {
namespace {

Duration part_of_step(Duration step, double share) {
  return {std::llround(static_cast<double>(step.ns) * share)};
}

// A step has its host work inside, a Service beside what it asks of the GPU. Alone a request takes
// as long as was measured: kernels run for `duty` of that, else for what the host's CPU time
// leaves, else, or where that is as long, all the time.
WorkloadProfile as_request(const WorkloadProfile& step) {
  WorkloadProfile request = step;
  request.duty.reset();
  request.host_time.reset();
  if (!step.solo_step || step.solo_step->ns <= 0) return request;
  const Duration alone = *step.solo_step;
  const Duration host = step.host_time.value_or(Duration{});
  const Duration left = host < alone ? alone - host : alone;
  const Duration kernels =
      std::max(nanoseconds(1), step.duty ? part_of_step(alone, std::min(1.0, *step.duty)) : left);
  request.solo_step = kernels;
  if (kernels < alone) request.host_time = alone - kernels;
  const double longer = static_cast<double>(alone.ns) / static_cast<double>(kernels.ns);
  if (step.capacity_share) request.capacity_share = std::min(1.0, *step.capacity_share * longer);
  if (step.time_sigma) {
    // The variance of the whole is that of the kernels: the host takes as long each time.
    const double variance = portable_exp(*step.time_sigma * *step.time_sigma) - 1;
    request.time_sigma = std::sqrt(portable_log(1 + longer * longer * variance));
  }
  return request;
}

bool answers_requests(const Workload& spec) {
  return spec.kind == WorkloadKind::Service && !spec.llm;
}

// How `provenance` of a profile begins where the user measured, as `slicewise calibrate` writes it.
constexpr std::string_view kMeasured = "measured";

}  // namespace

bool borrows_capacity(const WorkloadProfile& profile) {
  const auto basis = profile.provenance.find("capacityShare");
  return basis != profile.provenance.end() && basis->second.starts_with(kBorrowedOfClass);
}

void take_profile(const WorkloadProfile& published, Workload& spec) {
  const WorkloadProfile profile = answers_requests(spec) ? as_request(published) : published;
  const bool measured_by_user = spec.measured.has_value();
  scenarios::Measured& m = measured_by_user ? *spec.measured : spec.measured.emplace();
  if (!measured_by_user) {
    const auto basis = profile.provenance.find("soloMs");
    const bool measured =
        profile.is_users && basis != profile.provenance.end() &&
        same_name(std::string_view(basis->second).substr(0, kMeasured.size()), kMeasured);
    m.provenance = measured ? scenarios::Provenance::Measured : scenarios::Provenance::Catalog;
  }
  if (!m.bandwidth_share) m.bandwidth_share = profile.bandwidth_share;
  const bool counted = m.sm_active && borrows_capacity(profile);
  if (!m.capacity_share && !counted) m.capacity_share = profile.capacity_share;
  if (!m.norm_p) m.norm_p = profile.norm_p;
  if (!m.sensitivity) m.sensitivity = profile.sensitivity;
  if (!m.pressure) m.pressure = profile.pressure;
  if (!m.turn_use) m.turn_use = profile.turn_use;
  if (!m.kernel_time) m.kernel_time = profile.kernel_time;
  if (!m.extra_per_item) m.extra_per_item = profile.extra_per_item;
  if (!m.gpu_busy && !m.gpu_util && profile.duty) m.gpu_busy = profile.duty;
  if (spec.gpu_memory.resident.count == 0 && profile.memory) {
    spec.gpu_memory.resident = *profile.memory;
  }
}

void take_times(const WorkloadProfile& profile, Workload& spec) {
  scenarios::Measured& m = *spec.measured;
  if (spec.kind != WorkloadKind::Service) {
    if (!m.unit_time) m.unit_time = profile.solo_step;
    if (m.cpu || !profile.host_time || !profile.solo_step) return;
    const double vcpus = to_seconds(*profile.host_time) / to_seconds(*profile.solo_step);
    m.cpu = Millicores{std::llround(1'000 * vcpus)};
    return;
  }
  const WorkloadProfile request = answers_requests(spec) ? as_request(profile) : profile;
  if (!m.request_gpu_time && request.solo_step) {
    using Law = scenarios::ServiceTime::Law;
    const double sigma = request.time_sigma.value_or(0);
    m.request_gpu_time = scenarios::ServiceTime{sigma > 0 ? Law::LogNormal : Law::Deterministic,
                                                *request.solo_step, sigma};
    const bool has_host = spec.serving.cpu_before.ns > 0 || spec.serving.cpu_after.ns > 0;
    if (answers_requests(spec) && !has_host) {
      spec.serving.cpu_before = request.host_time.value_or(Duration{});
    }
  }
}

}  // namespace slicewise::sim
