#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

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

bool answers_requests(const Workload& spec) {
  return spec.kind == WorkloadKind::Service && !spec.llm;
}

// How `provenance` of a profile begins where the user measured, as `slicewise calibrate` writes it.
constexpr std::string_view kMeasured = "measured";

std::string_view basis_of(const WorkloadProfile& profile, const char* figure) {
  const auto basis = profile.provenance.find(figure);
  return basis != profile.provenance.end() ? std::string_view(basis->second) : std::string_view();
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
  const std::optional<double> duty = step.request_duty ? step.request_duty : step.duty;
  const Duration kernels =
      std::max(nanoseconds(1), duty ? part_of_step(alone, std::min(1.0, *duty)) : left);
  request.solo_step = kernels;
  if (kernels == alone) return request;
  request.host_time = alone - kernels;
  const double longer = static_cast<double>(alone.ns) / static_cast<double>(kernels.ns);
  // The law that it was fitted by is of steps.
  const double in_step = step.duty && *step.duty > 0 ? 1 / std::min(1.0, *step.duty) : longer;
  if (step.capacity_share) request.capacity_share = std::min(1.0, *step.capacity_share * in_step);
  if (!step.time_sigma) return request;
  // The variance of the whole is that of the kernels: the host takes as long each time.
  const double variance = portable_exp(*step.time_sigma * *step.time_sigma) - 1;
  request.time_sigma = std::sqrt(portable_log(1 + longer * longer * variance));
  return request;
}

// "resnet-50/t4/b1/fp16" with 8 items: "resnet-50/t4/b8/fp16"; "" where the name has no such part.
std::string name_of_batch(const WorkloadProfile& profile, int items) {
  const std::string part = fmt::format("/b{}/", *profile.batch);
  std::string name = profile.name + "/";
  const std::size_t at = name.find(part);
  if (at == std::string::npos) return "";
  name.replace(at, part.size(), fmt::format("/b{}/", items));
  name.pop_back();
  return name;
}

}  // namespace

WorkloadProfile profile_for(const Workload& spec, const WorkloadProfile& published,
                            const Catalogue& catalogue) {
  WorkloadProfile profile = models::on_whole_gpu(published, catalogue);
  return answers_requests(spec) ? as_request(profile) : profile;
}

double overhead_on(const models::GpuModel& gpu) {
  return to_seconds(models::usual_switch_cost(gpu)) / to_seconds(gpu.time_slice);
}

bool borrows_capacity(const WorkloadProfile& profile) {
  return basis_of(profile, "capacityShare").starts_with(kBorrowedOfClass);
}

bool fits_capacity(const WorkloadProfile& profile) {
  return profile.is_users && basis_of(profile, "capacityShare").starts_with(kFitted);
}

bool has_one_neighbour(const WorkloadProfile& profile) {
  return basis_of(profile, "sensitivity").find(kBesideOne) != std::string_view::npos;
}

void take_profile(const WorkloadProfile& profile, Workload& spec) {
  const bool measured_by_user = spec.measured.has_value();
  scenarios::Measured& m = measured_by_user ? *spec.measured : spec.measured.emplace();
  if (!measured_by_user) {
    const bool measured =
        profile.is_users &&
        same_name(basis_of(profile, "soloMs").substr(0, kMeasured.size()), kMeasured);
    m.provenance = measured ? scenarios::Provenance::Measured : scenarios::Provenance::Catalog;
  }
  // A default that calibrate writes down is no figure of the workload.
  const auto is_known = [&](const char* figure) {
    return !basis_of(profile, figure).starts_with(kByDefault);
  };
  if (!m.bandwidth_share && is_known("bandwidthShare")) m.bandwidth_share = profile.bandwidth_share;
  const bool counted = m.sm_active && borrows_capacity(profile);
  if (!m.capacity_share && !counted) m.capacity_share = profile.capacity_share;
  if (!m.norm_p && is_known("normP")) m.norm_p = profile.norm_p;
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
  if (!m.request_gpu_time && profile.solo_step) {
    using Law = scenarios::ServiceTime::Law;
    const double sigma = profile.time_sigma.value_or(0);
    m.request_gpu_time = scenarios::ServiceTime{sigma > 0 ? Law::LogNormal : Law::Deterministic,
                                                *profile.solo_step, sigma};
    const bool has_host = spec.serving.cpu_before.ns > 0 || spec.serving.cpu_after.ns > 0;
    if (answers_requests(spec) && !has_host) {
      spec.serving.cpu_before = profile.host_time.value_or(Duration{});
    }
  }
}

std::vector<scenarios::MeasuredBatch> measured_batches(const Workload& spec,
                                                       const WorkloadProfile& published,
                                                       const Catalogue& catalogue) {
  std::vector<scenarios::MeasuredBatch> found;
  const std::optional<scenarios::Measured>& m = spec.measured;
  const bool is_said =
      m && (m->request_gpu_time || m->extra_per_item || m->capacity_share || m->sm_active);
  if (!answers_requests(spec) || is_said || !published.batch || *published.batch < 1) return found;
  const WorkloadProfile one = profile_for(spec, published, catalogue);
  if (!one.solo_step || !one.capacity_share || *one.capacity_share <= 0) return found;
  for (const WorkloadProfile& other : catalogue.profiles) {
    const int items = other.batch.value_or(0);
    if (items <= *published.batch || items % *published.batch != 0) continue;
    if (other.name != name_of_batch(published, items)) continue;
    const WorkloadProfile together = profile_for(spec, other, catalogue);
    if (!together.solo_step || !together.capacity_share) continue;
    const double longer = to_seconds(*together.solo_step) / to_seconds(*one.solo_step);
    found.push_back({items / *published.batch, longer,
                     longer * *together.capacity_share / *one.capacity_share});
  }
  std::ranges::sort(found, {}, &scenarios::MeasuredBatch::requests);
  return found;
}

}  // namespace slicewise::sim
