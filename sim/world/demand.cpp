#include <algorithm>
#include <cmath>

#include "slicewise/scenarios/job_trace.hpp"

#include "parts.hpp"

namespace slicewise::sim {

double usual_norm(const Workload& spec) {
  const bool serial = spec.work && spec.work->host_phase == scenarios::Work::HostPhase::Serial;
  return serial ? models::kSerialNorm : models::kDefaultNorm;
}

namespace {

// The mean unit of a workload whose units are GPU work and nothing else: a request, a cell.
// nullopt: a batch unit, which has a host phase, too.
std::optional<Duration> gpu_burst(const Workload& spec) {
  if (spec.kind == WorkloadKind::Service) return spec.measured->request_gpu_time->mean;
  if (spec.kind == WorkloadKind::Notebook) return spec.notebooks->gpu_time.mean;
  return std::nullopt;
}

Duration stretched(Duration d, double factor) {
  constexpr double kLongestNs = 4e18;  // 127 years
  return {std::llround(std::min(static_cast<double>(d.ns) * factor, kLongestNs))};
}

models::ClientLaw law_of(const Workload& spec) {
  const scenarios::Measured& m = *spec.measured;
  models::ClientLaw law;
  law.capacity_share = scenarios::capacity_share(m, scenarios::runs_batches(spec.kind));
  law.bandwidth_share = m.bandwidth_share.value_or(models::kDefaultBandwidthShare);
  law.norm_p = m.norm_p.value_or(usual_norm(spec));
  law.sensitivity = m.sensitivity;
  law.pressure = m.pressure;
  law.copies_by_law = m.capacity_share || m.sm_active;
  law.kernel_time = m.kernel_time.value_or(Duration{});
  // The time of a request may have been drawn or scaled since its kernels were measured.
  const auto work = scenarios::kernel_work(spec);
  if (work) law.kernel_time = std::min(law.kernel_time, std::max(*work, nanoseconds(1)));
  return law;
}

// The same law on another GPU or with another batch: the GPU work scales, in as many kernels, the
// rest of the time stays. Returns how many times longer the unit takes there.
double carry_over(models::ClientLaw& law, double work_scale) {
  if (work_scale == 1) return 1;
  const models::DomainShare whole{1 / work_scale, 1 / work_scale};
  const models::DomainClient there = models::client_in(law, whole, 1);
  law.capacity_share = std::min(1.0, law.capacity_share * work_scale / there.stretch);
  law.kernel_time = stretched(law.kernel_time, work_scale);
  return there.stretch;
}

// Of batch work that keeps the GPU busy for the share `busy` of its time: the same work as the
// whole unit's, in that time.
models::ClientLaw law_of_kernels(models::ClientLaw law, double busy) {
  if (busy > 0) law.capacity_share = std::min(1.0, law.capacity_share / busy);
  return law;
}

// A pod with several CUDA processes has the thread limit several times.
double thread_limit(const models::Sharing& sharing, int processes) {
  const auto* mps = std::get_if<models::Mps>(&sharing);
  return mps == nullptr ? 1.0 : std::min(1.0, mps->active_threads * std::max(1, processes));
}

// How much longer so many requests in one go take than one alone on the GPU that they were measured
// on: by extraPerItem, else by E1.
double batch_stretch(const Workload& spec, int requests) {
  const scenarios::Measured& m = *spec.measured;
  models::ClientLaw law = law_of(spec);
  if (!m.extra_per_item) return carry_over(law, requests);
  const Duration one = m.request_gpu_time->mean;
  const Duration all = one + *m.extra_per_item * (requests - 1);
  return static_cast<double>(all.ns) / static_cast<double>(one.ns);
}

// The same with the work that they are, as batches that were measured have it: between them, and
// beyond the last, as far off that curve as they are. nullopt: E1 alone says it.
std::optional<scenarios::MeasuredBatch> measured_batch(const Workload& spec, int requests) {
  const scenarios::Measured& m = *spec.measured;
  if (m.batches.empty() && !m.extra_per_item) return std::nullopt;
  scenarios::MeasuredBatch found{requests, batch_stretch(spec, requests),
                                 static_cast<double>(requests)};
  scenarios::MeasuredBatch off;  // a batch, and by how much it is off in each
  for (const scenarios::MeasuredBatch& batch : m.batches) {
    const double longer = batch.longer / batch_stretch(spec, batch.requests);
    const double work = batch.work / batch.requests;
    const double part = std::min(1.0, static_cast<double>(requests - off.requests) /
                                          static_cast<double>(batch.requests - off.requests));
    off = {batch.requests, std::lerp(off.longer, longer, part), std::lerp(off.work, work, part)};
    if (requests <= batch.requests) break;
  }
  found.longer *= off.longer;
  found.work *= off.work;
  return found;
}

// 1, 2, ... up to maxBatch requests in one go. Without a measurement of their work it is so many
// times that of one: it fills more of the GPU. `one` is the first.
std::vector<BatchDemand> batches_of(const Workload& spec, const DomainKind& kind, double work_scale,
                                    const BatchDemand& one) {
  const scenarios::Measured& m = *spec.measured;
  const double limit = thread_limit(kind.sharing, spec.processes_per_pod);
  const Duration measured = m.request_gpu_time->mean;
  std::vector<BatchDemand> batches{one};
  batches.reserve(static_cast<std::size_t>(spec.serving.max_batch));
  for (int items = 2; items <= spec.serving.max_batch; ++items) {
    models::ClientLaw together = law_of(spec);
    double longer = 1;
    const auto known = measured_batch(spec, items);
    if (known) {
      longer = known->longer;
      together.capacity_share = std::min(1.0, together.capacity_share * known->work / longer);
      together.kernel_time = stretched(together.kernel_time, longer);
    }
    longer *= carry_over(together, known ? work_scale : work_scale * items);
    BatchDemand batch;
    batch.client = models::client_in(together, kind.share, limit);
    batch.client.duty = batches.front().client.duty;
    batch.gpu = std::max(batches.back().gpu, stretched(measured, longer * batch.client.stretch));
    batch.sm_active = std::min(stretched(batch.gpu, batch.client.active_threads),
                               batches.front().sm_active * items);
    batches.push_back(batch);
  }
  return batches;
}

}  // namespace

CarriedOver carried_over(const Workload& spec, double gpu_scale) {
  const scenarios::Measured& m = *spec.measured;
  const double busy = gpu_burst(spec) ? 1.0 : busy_share(m);
  const models::ClientLaw law = law_of(spec);
  models::ClientLaw kernels = law_of_kernels(law, busy);
  return {carry_over(kernels, gpu_scale), law.capacity_share, !m.capacity_share && !m.sm_active};
}

bool has_roofline(const GpuModel& from, const GpuModel& to) {
  return &from == &to || (from.fp32_tflops && to.fp32_tflops);
}

double seconds_per_request(const Demand& demand) {
  double least = to_seconds(demand.gpu);
  for (std::size_t b = 0; b < demand.batches.size(); ++b) {
    least = std::min(least, to_seconds(demand.batches[b].gpu) / static_cast<double>(b + 1));
  }
  return least;
}

PoolDemand demand_on(const Workload& spec, const GpuModel* from, const PoolModel& pool) {
  const scenarios::Measured& m = *spec.measured;
  const std::optional<Duration> burst = gpu_burst(spec);
  const double busy = burst ? 1.0 : busy_share(m);
  models::ClientLaw law = law_of(spec);
  PoolDemand result;
  if (from != nullptr && from != pool.gpu && has_roofline(*from, *pool.gpu)) {
    result.gpu_scale = models::roofline_scale(*from, *pool.gpu, law.bandwidth_share);
  }
  const int measured_batch = m.batch.value_or(1);
  result.batch_scale = static_cast<double>(spec.batch.value_or(measured_batch)) / measured_batch;
  const double work_scale = result.gpu_scale * result.batch_scale;
  const Duration measured = burst ? *burst : *m.unit_time;
  // Alone where they were measured.
  const Duration busy_time = burst ? measured : stretched(measured, busy);
  const Duration sm_time = stretched(measured, m.sm_active.value_or(0) * work_scale);
  models::ClientLaw kernels = law_of_kernels(law, busy);
  const double longer = carry_over(law, work_scale);
  const double kernels_longer = carry_over(kernels, work_scale);
  for (const DomainKind& kind : pool.kinds) {
    Demand demand;
    const double limit = thread_limit(kind.sharing, spec.processes_per_pod);
    demand.client = models::client_in(law, kind.share, limit);
    const Duration unit = stretched(measured, longer * demand.client.stretch);
    // A host phase that overlaps gives way to kernels that take longer: the unit is no measure of
    // them.
    const double in_kind = models::client_in(kernels, kind.share, limit).stretch;
    demand.gpu = std::max(nanoseconds(1), stretched(busy_time, kernels_longer * in_kind));
    demand.host = std::max(Duration{}, unit - demand.gpu);
    demand.client.duty =
        static_cast<double>(demand.gpu.ns) / static_cast<double>((demand.gpu + demand.host).ns);
    demand.whole_gpu = std::max(nanoseconds(1), stretched(measured, longer));
    // Of the SMs that it may use.
    demand.sm_active = std::min(stretched(demand.gpu, demand.client.active_threads),
                                stretched(sm_time, 1 / kind.share.compute));
    if (spec.kind == WorkloadKind::Service) {
      demand.batches =
          batches_of(spec, kind, work_scale, {demand.gpu, demand.sm_active, demand.client});
    }
    if (m.cpu) demand.cpu = stretched(measured, static_cast<double>(m.cpu->count) / 1000.0);
    result.in_kind.push_back(demand);
  }
  return result;
}

}  // namespace slicewise::sim
