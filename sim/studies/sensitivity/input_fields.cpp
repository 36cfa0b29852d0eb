#include "input_fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

#include "slicewise/models/gpu_model.hpp"
#include "slicewise/models/sharing.hpp"

namespace slicewise::sim {
namespace {

using scenarios::InputKind;
using scenarios::NodePool;
using scenarios::Provenance;
using scenarios::Workload;
using scenarios::WorkloadKind;

using InputBasis = std::optional<Provenance>;

constexpr double kMillicoresPerVcpu = 1000;
// What the laws of sharing take where nobody says.
constexpr double kAssumedBandwidthShare = 0.5;

std::optional<double> positive_or_none(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> positive_seconds(const std::optional<Duration>& d) {
  return d ? positive_or_none(to_seconds(*d)) : std::nullopt;
}

Bytes whole_bytes(double value) { return {std::llround(value)}; }

bool is_plain_service(const Workload& w) {
  return w.kind == WorkloadKind::Service && !w.llm && w.measured;
}

double busy_share_of(const Workload& w) {
  return w.measured->gpu_busy.value_or(w.measured->gpu_util.value_or(1));
}

std::optional<double> capacity_share_of(const Workload& w) {
  if (!w.measured || w.llm) return std::nullopt;
  const double busy = scenarios::runs_batches(w.kind) ? busy_share_of(w) : 1;
  return w.measured->capacity_share.value_or(w.measured->sm_active.value_or(busy));
}

// A peak is never below what stays resident.
void write_resident(Workload& w, double value) {
  w.gpu_memory.resident = whole_bytes(value);
  if (w.gpu_memory.peak) w.gpu_memory.peak = std::max(*w.gpu_memory.peak, w.gpu_memory.resident);
}

void write_peak(Workload& w, double value) {
  w.gpu_memory.peak = whole_bytes(value);
  w.gpu_memory.resident = std::min(*w.gpu_memory.peak, w.gpu_memory.resident);
}

constexpr WorkloadField kWorkloadFields[] = {
    {InputKind::RequestGpuTime, "measured.requestGpuTime", AmountUnit::Seconds,
     [](const Workload& w) {
       return is_plain_service(w) && w.measured->request_gpu_time
                  ? positive_seconds(w.measured->request_gpu_time->mean)
                  : std::nullopt;
     },
     [](Workload& w, double value) { w.measured->request_gpu_time->mean = from_seconds(value); },
     true},
    {InputKind::UnitTime, "measured.unitTime", AmountUnit::Seconds,
     [](const Workload& w) {
       return scenarios::runs_batches(w.kind) && w.measured
                  ? positive_seconds(w.measured->unit_time)
                  : std::nullopt;
     },
     [](Workload& w, double value) { w.measured->unit_time = from_seconds(value); }, true},
    {InputKind::CellGpuTime, "notebooks.gpuTime", AmountUnit::Seconds,
     [](const Workload& w) {
       return w.notebooks ? positive_seconds(w.notebooks->gpu_time.mean) : std::nullopt;
     },
     [](Workload& w, double value) { w.notebooks->gpu_time.mean = from_seconds(value); }, true},
    {InputKind::CellInterval, "notebooks.interval", AmountUnit::Seconds,
     [](const Workload& w) {
       return w.notebooks ? positive_seconds(w.notebooks->interval.mean) : std::nullopt;
     },
     [](Workload& w, double value) { w.notebooks->interval.mean = from_seconds(value); }, true},
    {InputKind::WeightsTime, "llm.step.weightsTime", AmountUnit::Seconds,
     [](const Workload& w) { return w.llm ? positive_seconds(w.llm->weights_time) : std::nullopt; },
     [](Workload& w, double value) { w.llm->weights_time = from_seconds(value); }, true},
    {InputKind::TokenTime, "llm.step.tokenTime", AmountUnit::Seconds,
     [](const Workload& w) {
       return w.llm ? positive_or_none(w.llm->token_seconds.value_or(0)) : std::nullopt;
     },
     [](Workload& w, double value) { w.llm->token_seconds = value; }, true},
    {InputKind::InputTokens, "llm.tokens.input", AmountUnit::Count,
     [](const Workload& w) {
       return w.llm && w.llm->input ? positive_or_none(w.llm->input->mean) : std::nullopt;
     },
     [](Workload& w, double value) { w.llm->input->mean = value; }, false},
    {InputKind::OutputTokens, "llm.tokens.output", AmountUnit::Count,
     [](const Workload& w) {
       return w.llm && w.llm->output ? positive_or_none(w.llm->output->mean) : std::nullopt;
     },
     [](Workload& w, double value) { w.llm->output->mean = value; }, false},
    {InputKind::GpuBusy, "measured.gpuBusy", AmountUnit::Ratio,
     [](const Workload& w) {
       return scenarios::runs_batches(w.kind) && w.measured ? positive_or_none(busy_share_of(w))
                                                            : std::nullopt;
     },
     [](Workload& w, double value) { w.measured->gpu_busy = value; }, true},
    {InputKind::Cpu, "measured.cpu", AmountUnit::Cores,
     [](const Workload& w) {
       return w.measured && w.measured->cpu
                  ? positive_or_none(static_cast<double>(w.measured->cpu->count) /
                                     kMillicoresPerVcpu)
                  : std::nullopt;
     },
     [](Workload& w, double value) {
       w.measured->cpu = Millicores{std::llround(value * kMillicoresPerVcpu)};
     },
     true},
    {InputKind::CpuBefore, "serving.cpuBefore", AmountUnit::Seconds,
     [](const Workload& w) { return positive_seconds(w.serving.cpu_before); },
     [](Workload& w, double value) { w.serving.cpu_before = from_seconds(value); }, true},
    {InputKind::CpuAfter, "serving.cpuAfter", AmountUnit::Seconds,
     [](const Workload& w) { return positive_seconds(w.serving.cpu_after); },
     [](Workload& w, double value) { w.serving.cpu_after = from_seconds(value); }, true},
    {InputKind::CapacityShare, "measured.capacityShare", AmountUnit::Ratio, capacity_share_of,
     [](Workload& w, double value) { w.measured->capacity_share = value; }, true},
    {InputKind::BandwidthShare, "measured.bandwidthShare", AmountUnit::Ratio,
     [](const Workload& w) {
       return w.measured
                  ? std::optional(w.measured->bandwidth_share.value_or(kAssumedBandwidthShare))
                  : std::nullopt;
     },
     [](Workload& w, double value) { w.measured->bandwidth_share = value; }, true},
    {InputKind::GpuMemoryResident, "gpuMemory.resident", AmountUnit::Bytes,
     [](const Workload& w) {
       return positive_or_none(static_cast<double>(w.gpu_memory.resident.count));
     },
     write_resident, true},
    {InputKind::GpuMemoryPeak, "gpuMemory.peak", AmountUnit::Bytes,
     [](const Workload& w) {
       return w.gpu_memory.peak ? positive_or_none(static_cast<double>(w.gpu_memory.peak->count))
                                : std::nullopt;
     },
     write_peak, true},
    {InputKind::ModelLoad, "startup.modelLoad", AmountUnit::Seconds,
     [](const Workload& w) { return positive_seconds(w.startup.model_load); },
     [](Workload& w, double value) { w.startup.model_load = from_seconds(value); }, false},
    {InputKind::ImagePull, "startup.imagePull", AmountUnit::Seconds,
     [](const Workload& w) { return positive_seconds(w.startup.image_pull); },
     [](Workload& w, double value) { w.startup.image_pull = from_seconds(value); }, false},
    {InputKind::Faults, "faults", AmountUnit::PerSecond,
     [](const Workload& w) {
       return w.faults ? positive_or_none(w.faults->per_second) : std::nullopt;
     },
     [](Workload& w, double value) { w.faults = Rate{value}; }, false},
};

bool takes_turns(const PoolModel& pool, const World& world) {
  const bool uncounted = std::ranges::any_of(world.workloads, [&](const WorkloadModel& model) {
    return !model.resource && admits(pool, model.spec.pod);
  });
  return uncounted || std::ranges::any_of(pool.kinds, [](const DomainKind& kind) {
           return std::holds_alternative<models::TimeSlicing>(kind.sharing);
         });
}

constexpr PoolField kPoolFields[] = {
    {InputKind::TimeSlice, "gpu.timeSlice", AmountUnit::Seconds,
     [](const NodePool& /*given*/, const PoolModel& pool, const World& world) {
       return takes_turns(pool, world) ? positive_seconds(pool.driver_slice.turn) : std::nullopt;
     },
     [](NodePool& pool, double value) { pool.gpu.time_slice = from_seconds(value); },
     [](const NodePool& given, const PoolModel& /*pool*/) -> InputBasis {
       return given.gpu.time_slice ? Provenance::Assumed : Provenance::Catalog;
     }},
    {InputKind::SwitchCost, "gpu.switchCost", AmountUnit::Seconds,
     [](const NodePool& /*given*/, const PoolModel& pool, const World& world) {
       return takes_turns(pool, world) ? positive_seconds(pool.driver_slice.switch_cost)
                                       : std::nullopt;
     },
     [](NodePool& pool, double value) { pool.gpu.switch_cost = from_seconds(value); },
     // As in the counts of provenance: only the A100's is anchored in a measurement.
     [](const NodePool& given, const PoolModel& pool) -> InputBasis {
       return !given.gpu.switch_cost && pool.gpu->name.starts_with("A100") ? Provenance::Catalog
                                                                           : Provenance::Assumed;
     }},
    {InputKind::ContextMemory, "gpu.contextMemory", AmountUnit::Bytes,
     [](const NodePool& /*given*/, const PoolModel& pool, const World& /*world*/) {
       return pool.strategy == "exclusive"
                  ? std::nullopt
                  : positive_or_none(static_cast<double>(pool.context_memory.count));
     },
     [](NodePool& pool, double value) { pool.gpu.context_memory = whole_bytes(value); },
     [](const NodePool& given, const PoolModel& pool) -> InputBasis {
       return !given.gpu.context_memory && models::context_memory(*pool.gpu).measured
                  ? Provenance::Catalog
                  : Provenance::Assumed;
     }},
    {InputKind::Price, "price", AmountUnit::DollarsPerHour,
     [](const NodePool& /*given*/, const PoolModel& pool, const World& /*world*/) {
       return positive_or_none(to_dollars(pool.price.usd.per_hour));
     },
     nullptr,
     [](const NodePool& /*given*/, const PoolModel& /*pool*/) -> InputBasis {
       return Provenance::Catalog;
     }},
    {InputKind::SpotInterruption, "spot.interruptionsPerHour", AmountUnit::PerSecond,
     [](const NodePool& given, const PoolModel& /*pool*/, const World& /*world*/) {
       return given.spot && given.spot->interruptions
                  ? positive_or_none(given.spot->interruptions->per_second)
                  : std::nullopt;
     },
     [](NodePool& pool, double value) { pool.spot->interruptions = Rate{value}; },
     [](const NodePool& /*given*/, const PoolModel& /*pool*/) -> InputBasis {
       return std::nullopt;
     }},
};

}  // namespace

std::span<const WorkloadField> workload_fields() { return kWorkloadFields; }
std::span<const PoolField> pool_fields() { return kPoolFields; }

void write_field(const WorkloadField& field, const Workload& resolved, double value,
                 Workload& workload) {
  workload.measured = resolved.measured;
  workload.llm = resolved.llm;
  workload.gpu_memory = resolved.gpu_memory;
  field.write(workload, value);
}

std::optional<Provenance> basis_of(const WorkloadField& field, const Workload& resolved) {
  if (!field.measured || !resolved.measured) return std::nullopt;
  const scenarios::Measured& m = *resolved.measured;
  const bool filled_in = (field.kind == InputKind::GpuBusy && !m.gpu_busy && !m.gpu_util) ||
                         (field.kind == InputKind::CapacityShare && !m.capacity_share) ||
                         (field.kind == InputKind::BandwidthShare && !m.bandwidth_share);
  return filled_in ? Provenance::Assumed : m.provenance;
}

bool matters(const WorkloadField& field, const World& world) {
  if (field.kind != InputKind::CapacityShare && field.kind != InputKind::BandwidthShare) {
    return true;
  }
  return std::ranges::any_of(world.pools, [](const PoolModel& pool) {
    return pool.strategy != "exclusive" && pool.strategy != "timeSlicing";
  });
}

}  // namespace slicewise::sim
