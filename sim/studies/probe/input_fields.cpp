#include "input_fields.hpp"

#include <algorithm>
#include <variant>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../../world/admission.hpp"

namespace slicewise::sim {
namespace {

using scenarios::InputKind;
using scenarios::Provenance;

using InputBasis = std::optional<Provenance>;

constexpr std::string_view kRequestGpuTime = "measured.requestGpuTime";
constexpr std::string_view kExtraPerItem = "measured.extraPerItem";
constexpr std::string_view kResident = "gpuMemory.resident";
constexpr std::string_view kPeak = "gpuMemory.peak";

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

std::optional<double> capacity_share_of(const Workload& w) {
  if (!w.measured || w.llm) return std::nullopt;
  return scenarios::capacity_share(*w.measured, scenarios::runs_batches(w.kind));
}

constexpr WorkloadField kWorkloadFields[] = {
    {InputKind::RequestGpuTime, kRequestGpuTime, true, is_plain_service},
    {InputKind::UnitTime, "measured.unitTime", true, works_in_batches},
    {InputKind::CellGpuTime, "notebooks.gpuTime", true},
    {InputKind::CellInterval, "notebooks.interval", true},
    {InputKind::WeightsTime, "llm.step.weightsTime", true},
    {InputKind::TokenTime, "llm.step.tokenTime", true},
    {InputKind::InputTokens, "llm.tokens.input", false},
    {InputKind::OutputTokens, "llm.tokens.output", false},
    {InputKind::GpuBusy, "measured.gpuBusy", true, works_in_batches,
     [](const Workload& w) {
       return w.measured ? std::optional(scenarios::busy_share(*w.measured)) : std::nullopt;
     }},
    {InputKind::Cpu, "measured.cpu", true},
    {InputKind::CpuBefore, "serving.cpuBefore", true},
    {InputKind::CpuAfter, "serving.cpuAfter", true},
    {InputKind::CapacityShare, "measured.capacityShare", true,
     [](const Workload& w) { return !w.llm.has_value(); }, capacity_share_of},
    {InputKind::BandwidthShare, "measured.bandwidthShare", true, nullptr,
     [](const Workload& w) {
       return w.measured ? std::optional(kAssumedBandwidthShare) : std::nullopt;
     }},
    {InputKind::KernelTime, "measured.kernelTime", true},
    {InputKind::GpuMemoryResident, kResident, true},
    {InputKind::GpuMemoryPeak, kPeak, true},
    {InputKind::ModelLoad, "startup.modelLoad", false},
    {InputKind::ImagePull, "startup.imagePull", false},
    {InputKind::Faults, "faults", false},
};

bool is_of_a_sharing_law(InputKind kind) {
  return kind == InputKind::CapacityShare || kind == InputKind::BandwidthShare ||
         kind == InputKind::KernelTime;
}

bool shares_by_law(const World& world) {
  return std::ranges::any_of(world.pools, [](const PoolModel& pool) {
    return pool.strategy != Strategy::Exclusive && pool.strategy != Strategy::TimeSlicing;
  });
}

bool takes_turns(const PoolModel& pool, const World& world) {
  return has_uncounted_pods(pool, world) ||
         std::ranges::any_of(pool.kinds, [](const DomainKind& kind) {
           return std::holds_alternative<models::TimeSlicing>(kind.sharing);
         });
}

constexpr PoolField kPoolFields[] = {
    {InputKind::TimeSlice, "gpu.timeSlice",
     [](const NodePool& /*given*/, const PoolModel& pool, const World& world) {
       return takes_turns(pool, world) ? positive_seconds(pool.driver_slice.turn) : std::nullopt;
     },
     [](const NodePool& given, const PoolModel& /*pool*/) -> InputBasis {
       return given.gpu.time_slice ? Provenance::Assumed : Provenance::Catalog;
     }},
    {InputKind::SwitchCost, "gpu.switchCost",
     [](const NodePool& /*given*/, const PoolModel& pool, const World& world) {
       return takes_turns(pool, world) ? positive_seconds(pool.driver_slice.switch_cost)
                                       : std::nullopt;
     },
     [](const NodePool& given, const PoolModel& pool) -> InputBasis {
       return !given.gpu.switch_cost && models::switch_cost_is_measured(*pool.gpu)
                  ? Provenance::Catalog
                  : Provenance::Assumed;
     }},
    {InputKind::ContextMemory, "gpu.contextMemory",
     [](const NodePool& /*given*/, const PoolModel& pool, const World& /*world*/) {
       return pool.strategy == Strategy::Exclusive
                  ? std::nullopt
                  : positive_or_none(static_cast<double>(pool.context_memory.count));
     },
     [](const NodePool& given, const PoolModel& pool) -> InputBasis {
       return !given.gpu.context_memory && models::context_memory(*pool.gpu).measured
                  ? Provenance::Catalog
                  : Provenance::Assumed;
     }},
    {InputKind::Price, "price",
     [](const NodePool& /*given*/, const PoolModel& pool, const World& /*world*/) {
       return positive_or_none(to_dollars(pool.price.usd.per_hour));
     },
     [](const NodePool& /*given*/, const PoolModel& /*pool*/) -> InputBasis {
       return Provenance::Catalog;
     }},
    {InputKind::SpotInterruption, "spot.interruptionsPerHour",
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

AmountUnit unit_of(const PoolField& field) {
  return field.kind == InputKind::Price ? AmountUnit::DollarsPerHour
                                        : scenarios::pool_unit(field.path);
}

std::optional<double> stated_value(const WorkloadField& field, const Workload& resolved) {
  if (field.applies != nullptr && !field.applies(resolved)) return std::nullopt;
  auto value = scenarios::amount_at(resolved, field.path);
  if (!value && field.assumed != nullptr) value = field.assumed(resolved);
  return is_of_a_sharing_law(field.kind) || !value ? value : positive_or_none(*value);
}

std::optional<double> value_of(const WorkloadField& field, const Workload& resolved,
                               const World& world) {
  if (is_of_a_sharing_law(field.kind) && !shares_by_law(world)) return std::nullopt;
  return stated_value(field, resolved);
}

void set_input(Workload& workload, std::string_view path, double value) {
  const auto before = scenarios::amount_at(workload, path);
  scenarios::set_amount(workload, path, value);
  if (path == kRequestGpuTime && before.value_or(0) > 0) {
    const auto extra = scenarios::amount_at(workload, kExtraPerItem);
    if (extra) scenarios::set_amount(workload, kExtraPerItem, *extra * value / *before);
  }
  // A peak is never below what stays resident.
  scenarios::GpuMemory& memory = workload.gpu_memory;
  if (!memory.peak || *memory.peak >= memory.resident) return;
  if (path == kResident) memory.peak = memory.resident;
  if (path == kPeak) memory.resident = *memory.peak;
}

void lay_figures(const Workload& resolved, Workload& workload) {
  workload.measured = resolved.measured;
  workload.llm = resolved.llm;
  workload.gpu_memory = resolved.gpu_memory;
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
