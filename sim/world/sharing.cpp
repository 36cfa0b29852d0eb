#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/sim/pool_choice.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

// The stock device plugin's limit below compute capability 7.5, which it takes for "before Volta".
// Source: NVIDIA/k8s-device-plugin cmd/mps-control-daemon/mps/device.go.
constexpr int kOldPluginClients = 16;
constexpr int kPluginClients = 48;

// NVIDIA vGPU's default slices: 2 ms for up to 8 vGPUs on a GPU, else 1 ms. Unverified.
constexpr int kManyVgpus = 8;

// Figures that every way of sharing needs.
struct Device {
  const NodePool& pool;
  const InstanceType& type;
  const GpuModel& gpu;
};

models::TimeSlice driver_slice(const NodePool& pool, const GpuModel& gpu) {
  models::TimeSlice slice;
  slice.turn = pool.gpu.time_slice.value_or(gpu.time_slice);
  const Duration usual = pool.gpu.cold_cache ? models::switch_cost(gpu, *pool.gpu.cold_cache)
                                             : models::usual_switch_cost(gpu);
  slice.switch_cost = pool.gpu.switch_cost.value_or(usual);
  return slice;
}

bool before_7_5(const GpuModel& gpu) {
  return gpu.compute_capability < "7.5" && gpu.compute_capability.find('.') == 1;
}

models::Mps mps_of(const Device& device, int replicas, bool plugin_limits, const DomainKind& kind,
                   Bytes memory) {
  const auto settings = device.pool.mps.value_or(scenarios::MpsSettings{});
  models::Mps mps;
  mps.replicas = replicas;
  mps.client_limit =
      mps_clients_in(kind, settings.client_limit.value_or(device.gpu.mps_max_clients));
  mps.server_memory = settings.server_memory;
  if (settings.active_threads) {
    mps.active_threads = whole_sms(*settings.active_threads, device.gpu, kind.share);
  }
  if (!plugin_limits) return mps;
  if (!settings.uncapped && !settings.active_threads) {
    mps.active_threads = whole_sms(std::floor(100.0 / replicas) / 100, device.gpu, kind.share);
  }
  const std::int64_t mib = memory.count / mebibytes(1).count / replicas;
  mps.memory_limit = mebibytes(mib);
  return mps;
}

// Position of an offer in the pool, added when it is new.
std::size_t offer_at(PoolModel& model, ResourceOffer offer) {
  const auto known = std::ranges::find(model.offers, offer.name, &ResourceOffer::name);
  if (known != model.offers.end()) return static_cast<std::size_t>(known - model.offers.begin());
  model.offers.push_back(std::move(offer));
  return model.offers.size() - 1;
}

// A device that the plugin calls `name`, shared as its config says.
void share_device(const Device& device, const std::string& name, DomainKind& kind,
                  PoolModel& model) {
  if (device.pool.dra) return;
  const auto entry = plugin_entry(device.pool, name);
  if (!entry) {
    kind.tickets.push_back({offer_at(model, {name, {}, false, false}), 1, std::nullopt});
    return;
  }
  const int replicas = entry->resource->replicas;
  Tickets tickets;
  tickets.offer = offer_at(
      model,
      {entry->sharing->advertised(name), {}, true, entry->sharing->fail_requests_greater_than_one});
  tickets.count = replicas;
  if (entry->mps) {
    // The daemon divides what nvidia-smi prints, not what CUDA can use.
    const Bytes printed = kind.partition.empty() ? device.gpu.memory_total : kind.memory;
    const models::Mps mps = mps_of(device, replicas, true, kind, printed);
    tickets.memory_limit = mps.memory_limit;
    kind.sharing = mps;
  } else {
    kind.sharing = models::TimeSlicing{replicas, model.driver_slice};
  }
  kind.tickets.push_back(tickets);
}

DomainKind whole_gpu(const Device& device) {
  DomainKind kind;
  kind.memory = usable_memory(device.type, device.gpu);
  return kind;
}

models::Vgpu vgpu_of(const Device& device, const PoolModel& model) {
  // AWS does not say how the host of a g6f schedules its tenants; a fixed share is what it sells.
  using Policy = scenarios::VgpuSettings::Policy;
  const auto settings = device.pool.vgpu.value_or(scenarios::VgpuSettings{});
  const Policy usual = device.type.gpu_fraction < 1 ? Policy::FixedShare : Policy::BestEffort;
  models::Vgpu vgpu;
  vgpu.policy = static_cast<models::Vgpu::Policy>(settings.policy.value_or(usual));
  vgpu.per_gpu =
      settings.per_gpu.value_or(static_cast<int>(std::lround(1 / device.type.gpu_fraction)));
  vgpu.slice = model.driver_slice;
  vgpu.slice.turn = settings.slice.value_or(milliseconds(vgpu.per_gpu <= kManyVgpus ? 2 : 1));
  return vgpu;
}

// vGPUs of a GPU: on an EC2 fraction the node has one of them, otherwise all.
DomainKind vgpu_kind(const Device& device, PoolModel& model) {
  DomainKind kind = whole_gpu(device);
  const models::Vgpu vgpu = vgpu_of(device, model);
  kind.sharing = vgpu;
  const bool fraction = device.type.gpu_fraction < 1;
  if (fraction) kind.owned_time = 1.0 / vgpu.per_gpu;
  const Bytes frame_buffer = fraction ? kind.memory : Bytes{kind.memory.count / vgpu.per_gpu};
  kind.tickets.push_back({offer_at(model, {std::string(kGpuResource), {}, !fraction, true}),
                          fraction ? 1 : vgpu.per_gpu, frame_buffer});
  return kind;
}

DomainKind aws_virtual_gpu(const Device& device, PoolModel& model) {
  DomainKind kind = whole_gpu(device);
  const int per_gpu = device.pool.virtual_gpu->per_gpu;
  kind.sharing = mps_of(device, per_gpu, false, kind, kind.memory);
  kind.tickets.push_back(
      {offer_at(model, {"k8s.amazonaws.com/vgpu", {}, true, false}), per_gpu, std::nullopt});
  return kind;
}

// "10gb"; what is none is reported already.
std::int64_t leading_number(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Slices of equal size are tickets of one resource.
DomainKind nos_slices(const Device& device, PoolModel& model, Diagnostics& found) {
  DomainKind kind = whole_gpu(device);
  const auto& slices = device.pool.nos->slices;
  kind.sharing = mps_of(device, static_cast<int>(slices.size()), false, kind, kind.memory);
  Bytes sum;
  for (const Located<std::string>& slice : slices) {
    const Bytes size = gibibytes(leading_number(slice.value));
    sum += size;
    const std::size_t offer = offer_at(model, {"nvidia.com/gpu-" + slice.value, {}, true, true});
    const auto known = std::ranges::find(kind.tickets, offer, &Tickets::offer);
    if (known == kind.tickets.end()) {
      kind.tickets.push_back({offer, 1, size});
    } else {
      ++known->count;
    }
  }
  if (sum > device.gpu.memory_total) {
    add_diagnostic(found, Code::ValueRange, device.pool.nos->where,
                   fmt::format("the slices add up to {} GiB, the {} has {:.1f}", sum.count >> 30,
                               device.gpu.name, in_gibibytes(device.gpu.memory_total)),
                   "nos cuts slices out of the GPU's memory: take fewer or smaller ones");
  }
  return kind;
}

void same_on_all_gpus(DomainKind kind, PoolModel& model) {
  NodeLayout layout;
  model.kinds.push_back(std::move(kind));
  for (int gpu = 0; gpu < model.gpus_per_node; ++gpu) layout.domains.push_back({gpu, 0});
  model.layouts.push_back(std::move(layout));
}

std::size_t kind_of(const Device& device, const CutGpu::Instance& instance, PoolModel& model) {
  const std::string partition = instance.profile == nullptr ? "" : instance.profile->name;
  const auto known = std::ranges::find(model.kinds, partition, &DomainKind::partition);
  if (known != model.kinds.end()) return static_cast<std::size_t>(known - model.kinds.begin());
  DomainKind kind = whole_gpu(device);
  kind.partition = partition;
  if (instance.profile != nullptr) {
    kind.share = instance.share;
    kind.memory = *instance.profile->memory;
    kind.time_share = instance.time_share;
  }
  const std::string_view own = instance.profile == nullptr
                                   ? kGpuResource
                                   : std::string_view(instance.profile->resource_mixed);
  if (device.pool.mig) {
    share_device(device, std::string(device_name(device.pool.mig->strategy, own)), kind, model);
  }
  model.kinds.push_back(std::move(kind));
  return model.kinds.size() - 1;
}

void add_cut(const Device& device, const CutNode& cut, PoolModel& model) {
  NodeLayout layout;
  layout.name = cut.config;
  for (std::size_t gpu = 0; gpu < cut.gpus.size(); ++gpu) {
    for (const CutGpu::Instance& instance : cut.gpus[gpu].instances) {
      layout.domains.push_back({static_cast<int>(gpu), kind_of(device, instance, model),
                                instance.parts, instance.at_start});
    }
  }
  model.layouts.push_back(std::move(layout));
}

Strategy strategy_of(const Device& device, const PoolModel& model) {
  if (device.pool.virtual_gpu) return Strategy::AwsVirtualGpu;
  if (device.pool.nos) return Strategy::Nos;
  if (device.pool.hami) return Strategy::Hami;
  if (device.pool.kai) return Strategy::Kai;
  const bool partitioned = std::ranges::any_of(
      model.kinds, [](const DomainKind& kind) { return !kind.partition.empty(); });
  Strategy strategy = partitioned ? Strategy::Mig : Strategy::Exclusive;
  for (const DomainKind& kind : model.kinds) {
    if (std::holds_alternative<models::TimeSlicing>(kind.sharing)) {
      strategy = partitioned ? Strategy::MigTimeSlicing : Strategy::TimeSlicing;
    } else if (std::holds_alternative<models::Mps>(kind.sharing)) {
      strategy = partitioned ? Strategy::MigMps : Strategy::Mps;
    } else if (std::holds_alternative<models::Vgpu>(kind.sharing)) {
      strategy = Strategy::Vgpu;
    }
  }
  return strategy;
}

// Entries of the plugin's sharing that match no device of the pool.
void check_entries(const Device& device, const PoolModel& model, Diagnostics& found) {
  if (!device.pool.device_plugin) return;
  for (const auto* sharing :
       {&device.pool.device_plugin->time_slicing, &device.pool.device_plugin->mps}) {
    if (!*sharing) continue;
    for (const scenarios::SharedResource& resource : (*sharing)->resources) {
      const bool matches = std::ranges::any_of(model.offers, [&](const ResourceOffer& offer) {
        return offer.name == resource.name.value ||
               offer.name == scenarios::advertised_name(resource.name.value, true);
      });
      if (matches) continue;
      std::vector<std::string> names;
      for (const ResourceOffer& offer : model.offers) names.push_back(offer.name);
      add_diagnostic(
          found, Code::ResourceNameMismatch, resource.name.where,
          fmt::format("\"{}\" matches no device of node pool \"{}\": the plugin would ignore it",
                      resource.name.value, device.pool.name.value),
          fmt::format("the devices are called {}", fmt::join(names, ", ")));
    }
  }
}

// Clients per GPU: what CUDA takes, and the device plugin's own limit, which no setting raises.
void check_mps_clients(const Device& device, const models::Mps& mps, const SourceLocation& where,
                       Diagnostics& found) {
  const bool stock = device.pool.device_plugin && device.pool.device_plugin->mps;
  const bool force = device.pool.mps && device.pool.mps->force;
  const int of_plugin = before_7_5(device.gpu) ? kOldPluginClients : kPluginClients;
  const int limit = stock && !force ? std::min(of_plugin, mps.client_limit) : mps.client_limit;
  if (mps.replicas <= limit) return;
  add_diagnostic(
      found, Code::MpsTooManyClients, where,
      fmt::format(
          "invalid MPS configuration: invalid device maximum allowed replicas exceeded: {} > {}",
          mps.replicas, limit),
      limit == kOldPluginClients
          ? "the stock plugin allows 16 below compute capability 7.5, V100 included"
          : fmt::format("at most {} clients per GPU or MIG instance here", limit));
}

void check_mps_on_mig(const Device& device, const PoolModel& model, const SourceLocation& where,
                      Diagnostics& found) {
  const bool force = device.pool.mps && device.pool.mps->force;
  const bool cut = std::ranges::any_of(
      model.kinds, [](const DomainKind& kind) { return !kind.partition.empty(); });
  const bool mixed = device.pool.mig && device.pool.mig->strategy == MigStrategy::Mixed;
  if (!cut && !mixed) return;
  Diagnostic refused = make_diagnostic(
      Code::MpsOnMig, where,
      cut ? "sharing using MPS is not supported for MIG devices: the device plugin refuses it, the "
            "hardware and the DRA driver allow it"
          : "using --mig-strategy=mixed is not supported with MPS: the device plugin stops",
      force ? "simulated because of mps.force: apply it with the NVIDIA DRA driver"
            : "use timeSlicing on the instances, or set mps.force: true to see what it would do");
  if (force) refused.severity = Severity::Warning;
  found.push_back(std::move(refused));
}

void note_uneven_split(const Device& device, const models::Mps& mps, const SourceLocation& where,
                       Diagnostics& found) {
  const auto settings = device.pool.mps.value_or(scenarios::MpsSettings{});
  if (100 % mps.replicas == 0 || settings.uncapped || settings.active_threads) return;
  const int percent = 100 / mps.replicas;
  add_diagnostic(
      found, Code::MpsUnevenSplit, where,
      fmt::format("100 / {} is rounded down: each client may use {} % of the threads, {} % in all",
                  mps.replicas, percent, percent * mps.replicas));
}

void check_mps(const Device& device, const PoolModel& model, Diagnostics& found) {
  const models::Mps* tightest = nullptr;
  for (const DomainKind& kind : model.kinds) {
    const auto* mps = std::get_if<models::Mps>(&kind.sharing);
    if (mps == nullptr) continue;
    if (tightest == nullptr || mps->client_limit < tightest->client_limit) tightest = mps;
  }
  if (tightest == nullptr) return;
  const models::Mps& mps = *tightest;
  const bool stock = device.pool.device_plugin && device.pool.device_plugin->mps;
  const SourceLocation where =
      stock ? device.pool.device_plugin->mps->resources.front().replicas_where
            : (device.pool.virtual_gpu ? device.pool.virtual_gpu->where : device.pool.nos->where);
  check_mps_clients(device, mps, where, found);
  if (!stock) return;
  check_mps_on_mig(device, model, where, found);
  note_uneven_split(device, mps, where, found);
}

// A g6f is a slot in the host's round of vGPUs; how processes share that slot is not known.
void check_fraction(const Device& device, Diagnostics& found) {
  const auto& [pool, type, gpu] = device;
  const bool is_shared = pool.hami || pool.kai || plugin_entry(pool, kGpuResource);
  if (type.gpu_fraction == 1 || !is_shared) return;
  const SourceLocation& where = pool.hami            ? pool.hami->where
                                : pool.device_plugin ? pool.device_plugin->where
                                                     : pool.where;
  add_diagnostic(found, Code::StrategyNotModelled, where,
                 fmt::format("{} is {} of a GPU already: sharing it further is not simulated",
                             type.name, type.gpu_fraction),
                 "leave `sharing` out, or take a whole L4 (g6.xlarge)");
}

}  // namespace

int mps_clients_in(const DomainKind& kind, int on_gpu) {
  return std::max(1, static_cast<int>(std::floor(on_gpu * kind.time_share + 1e-9)));
}

double whole_sms(double share, const GpuModel& gpu, const models::DomainShare& domain) {
  const double sms = std::max(1.0, std::floor(gpu.sm_count * domain.compute + 0.5));
  return std::clamp(std::floor(share * sms + 1e-9), 1.0, sms) / sms;
}

std::optional<PluginEntry> plugin_entry(const NodePool& pool, std::string_view device) {
  if (!pool.device_plugin) return std::nullopt;
  const auto find = [&](const std::optional<scenarios::PluginSharing>& sharing,
                        bool mps) -> std::optional<PluginEntry> {
    const scenarios::SharedResource* shared = sharing ? sharing->find(device) : nullptr;
    return shared == nullptr ? std::nullopt : std::optional(PluginEntry{&*sharing, shared, mps});
  };
  if (auto entry = find(pool.device_plugin->mps, true)) return entry;
  return find(pool.device_plugin->time_slicing, false);
}

void model_sharing(const Scenario& scenario, const NodePool& pool, const InstanceType& type,
                   const std::vector<CutNode>& cuts, PoolModel& model, Diagnostics& found) {
  const Device device{pool, type, *model.gpu};
  model.driver_slice = driver_slice(pool, *model.gpu);
  if (!cuts.empty()) {
    for (const CutNode& cut : cuts) add_cut(device, cut, model);
  } else if (pool.virtual_gpu) {
    same_on_all_gpus(aws_virtual_gpu(device, model), model);
  } else if (pool.nos) {
    same_on_all_gpus(nos_slices(device, model, found), model);
  } else if (pool.vgpu || type.gpu_fraction < 1) {
    same_on_all_gpus(vgpu_kind(device, model), model);
  } else {
    DomainKind kind = whole_gpu(device);
    share_device(device, std::string(kGpuResource), kind, model);
    same_on_all_gpus(std::move(kind), model);
  }
  if (pool.dra) share_by_claims(scenario, pool, model, found);
  if (pool.hami || pool.kai) share_by_books(scenario, pool, model, found);
  model.strategy = strategy_of(device, model);
  if (pool.dra) return;
  check_entries(device, model, found);
  check_fraction(device, found);
  if (pool.vgpu && type.gpu_fraction == 1) {
    add_diagnostic(
        found, Code::VgpuNotOnEks, pool.vgpu->where,
        fmt::format("EC2 offers vGPU as g6f and gr6f only: {} is simulated as if it had it",
                    type.name));
  }
  check_mps(device, model, found);
}

}  // namespace slicewise::sim
