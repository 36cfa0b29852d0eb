#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Workload;
using scenarios::WorkloadKind;

constexpr std::string_view kMigPrefix = "nvidia.com/mig-";

bool has_errors_of(const Diagnostics& found, Code code) {
  return std::ranges::find(found, code, &Diagnostic::code) != found.end();
}

// Wall time of one GPU burst of a batch pod when the scenario does not say how many there are in a
// unit. Assumed; matters only where batch pods share a GPU with a service.
constexpr Duration kAssumedStep = milliseconds(50);

// Fills what the scenario leaves open from the catalogue profile it names.
void apply_profile(const models::Catalogue& catalogue, Workload& spec, Diagnostics& found) {
  if (spec.profile.value.empty()) return;
  const models::WorkloadProfile* profile = catalogue.find_profile(spec.profile.value);
  if (profile == nullptr) {
    found.push_back(
        unknown_name(Code::ProfileUnknown, spec.profile,
                     fmt::format("the catalogue has no profile \"{}\"", spec.profile.value),
                     catalogue.profiles, "slicewise get profiles"));
    return;
  }
  const bool measured_by_user = spec.measured.has_value();
  scenarios::Measured& m = measured_by_user ? *spec.measured : spec.measured.emplace();
  if (!measured_by_user) m.provenance = scenarios::Provenance::Catalog;
  if (m.device.value.empty()) m.device = {profile->gpu_model, spec.profile.where};
  if (!m.bandwidth_share) m.bandwidth_share = profile->bandwidth_share;
  if (!m.gpu_busy && profile->duty) m.gpu_busy = profile->duty;
  if (spec.kind == WorkloadKind::Service) {
    if (!m.request_gpu_time && profile->solo_step) {
      m.request_gpu_time = scenarios::ServiceTime{scenarios::ServiceTime::Law::Deterministic,
                                                  *profile->solo_step, 0};
    }
  } else if (!m.unit_time) {
    m.unit_time = profile->solo_step;
  }
  if (spec.gpu_memory.resident.count == 0 && profile->memory) {
    spec.gpu_memory.resident = *profile->memory;
  }
}

void require_figures(const Workload& spec, Diagnostics& found) {
  const auto missing = [&](std::string_view field, std::string_view meaning) {
    found.push_back(make_diagnostic(
        Code::InputMissing, spec.measured ? spec.measured->where : spec.name.where,
        fmt::format("workload \"{}\" needs measured.{}: {}", spec.name.value, field, meaning),
        "measure one pod alone on one GPU, or name a `profile` of `slicewise get profiles`"));
  };
  if (spec.kind == WorkloadKind::Service) {
    if (!spec.measured || !spec.measured->request_gpu_time) {
      missing("requestGpuTime", "GPU time of one request");
    }
    return;
  }
  if (!spec.measured || !spec.measured->unit_time) {
    missing("unitTime", "wall time of one work unit");
  }
}

// The GPU that the figures were taken on; nullptr when the catalogue does not know it.
const models::GpuModel* measured_gpu(const Workload& spec, const models::Catalogue& catalogue,
                                     Diagnostics& found) {
  if (!spec.measured || spec.measured->device.value.empty()) return nullptr;
  const auto& device = spec.measured->device;
  const models::GpuModel* gpu = catalogue.find_gpu(device.value);
  if (gpu == nullptr) {
    found.push_back(
        unknown_name(Code::GpuUnknown, device,
                     fmt::format("GPU model \"{}\" is not in the catalogue", device.value),
                     catalogue.gpus, "slicewise get gpus"));
  }
  return gpu;
}

double share_of(const std::optional<double>& value, double otherwise) {
  return value ? *value : otherwise;
}

Duration scaled(Duration d, double factor) {
  return {std::llround(static_cast<double>(d.ns) * factor)};
}

// GPU and host time of one unit on `pool`. The GPU part scales by the roofline rule, the host part
// does not: EC2's hosts differ less than its GPUs, and nobody published the ratio.
Demand demand_on(const Workload& spec, const models::GpuModel* from, const PoolModel& pool) {
  Demand demand;
  const scenarios::Measured& m = *spec.measured;
  if (from != nullptr && from != pool.gpu) {
    demand.gpu_scale = models::roofline_scale(
        *from, *pool.gpu, share_of(m.bandwidth_share, models::kDefaultBandwidthShare));
  }
  const double busy = share_of(m.gpu_busy, 1.0);
  if (m.sm_active && busy > 0) demand.sm_active_share = std::min(1.0, *m.sm_active / busy);
  if (spec.kind == WorkloadKind::Service) {
    demand.gpu = scaled(m.request_gpu_time->mean, demand.gpu_scale);
    return demand;
  }
  const Duration gpu_alone = scaled(*m.unit_time, busy);
  demand.gpu = std::max(nanoseconds(1), scaled(gpu_alone, demand.gpu_scale));
  demand.host = *m.unit_time - gpu_alone;
  if (m.cpu) {
    demand.cpu = scaled(*m.unit_time, static_cast<double>(m.cpu->count) / 1000.0);
  }
  return demand;
}

std::int64_t steps_of_unit(const Workload& spec) {
  if (spec.work && spec.work->steps_per_unit) return *spec.work->steps_per_unit;
  if (!spec.measured || !spec.measured->unit_time) return 1;
  return std::max<std::int64_t>(1, spec.measured->unit_time->ns / kAssumedStep.ns);
}

// TensorFlow's documented switch away from mapping the whole GPU at start.
bool grows_on_demand(const Workload& spec) {
  const auto it = spec.pod.env.find("TF_FORCE_GPU_ALLOW_GROWTH");
  return it != spec.pod.env.end() && (it->second == "true" || it->second == "1");
}

std::optional<Duration> latency_limit(const Workload& spec) {
  using Figure = scenarios::Objective::Figure;
  std::optional<Duration> limit;
  for (const scenarios::Objective& objective : spec.objectives) {
    const bool on_latency = objective.figure == Figure::LatencyP50 ||
                            objective.figure == Figure::LatencyP95 ||
                            objective.figure == Figure::LatencyP99;
    if (on_latency && (!limit || objective.limit > *limit)) limit = objective.limit;
  }
  return limit;
}

// The distinct resource names that the pools offer, in the order of the pools.
std::vector<ResourceOffer> offers_of(const scenarios::Scenario& scenario) {
  std::vector<ResourceOffer> offers;
  for (const scenarios::NodePool& pool : scenario.node_pools) offers.push_back(plugin_offer(pool));
  return offers;
}

std::string mismatch_help(const std::string& wanted, const std::vector<ResourceOffer>& offers) {
  std::vector<std::string> names;
  for (const ResourceOffer& offer : offers) {
    if (std::ranges::find(names, offer.name) == names.end()) names.push_back(offer.name);
  }
  std::string help = fmt::format("the node pools offer {}", fmt::join(names, ", "));
  if (std::ranges::find(names, wanted + ".shared") != names.end()) {
    help += "; renameByDefault: true replaces the name, so pods must ask for the .shared one";
  } else if (wanted.ends_with(".shared")) {
    help += "; the .shared name exists only with renameByDefault: true";
  }
  return help;
}

// How the pool's device plugin answers a container that asks for several of its resource.
void check_request_size(const Workload& spec, const scenarios::ExtendedRequest& request,
                        const ResourceOffer& offer, Diagnostics& found) {
  if (request.count == 1) return;
  if (!offer.shared) {
    found.push_back(make_diagnostic(
        Code::StrategyNotModelled, request.count_where,
        fmt::format("{} whole GPUs in one pod are not simulated by this version", request.count),
        fmt::format("ask for {}: 1", request.name.value)));
    return;
  }
  if (offer.refuses_more_than_one) {
    found.push_back(make_diagnostic(
        Code::RequestTooLarge, request.count_where,
        fmt::format("the kubelet would refuse workload \"{}\": UnexpectedAdmissionError: request "
                    "for \"{}\": invalid request: maximum request size for shared resources is 1; "
                    "found {}",
                    spec.name.value, request.name.value, request.count),
        "ask for 1: two replicas do not give twice the compute"));
    return;
  }
  found.push_back(
      make_diagnostic(Code::RequestNoEffect, request.count_where,
                      fmt::format("{} replicas of {} take {} tickets and give no more GPU than one",
                                  request.count, request.name.value, request.count),
                      "ask for 1 and set failRequestsGreaterThanOne: true"));
}

// The one extended resource of the pod that some pool offers; nullptr and a diagnostic otherwise.
const scenarios::ExtendedRequest* gpu_request(const Workload& spec,
                                              const std::vector<ResourceOffer>& offers,
                                              bool mig_offered, Diagnostics& found) {
  const scenarios::ExtendedRequest* chosen = nullptr;
  for (const scenarios::ExtendedRequest& request : spec.pod.extended) {
    const auto offer = std::ranges::find(offers, request.name.value, &ResourceOffer::name);
    if (offer == offers.end() && mig_offered && request.name.value.starts_with(kMigPrefix)) {
      continue;  // refused already, with the pool's MIG layout
    }
    if (offer == offers.end()) {
      found.push_back(make_diagnostic(
          Code::ResourceNameMismatch, request.name.where,
          fmt::format("no node pool offers {}: the pods of \"{}\" would stay Pending",
                      request.name.value, spec.name.value),
          mismatch_help(request.name.value, offers)));
      continue;
    }
    if (chosen != nullptr) {
      found.push_back(
          make_diagnostic(Code::StrategyNotModelled, request.name.where,
                          "a pod that asks for two GPU resources is not simulated by this version",
                          "one GPU resource per container: CUDA sees only one of them"));
      continue;
    }
    check_request_size(spec, request, *offer, found);
    chosen = &request;
  }
  if (spec.pod.extended.empty()) {
    found.push_back(make_diagnostic(
        Code::StrategyNotModelled, spec.name.where,
        fmt::format("workload \"{}\" asks for no GPU: such pods are not simulated by this version",
                    spec.name.value),
        "add podTemplate.resources.limits with nvidia.com/gpu: 1"));
  }
  return chosen;
}

// A process that does not fit the empty GPU dies at every start, shared or not.
void note_too_large(const WorkloadModel& model, const PoolModel& pool, Diagnostics& found) {
  const Bytes needed = model.gpu_memory + pool.context_memory;
  if (needed <= pool.gpu_memory) return;
  const auto mib = [](Bytes bytes) { return bytes.count / mebibytes(1).count; };
  found.push_back(make_diagnostic(
      Code::GpuOom, model.spec.gpu_memory.where,
      fmt::format("a process of \"{}\" needs {} MiB of GPU memory with its CUDA context; the {} of "
                  "{} has {} MiB: no pod of it can ever start there",
                  model.name, mib(needed), pool.gpu->name, pool.instance_type,
                  mib(pool.gpu_memory)),
      fmt::format("`slicewise get instances --fits {}Mi` lists what holds it", mib(needed))));
}

void note_findings(const WorkloadModel& model, const World& world, Diagnostics& found) {
  const Workload& spec = model.spec;
  if (spec.pod.cpu_limit && spec.measured && spec.measured->cpu &&
      *spec.pod.cpu_limit < *spec.measured->cpu) {
    found.push_back(make_diagnostic(
        Code::CpuLimitThrottles, spec.pod.cpu_where,
        fmt::format("\"{}\" uses {}m of CPU but is limited to {}m: the GPU will wait for it",
                    model.name, spec.measured->cpu->count, spec.pod.cpu_limit->count),
        "raise or drop the CPU limit"));
  }
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    if (!model.on_pool[pool].offered) continue;
    note_too_large(model, world.pools[pool], found);
    if (!world.pools[pool].offer.shared || !model.greedy) continue;
    found.push_back(make_diagnostic(
        Code::GpuMemGreedy, spec.gpu_memory.where,
        fmt::format("\"{}\" maps all free GPU memory when it starts: of the {} pods that a GPU of "
                    "pool \"{}\" may hold, only the first to start can live",
                    model.name, world.pools[pool].offer.per_gpu, world.pools[pool].name),
        "TensorFlow: set TF_FORCE_GPU_ALLOW_GROWTH=true in podTemplate.env; JAX: "
        "XLA_PYTHON_CLIENT_PREALLOCATE=false and allocator: OnDemand"));
  }
}

}  // namespace

void model_workloads(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                     World& world, Diagnostics& found) {
  const std::vector<ResourceOffer> offers = offers_of(scenario);
  const bool mig_offered = has_errors_of(found, Code::StrategyNotModelled) &&
                           std::ranges::any_of(scenario.node_pools, [](const auto& pool) {
                             return pool.mig.has_value();
                           });
  for (const Workload& workload : scenario.workloads) {
    WorkloadModel model;
    model.name = workload.name.value;
    model.spec = workload;
    apply_profile(catalogue, model.spec, found);
    require_figures(model.spec, found);
    const models::GpuModel* from = measured_gpu(model.spec, catalogue, found);
    const scenarios::ExtendedRequest* request = gpu_request(model.spec, offers, mig_offered, found);
    if (request == nullptr || has_errors(found)) continue;

    const auto resource = std::ranges::find(world.resources, request->name.value);
    model.resource =
        make_id<ResourceId>(static_cast<std::size_t>(resource - world.resources.begin()));
    model.tickets = request->count;
    model.units = model.spec.work ? model.spec.work->units : 0;
    model.steps_per_unit = steps_of_unit(model.spec);
    model.gpu_memory = model.spec.gpu_memory.peak.value_or(model.spec.gpu_memory.resident);
    model.greedy = model.spec.gpu_memory.allocator == scenarios::Allocator::Greedy &&
                   !grows_on_demand(model.spec);
    model.latency_limit = latency_limit(model.spec);
    for (const PoolModel& pool : world.pools) {
      Demand demand = demand_on(model.spec, from, pool);
      demand.offered = pool.offer.name == request->name.value;
      model.on_pool.push_back(demand);
    }
    note_findings(model, world, found);
    world.workloads.push_back(std::move(model));
  }
}

}  // namespace slicewise::sim
