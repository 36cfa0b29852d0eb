#include "input_fields.hpp"

#include <algorithm>
#include <variant>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/scenarios/load.hpp"

namespace slicewise::sim {
namespace {

using scenarios::InputKind;
using scenarios::NodePool;
using scenarios::Provenance;
using scenarios::Workload;
using scenarios::WorkloadKind;

using InputBasis = std::optional<Provenance>;

// What the laws of sharing take where nobody says.
constexpr double kAssumedBandwidthShare = 0.5;

std::optional<double> positive_or_none(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> positive_seconds(const std::optional<Duration>& d) {
  return d ? positive_or_none(to_seconds(*d)) : std::nullopt;
}

bool is_plain_service(const Workload& w) { return w.kind == WorkloadKind::Service && !w.llm; }

bool works_in_batches(const Workload& w) { return scenarios::runs_batches(w.kind); }

double busy_share_of(const Workload& w) {
  return w.measured->gpu_busy.value_or(w.measured->gpu_util.value_or(1));
}

std::optional<double> capacity_share_of(const Workload& w) {
  if (!w.measured || w.llm) return std::nullopt;
  const double busy = scenarios::runs_batches(w.kind) ? busy_share_of(w) : 1;
  return w.measured->capacity_share.value_or(w.measured->sm_active.value_or(busy));
}

constexpr WorkloadField kWorkloadFields[] = {
    {InputKind::RequestGpuTime, "measured.requestGpuTime", AmountUnit::Seconds, true,
     is_plain_service},
    {InputKind::UnitTime, "measured.unitTime", AmountUnit::Seconds, true, works_in_batches},
    {InputKind::CellGpuTime, "notebooks.gpuTime", AmountUnit::Seconds, true},
    {InputKind::CellInterval, "notebooks.interval", AmountUnit::Seconds, true},
    {InputKind::WeightsTime, "llm.step.weightsTime", AmountUnit::Seconds, true},
    {InputKind::TokenTime, "llm.step.tokenTime", AmountUnit::Seconds, true},
    {InputKind::InputTokens, "llm.tokens.input", AmountUnit::Count, false},
    {InputKind::OutputTokens, "llm.tokens.output", AmountUnit::Count, false},
    {InputKind::GpuBusy, "measured.gpuBusy", AmountUnit::Ratio, true, works_in_batches,
     [](const Workload& w) { return w.measured ? std::optional(busy_share_of(w)) : std::nullopt; }},
    {InputKind::Cpu, "measured.cpu", AmountUnit::Cores, true},
    {InputKind::CpuBefore, "serving.cpuBefore", AmountUnit::Seconds, true},
    {InputKind::CpuAfter, "serving.cpuAfter", AmountUnit::Seconds, true},
    {InputKind::CapacityShare, "measured.capacityShare", AmountUnit::Ratio, true,
     [](const Workload& w) { return !w.llm.has_value(); }, capacity_share_of},
    {InputKind::BandwidthShare, "measured.bandwidthShare", AmountUnit::Ratio, true, nullptr,
     [](const Workload& w) {
       return w.measured ? std::optional(kAssumedBandwidthShare) : std::nullopt;
     }},
    {InputKind::GpuMemoryResident, "gpuMemory.resident", AmountUnit::Bytes, true},
    {InputKind::GpuMemoryPeak, "gpuMemory.peak", AmountUnit::Bytes, true},
    {InputKind::ModelLoad, "startup.modelLoad", AmountUnit::Seconds, false},
    {InputKind::ImagePull, "startup.imagePull", AmountUnit::Seconds, false},
    {InputKind::Faults, "faults", AmountUnit::PerSecond, false},
};

bool is_of_a_sharing_law(InputKind kind) {
  return kind == InputKind::CapacityShare || kind == InputKind::BandwidthShare;
}

bool shares_by_law(const World& world) {
  return std::ranges::any_of(world.pools, [](const PoolModel& pool) {
    return pool.strategy != "exclusive" && pool.strategy != "timeSlicing";
  });
}

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
     [](const NodePool& given, const PoolModel& /*pool*/) -> InputBasis {
       return given.gpu.time_slice ? Provenance::Assumed : Provenance::Catalog;
     }},
    {InputKind::SwitchCost, "gpu.switchCost", AmountUnit::Seconds,
     [](const NodePool& /*given*/, const PoolModel& pool, const World& world) {
       return takes_turns(pool, world) ? positive_seconds(pool.driver_slice.switch_cost)
                                       : std::nullopt;
     },
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
     [](const NodePool& given, const PoolModel& pool) -> InputBasis {
       return !given.gpu.context_memory && models::context_memory(*pool.gpu).measured
                  ? Provenance::Catalog
                  : Provenance::Assumed;
     }},
    {InputKind::Price, "price", AmountUnit::DollarsPerHour,
     [](const NodePool& /*given*/, const PoolModel& pool, const World& /*world*/) {
       return positive_or_none(to_dollars(pool.price.usd.per_hour));
     },
     [](const NodePool& /*given*/, const PoolModel& /*pool*/) -> InputBasis {
       return Provenance::Catalog;
     }},
    {InputKind::SpotInterruption, "spot.interruptionsPerHour", AmountUnit::PerSecond,
     [](const NodePool& given, const PoolModel& /*pool*/, const World& /*world*/) {
       return given.spot && given.spot->interruptions
                  ? positive_or_none(given.spot->interruptions->per_second)
                  : std::nullopt;
     },
     [](const NodePool& /*given*/, const PoolModel& /*pool*/) -> InputBasis {
       return std::nullopt;
     }},
};

}  // namespace

std::span<const WorkloadField> workload_fields() { return kWorkloadFields; }
std::span<const PoolField> pool_fields() { return kPoolFields; }

std::optional<double> value_of(const WorkloadField& field, const Workload& resolved,
                               const World& world) {
  const bool law = is_of_a_sharing_law(field.kind);
  if (law && !shares_by_law(world)) return std::nullopt;
  if (field.applies != nullptr && !field.applies(resolved)) return std::nullopt;
  auto value = scenarios::amount_at(resolved, field.path);
  if (!value && field.assumed != nullptr) value = field.assumed(resolved);
  return law || !value ? value : positive_or_none(*value);
}

void write_field(const WorkloadField& field, const Workload& resolved, double value,
                 Workload& workload) {
  workload.measured = resolved.measured;
  workload.llm = resolved.llm;
  workload.gpu_memory = resolved.gpu_memory;
  scenarios::set_amount(workload, field.path, value);
  // A peak is never below what stays resident.
  scenarios::GpuMemory& memory = workload.gpu_memory;
  if (!memory.peak || *memory.peak >= memory.resident) return;
  if (field.kind == InputKind::GpuMemoryResident) memory.peak = memory.resident;
  if (field.kind == InputKind::GpuMemoryPeak) memory.resident = *memory.peak;
}

std::optional<Provenance> basis_of(const WorkloadField& field, const Workload& resolved) {
  if (!field.measured || !resolved.measured) return std::nullopt;
  const scenarios::Measured& m = *resolved.measured;
  const bool filled_in = (field.kind == InputKind::GpuBusy && !m.gpu_busy && !m.gpu_util) ||
                         (field.kind == InputKind::CapacityShare && !m.capacity_share) ||
                         (field.kind == InputKind::BandwidthShare && !m.bandwidth_share);
  return filled_in ? Provenance::Assumed : m.provenance;
}

}  // namespace slicewise::sim
