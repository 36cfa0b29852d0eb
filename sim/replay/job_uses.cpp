#include "job_uses.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/gpu_names.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/sim/gpu_room.hpp"

#include "../world/parts.hpp"

namespace slicewise::sim {
namespace {

// The profiles that a trace names, each looked up once.
class NamedProfiles {
 public:
  NamedProfiles(const scenarios::JobTrace& trace, const Catalogue& catalogue)
      : trace_(trace),
        catalogue_(catalogue),
        found_(trace.profile.empty() ? 0 : trace.names.size()) {}

  const WorkloadProfile* of(std::size_t row) {
    if (found_.empty() || trace_.profile[row] == 0) return nullptr;
    auto& found = found_[trace_.profile[row]];
    if (!found) found = find(trace_.names[trace_.profile[row]], row);
    return *found;
  }
  const Diagnostics& problems() const { return problems_; }

 private:
  const WorkloadProfile* find(const std::string& name, std::size_t row) {
    const WorkloadProfile* published = catalogue_.find_profile(name);
    if (published != nullptr) {
      return &on_whole_gpus_.emplace_back(models::on_whole_gpu(*published, catalogue_));
    }
    problems_.push_back(
        unknown_name(Code::ProfileUnknown, Located<std::string>{name, trace_.place_of(row)},
                     fmt::format("{} of the trace: the catalogue has no profile \"{}\"",
                                 trace_.row_place(row).text(), name),
                     catalogue_.profiles, "slicewise get profiles"));
    return nullptr;
  }

  const scenarios::JobTrace& trace_;
  const Catalogue& catalogue_;
  std::vector<std::optional<const WorkloadProfile*>> found_;  // by name
  std::deque<WorkloadProfile> on_whole_gpus_;                 // without MIG
  Diagnostics problems_;
};

// The MIG instances that the names of a trace stand for.
std::vector<RecordedSlice> recorded_slices(const scenarios::JobTrace& trace,
                                           const Catalogue& catalogue) {
  std::vector<RecordedSlice> slices;
  if (trace.resource.empty()) return slices;
  slices.resize(trace.names.size());
  for (std::size_t name = 0; name < slices.size(); ++name) {
    const auto asked = scenarios::recorded_resource(trace.names[name]);
    if (!asked) continue;
    slices[name].compute = scenarios::gpu_resource(*asked)->slices;
    // Several GPUs have instances of the name: as much as the smallest.
    for (const MigGeometry& geometry : catalogue.mig) {
      for (const MigProfile& profile : geometry.profiles) {
        Bytes& memory = slices[name].memory;
        if (!profile.memory || !asked->starts_with(profile.resource_mixed)) continue;
        memory = memory.count == 0 ? *profile.memory : std::min(memory, *profile.memory);
      }
    }
  }
  return slices;
}

// Long enough that nanoseconds do not show.
constexpr Duration kUnit = seconds(1'000);

// What tells the use of one job from that of another.
struct Recorded {
  std::int32_t use_permille = scenarios::kUnknownNumber;
  std::int32_t fraction_milli = 1000;  // where the use is not known
  std::int32_t sm_permille = scenarios::kUnknownNumber;
  const GpuModel* on = nullptr;
  const WorkloadProfile* profile = nullptr;

  // Few profiles say how long their jobs hold the GPU.
  bool use_profile() const { return profile != nullptr && profile->duty; }

  friend bool operator==(const Recorded&, const Recorded&) = default;
};

struct RecordedHash {
  std::size_t operator()(const Recorded& r) const {
    const auto numbers = (static_cast<std::uint64_t>(r.use_permille + 1) << 40U) |
                         (static_cast<std::uint64_t>(r.fraction_milli) << 20U) |
                         static_cast<std::uint64_t>(r.sm_permille + 1);
    return static_cast<std::size_t>(numbers * 0x9E3779B97F4A7C15ULL) ^
           std::hash<const GpuModel*>()(r.on) ^ 3 * std::hash<const WorkloadProfile*>()(r.profile);
  }
};

std::int32_t number_at(const scenarios::TraceColumn<std::int32_t>& column, std::size_t row) {
  return column.empty() ? scenarios::kUnknownNumber : column[row];
}

// The GPU models that the names of a trace stand for.
class RecordedGpus {
 public:
  RecordedGpus(const scenarios::JobTrace& trace, const Catalogue& catalogue)
      : trace_(trace),
        catalogue_(catalogue),
        known_(trace.names.size(), Known::NotAsked),
        gpus_(trace.names.size(), nullptr) {}

  // What the job ran on; nullptr: nobody says, or the catalogue lacks it.
  const GpuModel* of(std::size_t row) {
    if (const auto* gpu = named(trace_.instance_type, row)) return gpu;
    return named(trace_.gpu_models, row);
  }

 private:
  enum class Known : std::uint8_t { NotAsked, Asked };

  const GpuModel* named(const scenarios::TraceColumn<std::uint32_t>& column, std::size_t row) {
    if (column.empty() || column[row] == 0) return nullptr;
    const std::uint32_t name = column[row];
    if (known_[name] == Known::NotAsked) {
      known_[name] = Known::Asked;
      gpus_[name] = models::gpu_called(catalogue_, trace_.names[name]);
    }
    return gpus_[name];
  }

  const scenarios::JobTrace& trace_;
  const Catalogue& catalogue_;
  std::vector<Known> known_;  // by name
  std::vector<const GpuModel*> gpus_;
};

// The job as if somebody had written it down.
Workload written_down(const Recorded& recorded, double busy_of_util) {
  Workload job;
  job.work.emplace();
  scenarios::Measured& measured = job.measured.emplace();
  measured.unit_time = kUnit;
  const auto share = [](std::int32_t thousandths) {
    return thousandths < 0 ? std::nullopt : std::optional(thousandths / 1000.0);
  };
  // A profile says more of a job than what it asked for.
  const bool by_profile = recorded.use_profile();
  take_use({share(recorded.use_permille), share(recorded.sm_permille),
            by_profile ? std::nullopt : share(recorded.fraction_milli)},
           measured);
  if (recorded.profile != nullptr) take_profile(*recorded.profile, job);
  if (busy_of_util != scenarios::kBusyOfGpuUtil && measured.gpu_util && !measured.gpu_busy) {
    const scenarios::BusyRange range = busy_range(measured);
    measured.gpu_busy = std::clamp(busy_of_util * *measured.gpu_util, range.least, range.most);
  }
  // Where nobody says, all SMs count while kernels run: an upper bound.
  if (!measured.sm_active) {
    const double busy = busy_share(measured);
    measured.sm_active = busy;
    if (!measured.capacity_share) measured.capacity_share = busy;
  }
  return job;
}

GpuUse use_on(const Workload& job, const GpuModel* from, const PoolModel& pool) {
  // The roofline needs both.
  const bool comparable = from != nullptr && from->fp32_tflops && pool.gpu->fp32_tflops;
  const PoolDemand on_pool = demand_on(job, comparable ? from : nullptr, pool);
  const Demand& demand = on_pool.in_kind.front();
  const DomainKind& kind = pool.kinds.front();
  const auto unit = static_cast<double>((demand.gpu + demand.host).ns);
  GpuUse use;
  use.member.duty = demand.client.duty;
  use.member.law = demand.client;
  use.pace = unit / static_cast<double>(kUnit.ns);
  use.whole = static_cast<double>(demand.whole_gpu.ns) / static_cast<double>(kUnit.ns);
  use.sm_active = static_cast<double>(demand.sm_active.ns) / unit * kind.share.compute;
  return use;
}

// The same node with whole GPUs, for jobs that take them so.
PoolModel unshared(const PoolModel& pool) {
  PoolModel whole = pool;
  DomainKind& kind = whole.kinds.front();
  kind.sharing = models::Exclusive{};
  kind.share = {};
  kind.time_share = 1;
  whole.kinds.resize(1);
  return whole;
}

}  // namespace

JobUses::JobUses(const scenarios::JobTrace& trace, const GpuSharing& sharing)
    : trace_(trace),
      sharing_(sharing),
      use_of_row_(trace.size()),
      slices_(recorded_slices(trace, *sharing.catalogue)) {
  std::unordered_map<Recorded, std::uint32_t, RecordedHash> numbers;
  std::vector<Recorded> uses;
  RecordedGpus gpus(trace, *sharing.catalogue);
  NamedProfiles profiles(trace, *sharing.catalogue);
  Recorded last;
  std::uint32_t last_use = UINT32_MAX;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    Recorded recorded;
    recorded.use_permille = number_at(trace.gpu_permille, row);
    recorded.sm_permille = number_at(trace.sm_permille, row);
    const std::int32_t milli = number_at(trace.gpu_milli, row);
    const bool says_use = recorded.use_permille >= 0 || recorded.sm_permille >= 0;
    const bool is_fraction = !says_use && milli > 0 && milli < 1000;
    if (is_fraction) recorded.fraction_milli = milli;
    recorded.on = gpus.of(row);
    recorded.profile = profiles.of(row);
    if (last_use == UINT32_MAX || !(recorded == last)) {
      const auto [entry, is_new] =
          numbers.try_emplace(recorded, static_cast<std::uint32_t>(uses.size()));
      if (is_new) uses.push_back(recorded);
      last = recorded;
      last_use = entry->second;
    }
    use_of_row_[row] = last_use;
    if (trace.gpus[row] == 0) continue;
    ++known_.jobs;
    const bool by_profile = !says_use && recorded.use_profile();
    known_.with_use += says_use || by_profile ? 1 : 0;
    known_.with_util += recorded.use_permille >= 0 ? 1 : 0;
    known_.by_profile += by_profile ? 1 : 0;
    known_.with_fraction += is_fraction && !by_profile ? 1 : 0;
    known_.with_sm += recorded.sm_permille >= 0 ? 1 : 0;
    known_.with_memory += says_memory(row) ||
                          (recorded.profile != nullptr && recorded.profile->memory) ||
                          slice_of(row).memory.count > 0;
    known_.with_gpu += recorded.on != nullptr ? 1 : 0;
  }
  uses_ = uses.size();
  problems_ = profiles.problems();
  for (const Recorded& recorded : uses) {
    const bool says = recorded.profile != nullptr && recorded.profile->memory;
    profile_memory_.push_back(says ? *recorded.profile->memory : Bytes{});
    memory_by_profile_ |= says;
  }
  for (const PoolModel& pool : sharing.pools) {
    const PoolModel whole = unshared(pool);
    for (const Recorded& recorded : uses) {
      const Workload job = written_down(recorded, sharing.busy_of_util);
      table_.push_back(use_on(job, recorded.on, pool));
      table_.push_back(use_on(job, recorded.on, whole));
    }
    const DomainKind& kind = pool.kinds.front();
    const Bytes domain = usable_by_processes(kind);
    memory_.push_back({std::min(domain, kind.tickets.front().memory_limit.value_or(domain)), domain,
                       usable_memory(*pool.gpu)});
  }
}

RecordedSlice JobUses::slice_of(std::size_t row) const {
  return slices_.empty() ? RecordedSlice{} : slices_[trace_.resource[row]];
}

Bytes JobUses::memory(std::size_t pool, std::size_t row) const {
  const Bytes had = slice_of(row).memory;  // with the context
  if (had.count > 0 && !says_own_memory(row)) return had;
  const Bytes peak = says_memory(row) ? trace_.gpu_memory[row] : profile_memory_[use_of_row_[row]];
  const Bytes with_context = peak + sharing_.pools[pool].context_memory;
  return had.count > 0 ? std::min(with_context, had) : with_context;
}

// Whether some pool has MIG instances with as much compute as the one that the row had, if any.
bool JobUses::offers_slice(std::size_t row) const {
  const int had = slice_of(row).compute;
  return had == 0 || std::ranges::any_of(sharing_.pools, [&](const PoolModel& pool) {
           return std::ranges::any_of(pool.offers, [&](const ResourceOffer& offer) {
             const auto offered = scenarios::gpu_resource(offer.name);
             return offered && offered->slices >= had;
           });
         });
}

std::optional<TurnedAway> JobUses::turned_away(std::size_t row) const {
  const std::int32_t gpus = trace_.gpus[row];
  if (gpus == 0) return std::nullopt;
  if (gpus > 1 && sharing_.isolates()) return TurnedAway::SeveralGpus;
  if (sharing_.isolates() && !offers_slice(row)) return TurnedAway::OtherSlice;
  if (!says_own_memory(row) && slice_of(row).memory.count == 0) return std::nullopt;
  for (std::size_t pool = 0; pool < sharing_.pools.size(); ++pool) {
    if (has_room(pool, row)) return std::nullopt;
  }
  return TurnedAway::GpuMemory;
}

namespace {

// The models that the shape may have and that are in the list; of none, one that no node has.
void keep_to(const std::vector<std::string>& models, JobShape& shape) {
  if (shape.gpu_models.empty()) {
    shape.gpu_models = models;
    return;
  }
  std::erase_if(shape.gpu_models,
                [&](const std::string& model) { return !contains(models, model); });
  if (shape.gpu_models.empty()) shape.gpu_models.emplace_back();
}

}  // namespace

void keep_to_gpus_with_room(const scenarios::JobTrace& trace, const JobUses& uses,
                            std::span<const NodeShape> nodes, TraceShapes& shapes) {
  const std::vector<PoolModel>& pools = uses.sharing().pools;
  if (!uses.may_run_out_of_memory() || pools.size() < 2) return;
  std::vector<std::string> model_of_pool;
  model_of_pool.reserve(pools.size());
  for (const PoolModel& pool : pools) {
    model_of_pool.push_back(
        std::ranges::find(nodes, pool.instance_type, &NodeShape::name)->gpu_model);
  }
  std::map<std::pair<ShapeId, std::vector<bool>>, ShapeId> split;
  std::vector<JobShape> by_room;
  std::vector<std::int64_t> counts;
  std::vector<bool> has_room(pools.size());
  for (std::size_t row = 0; row < trace.size(); ++row) {
    for (std::size_t pool = 0; pool < pools.size(); ++pool) {
      has_room[pool] = trace.gpus[row] == 0 || uses.has_room(pool, row);
    }
    ShapeId& shape = shapes.of_row[row];
    const auto [entry, is_new] =
        split.try_emplace({shape, has_room}, static_cast<ShapeId>(by_room.size()));
    if (is_new) {
      by_room.push_back(shapes.shapes[shape]);
      counts.push_back(0);
      std::vector<std::string> models;
      for (std::size_t pool = 0; pool < pools.size(); ++pool) {
        if (has_room[pool]) models.push_back(model_of_pool[pool]);
      }
      // Without any it is turned away.
      if (!models.empty() && models.size() < pools.size()) keep_to(models, by_room.back());
    }
    shape = entry->second;
    ++counts[shape];
  }
  shapes.shapes = std::move(by_room);
  shapes.typical = typical_jobs(shapes.shapes, counts);
}

GuestTable guests_of(const scenarios::JobTrace& trace, const JobUses& uses,
                     std::span<const NodeShape> nodes, TraceShapes& shapes) {
  struct Kind {
    std::uint32_t use = 0;
    std::int64_t steps = 0;  // of memory
    auto operator<=>(const Kind&) const = default;
  };
  std::map<Kind, std::uint32_t> kinds;
  std::map<std::pair<ShapeId, std::uint32_t>, ShapeId> split;
  std::vector<JobShape> by_guest;
  const auto memory_steps = [&](std::size_t row) -> std::int64_t {
    const Bytes peak = uses.memory(0, row) - uses.sharing().pools.front().context_memory;
    return (peak.count + kGuestMemoryStep.count - 1) / kGuestMemoryStep.count;
  };
  for (std::size_t row = 0; row < trace.size(); ++row) {
    std::uint32_t guest = 0;
    if (trace.gpus[row] == 1) {
      guest = kinds
                  .try_emplace({uses.use_of(row), memory_steps(row)},
                               static_cast<std::uint32_t>(kinds.size()))
                  .first->second;
    }
    ShapeId& shape = shapes.of_row[row];
    const auto [entry, is_new] =
        split.try_emplace({shape, guest}, static_cast<ShapeId>(by_guest.size()));
    if (is_new) by_guest.push_back(shapes.shapes[shape]);
    shape = entry->second;
    by_guest[shape].guest = guest;
  }
  shapes.shapes = std::move(by_guest);

  const GpuSharing& sharing = uses.sharing();
  GuestTable table;
  table.kinds = kinds.size();
  table.most = static_cast<std::uint32_t>(sharing.tickets);
  table.isolated = sharing.isolates();
  for (const NodeShape& node : nodes) table.host_of_node.push_back(sharing.pool_of(node.name));
  for (std::uint32_t at = 0; at < sharing.pools.size(); ++at) {
    const PoolModel& pool = sharing.pools[at];
    table.hosts.push_back({pool.kinds.front().sharing, pool.driver_slice, uses.domain_memory(at)});
    const std::size_t first = table.guests.size();
    table.guests.resize(first + kinds.size());
    for (const auto& [kind, guest] : kinds) {
      const GpuUse& use = uses.with_ticket(at, kind.use);
      table.guests[first + guest] = {
          use.member,
          use.sm_active,
          {kind.steps * kGuestMemoryStep.count + pool.context_memory.count}};
    }
  }
  return table;
}

}  // namespace slicewise::sim
