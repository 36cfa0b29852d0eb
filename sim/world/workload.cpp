#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/gpu_names.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/job_trace.hpp"

#include "admission.hpp"
#include "parts.hpp"

namespace slicewise::sim {
namespace {

// Wall time of one GPU burst of a batch pod when the scenario does not say how many there are in a
// unit. Assumed; matters only where batch pods share a GPU with a service.
constexpr Duration kAssumedStep = milliseconds(50);

// A pod for each user. What says how the cells run is optional.
void complete_notebooks(Workload& spec) {
  if (spec.kind != WorkloadKind::Notebook) return;
  spec.count = spec.notebooks->users;
  if (!spec.measured) spec.measured.emplace();
}

struct NamedProfile {
  std::string_view name;
};

// What a hint may name for a misspelt profile: one measured on a GPU of the pools, else one whose
// figures can be carried over to them all.
std::vector<NamedProfile> usable_profiles(const Catalogue& catalogue, const World& world,
                                          std::string_view wanted) {
  std::vector<NamedProfile> here;
  std::vector<NamedProfile> elsewhere;
  for (const WorkloadProfile& profile : catalogue.profiles) {
    const GpuModel* gpu = catalogue.find_gpu(profile.gpu_model);
    const auto is_its = [&](const PoolModel& pool) { return pool.gpu == gpu; };
    const auto has_rate = [&](const PoolModel& pool) {
      return gpu != nullptr && has_roofline(*gpu, *pool.gpu);
    };
    if (std::ranges::any_of(world.pools, is_its)) here.push_back({profile.name});
    if (std::ranges::all_of(world.pools, has_rate)) elsewhere.push_back({profile.name});
  }
  std::vector<std::string_view> names;
  names.reserve(here.size());
  for (const NamedProfile& profile : here) names.push_back(profile.name);
  return nearest_name(wanted, names) ? here : elsewhere;
}

void fill_from(const WorkloadProfile& published, const Catalogue& catalogue, Workload& spec) {
  const WorkloadProfile profile = profile_for(spec, published, catalogue);
  std::vector<scenarios::MeasuredBatch> batches = measured_batches(spec, published, catalogue);
  take_profile(profile, spec);
  scenarios::Measured& m = *spec.measured;
  if (m.batches.empty()) m.batches = std::move(batches);
  // Recorded jobs ran on the GPU that the trace says.
  if (m.device.value.empty() && !spec.trace) m.device = {profile.gpu_model, spec.profile.where};
  if (!m.batch) m.batch = profile.batch;
  take_times(profile, spec);
}

// Whether neither the scenario nor whoever measured the profile that it names says how much of a
// GPU it takes.
bool lacks_own_capacity(const Workload& spec, const Catalogue& catalogue) {
  const std::optional<scenarios::Measured>& m = spec.measured;
  if (m && (m->capacity_share || m->sm_active)) return false;
  const WorkloadProfile* profile = catalogue.find_profile(spec.profile.value);
  return profile != nullptr && borrows_capacity(*profile);
}

// What the figures are from that its profile fills in.
void note_basis(const Workload& spec, const Catalogue& catalogue, WorkloadModel& model) {
  const WorkloadProfile* profile = catalogue.find_profile(spec.profile.value);
  if (profile == nullptr) return;
  const std::optional<scenarios::Measured>& m = spec.measured;
  model.capacity_is_fitted = fits_capacity(*profile) && !(m && m->capacity_share);
  model.has_one_neighbour = has_one_neighbour(*profile) && !(m && m->sensitivity);
}

// Fills what the scenario leaves open from the catalogue profile it names.
void apply_profile(const Catalogue& catalogue, const World& world, Workload& spec,
                   Diagnostics& found) {
  if (spec.profile.value.empty()) return;
  const WorkloadProfile* published = catalogue.find_profile(spec.profile.value);
  if (published == nullptr) {
    found.push_back(unknown_name(
        Code::ProfileUnknown, spec.profile,
        fmt::format("the catalogue has no profile \"{}\"", spec.profile.value),
        usable_profiles(catalogue, world, spec.profile.value), "slicewise get profiles"));
    return;
  }
  fill_from(*published, catalogue, spec);
}

void require_figures(const Workload& spec, Diagnostics& found) {
  const auto missing = [&](std::string_view field, std::string_view meaning) {
    add_diagnostic(
        found, Code::InputMissing, spec.measured ? spec.measured->where : spec.name.where,
        fmt::format("workload \"{}\" needs measured.{}: {}", spec.name.value, field, meaning),
        spec.profile.value.empty()
            ? "measure one pod alone on one GPU, or name a `profile` of `slicewise get profiles`"
            : fmt::format("the profile \"{}\" does not have it: measure one pod alone on one GPU",
                          spec.profile.value));
  };
  if (spec.llm) return;
  const bool lacks_profile = std::ranges::any_of(found, [&](const Diagnostic& d) {
    return d.code == Code::ProfileUnknown && d.where == spec.profile.where;
  });
  if (lacks_profile) return;                        // which may have them
  if (spec.kind == WorkloadKind::Notebook) return;  // its cells say what they take
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

// The one GPU that recorded jobs ran on, by its model or instance type, where figures can be
// carried over from it to all pools; nullptr: the pool's own is taken.
const GpuModel* recorded_gpu(const Workload& spec, const World& world, const Catalogue& catalogue,
                             Diagnostics& found) {
  if (!spec.trace || spec.trace->gpu.empty()) return nullptr;
  const std::string& name = spec.trace->gpu;
  const GpuModel* gpu = models::gpu_called(catalogue, name);
  const auto is_usable = [&](const PoolModel& pool) {
    return !admits(pool, spec.pod) || has_roofline(*gpu, *pool.gpu);
  };
  if (gpu != nullptr && std::ranges::all_of(world.pools, is_usable)) return gpu;
  if (spec.measured && !spec.measured->device.value.empty()) return nullptr;
  const Diagnostic note = make_diagnostic(
      Code::InputAssumed, spec.trace->file.where,
      fmt::format("jobs of \"{}\" were recorded on \"{}\", which {}: their run times are taken as "
                  "those on the pool's own GPU",
                  spec.trace->workload, name,
                  gpu == nullptr ? "is no one GPU of the catalogue" : "has no published FP32 rate"),
      "give measured.device");
  if (!holds(found, note)) found.push_back(note);
  return nullptr;
}

// The GPU that the figures were taken on; nullptr when the catalogue does not know it.
const GpuModel* measured_gpu(const Workload& spec, const Catalogue& catalogue, Diagnostics& found) {
  if (!spec.measured || spec.measured->device.value.empty()) return nullptr;
  const auto& device = spec.measured->device;
  const GpuModel* gpu = catalogue.find_gpu(device.value);
  if (gpu == nullptr) {
    add_diagnostic(found, Code::GpuUnknown, device.where,
                   fmt::format("GPU model \"{}\" is not in the catalogue", device.value),
                   models::gpus_meant(catalogue, device.value));
  }
  return gpu;
}

// "name llama-3-8b-fp16/a10g or mistral-7b/a10g, or ": language models that run on the GPU.
std::string models_for(const GpuModel& gpu, const Catalogue& catalogue) {
  std::string text;
  for (const models::LlmModel& model : catalogue.llm_models) {
    if (model.gpu_model != gpu.name || !model.unusable.empty()) continue;
    text += (text.empty() ? "name " : " or ") + model.name;
  }
  return text.empty() ? "" : text + ", or ";
}

// Between the GPUs that the pods may run on: the roofline rule needs the FP32 rate of both, that of
// language models the tensor rate.
void check_carry_over(const Workload& spec, const GpuModel* from, const World& world,
                      const Catalogue& catalogue, Diagnostics& found) {
  if (from == nullptr) return;
  for (const PoolModel& pool : world.pools) {
    if (pool.gpu == from || !admits(pool, spec.pod)) continue;
    if (spec.llm && !models::can_carry_over(*from, *pool.gpu)) {
      add_diagnostic(found, Code::InputMissing, spec.measured->device.where,
                     fmt::format("the steps of \"{}\" cannot be carried over from {} to {}: the "
                                 "tensor rate of one of them is not published",
                                 spec.name.value, from->name, pool.gpu->name),
                     fmt::format("{}give the figures of `llm` as measured on {}",
                                 models_for(*pool.gpu, catalogue), pool.gpu->name));
      continue;
    }
    if (has_roofline(*from, *pool.gpu)) continue;
    add_diagnostic(found, Code::InputMissing, spec.measured->device.where,
                   fmt::format("the figures of \"{}\" cannot be carried over from {} to {}: the "
                               "FP32 rate of {} is not published",
                               spec.name.value, from->name, pool.gpu->name,
                               from->fp32_tflops ? pool.gpu->name : from->name),
                   fmt::format("measure on {}, or use another instance type", pool.gpu->name));
  }
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

// The GPU that a process without a device plugin opens: the first that CUDA_VISIBLE_DEVICES or
// NVIDIA_VISIBLE_DEVICES names by index, else GPU 0, as CUDA does.
int visible_gpu(const Workload& spec) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"}) {
    const auto value = spec.pod.env.find(name);
    if (value == spec.pod.env.end() || value->second.empty()) continue;
    int gpu = 0;
    const char* first = value->second.data();
    const auto read = std::from_chars(first, first + value->second.size(), gpu);
    if (read.ec == std::errc()) return std::max(0, gpu);
  }
  return 0;
}

}  // namespace

void match_offers(const scenarios::ExtendedRequest* request, World& world, WorkloadModel& model) {
  if (request != nullptr) {
    auto resource = std::ranges::find(world.resources, request->name.value);
    if (resource == world.resources.end()) {
      world.resources.push_back(request->name.value);
      resource = world.resources.end() - 1;
    }
    model.resource =
        make_id<ResourceId>(static_cast<std::size_t>(resource - world.resources.begin()));
    model.tickets = request->count;
  } else {
    model.tickets = 0;
    model.visible_gpu = visible_gpu(model.spec);
  }
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    PoolDemand& demand = model.on_pool[p];
    const auto& offers = world.pools[p].offers;
    for (std::size_t offer = 0; request != nullptr && offer < offers.size(); ++offer) {
      if (offers[offer].name == request->name.value) demand.offer = offer;
    }
    if (demand.offer) {
      take_gpus(world.pools[p], model.spec, request->count, demand);
    }
    PoolModel& pool = world.pools[p];
    if (demand.gpus > 1 && pool.gpu_sets.empty() && pool.gpus_per_node <= GpuSets::kMostGpus) {
      pool.gpu_sets = GpuSets(*pool.interconnect, *pool.gpu, pool.gpus_per_node);
    }
    demand.schedulable =
        admits(world.pools[p], model.spec.pod) && (request == nullptr || demand.offer);
  }
}

namespace {

// GPUs, of which no pod shares one, of the largest node that takes pods of the workload.
std::int64_t largest_unshared_node(const World& world, const WorkloadModel& model) {
  std::int64_t most = 0;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolDemand& demand = model.on_pool[p];
    if (demand.gpus == 1 || !admits(world.pools[p], model.spec.pod)) continue;
    most = std::max(most, world.pools[p].tickets_per_node(*demand.offer, 0));
  }
  return most;
}

// A recorded job with more GPUs than a pod may have is a gang: as few equal pods as can be. What it
// asks for of a host is spread over them.
void cut_into_pods(const World& world, WorkloadModel& model) {
  if (!model.spec.trace || !model.resource || model.tickets < 2) return;
  const auto& asked = model.spec.trace->gpus_per_pod;
  const std::int64_t most = asked ? *asked : largest_unshared_node(world, model);
  if (most == 0 || model.tickets <= most) return;
  std::int64_t pods = (model.tickets + most - 1) / most;
  while (model.tickets % pods != 0) ++pods;
  const std::int64_t gpus = model.tickets / pods;
  constexpr std::int64_t kMostPods = 5'000'000;
  if (pods * model.spec.count > kMostPods) return;
  const auto part = [&](std::int64_t of_job) { return (of_job + pods - 1) / pods; };
  PodTemplate& pod = model.spec.pod;
  pod.cpu_request.count = part(pod.cpu_request.count);
  pod.memory_request.count = part(pod.memory_request.count);
  pod.extended.front().count = model.tickets = gpus;
  model.pods_per_job = static_cast<int>(pods);
  model.spec.count *= model.pods_per_job;
  model.spec.trace->at_once *= model.pods_per_job;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    PoolDemand& demand = model.on_pool[p];
    if (demand.offer) take_gpus(world.pools[p], model.spec, gpus, demand);
  }
}

// A recorded job that had several GPUs, where its pod works on one, a share of it or an instance:
// the kernels of all are there, one after the other.
void put_on_one_gpu(WorkloadModel& model) {
  if (!model.spec.trace || model.tickets < 2) return;
  for (PoolDemand& pool : model.on_pool) {
    if (pool.gpus > 1) continue;
    for (Demand& demand : pool.in_kind) {
      demand.gpu = demand.gpu * model.tickets;
      demand.sm_active = demand.sm_active * model.tickets;
      demand.client.duty =
          static_cast<double>(demand.gpu.ns) / static_cast<double>((demand.gpu + demand.host).ns);
    }
  }
}

// Kernels that a scenario says are longer than what its profile says of the whole; of times that it
// says itself the loader judges. law_of() takes no more than that.
void note_long_kernels(const Workload& stated, const Workload& filled, Diagnostics& found) {
  if (!stated.measured || !stated.measured->kernel_time || scenarios::kernel_work(stated)) return;
  const auto work = scenarios::kernel_work(filled);
  if (!work || *stated.measured->kernel_time <= *work) return;
  add_diagnostic(found, Code::SettingConflict, stated.measured->where,
                 fmt::format("kernelTime of \"{}\" is above the {:.4g} ms for which kernels run at "
                             "a time by its profile: that is taken",
                             stated.name.value, 1e3 * to_seconds(*work)),
                 "it is the mean length of one kernel: Avg of `nsys stats`, cuda_gpu_kern_sum");
  found.back().severity = Severity::Warning;
}

// A process on each of several whole GPUs: of what it can be, and where.
void check_gang(const World& world, const WorkloadModel& model, Diagnostics& found) {
  const PodTemplate& pod = model.spec.pod;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    if (model.on_pool[p].gpus < 2 || pool.gpus_per_node <= GpuSets::kMostGpus) continue;
    add_diagnostic(found, Code::StrategyNotModelled, pool.where,
                   fmt::format("pods of \"{}\" with {} GPUs on nodes of {} GPUs: which they get is "
                               "simulated of up to {}",
                               model.name, model.tickets, pool.gpus_per_node, GpuSets::kMostGpus),
                   "give the instance type that many, or the pods one GPU each");
  }
  if (most_gpus(model) == 1 || model.spec.kind != WorkloadKind::Notebook) return;
  add_diagnostic(
      found, Code::StrategyNotModelled,
      model.by_claim ? pod.claim.where : pod.extended.front().count_where,
      fmt::format("a Notebook on {} whole GPUs is not simulated by this version", model.tickets),
      model.by_claim ? "claim one" : fmt::format("ask for {}: 1", pod.extended.front().name.value));
}

}  // namespace

Workload filled_in(const Workload& workload, const Catalogue& catalogue) {
  Workload filled = workload;
  if (const WorkloadProfile* profile = catalogue.find_profile(workload.profile.value)) {
    fill_from(*profile, catalogue, filled);
  }
  Diagnostics found;  // build_world() tells them
  apply_llm(catalogue, filled, found);
  return filled;
}

RequestLimits request_limits(std::span<const scenarios::Objective> objectives) {
  using scenarios::Figure;
  RequestLimits limits;
  for (const scenarios::Objective& objective : objectives) {
    std::optional<Duration>* limit = nullptr;
    switch (objective.figure) {
      case Figure::LatencyP50:
      case Figure::LatencyP90:
      case Figure::LatencyP95:
      case Figure::LatencyP99:
      case Figure::LatencyP999:
        limit = &limits.latency;
        break;
      case Figure::TtftP50:
      case Figure::TtftP95:
      case Figure::TtftP99:
        limit = &limits.first_token;
        break;
      case Figure::TpotP50:
      case Figure::TpotP95:
      case Figure::TpotP99:
        limit = &limits.per_token;
        break;
      default:
        continue;
    }
    const Duration bound = std::get<Duration>(objective.limit);
    if (!*limit || bound > **limit) *limit = bound;
  }
  return limits;
}

void model_workloads(const Scenario& scenario, const Catalogue& catalogue, World& world,
                     Diagnostics& found) {
  const Offered offered = offered_names(scenario, world);
  for (const Workload& workload : scenario.workloads) {
    const FindingsAbout about(workload.given_name(), found);
    WorkloadModel model;
    model.name = workload.name.value;
    model.spec = workload;
    model.spec.pod.tolerations = admitted_tolerations(workload.pod);
    model.pods_per_job = workload.pods_per_job;
    model.capacity_is_borrowed = lacks_own_capacity(workload, catalogue);
    note_basis(workload, catalogue, model);
    apply_profile(catalogue, world, model.spec, found);
    apply_llm(catalogue, model.spec, found);
    note_long_kernels(workload, model.spec, found);
    complete_notebooks(model.spec);
    require_figures(model.spec, found);
    const GpuModel* from = recorded_gpu(model.spec, world, catalogue, found);
    if (from == nullptr) {
      from = measured_gpu(model.spec, catalogue, found);
    } else {
      model.spec.measured->device = {from->name, model.spec.trace->file.where};
    }
    const bool by_claim = !model.spec.pod.claim.value.empty();
    if (auto part = part_request(scenario, workload, found)) model.spec.pod.extended = {*part};
    const scenarios::ExtendedRequest* request =
        by_claim ? nullptr : gpu_request(model.spec, world.pools, offered, catalogue, found);
    check_carry_over(model.spec, from, world, catalogue, found);
    if (has_errors(found)) continue;

    model.units = model.spec.work ? model.spec.work->units : 0;
    model.steps_per_unit = steps_of_unit(model.spec);
    if (model.spec.work) model.host_phase = model.spec.work->host_phase;
    model.gpu_memory = model.spec.gpu_memory.peak.value_or(model.spec.gpu_memory.resident);
    const Bytes resident = model.spec.gpu_memory.resident;
    if (!model.spec.notebooks && !model.spec.llm && resident.count > 0 &&
        resident < model.gpu_memory) {
      model.before_work = resident;
    }
    if (model.spec.notebooks && model.spec.notebooks->memory) {
      model.gpu_memory = Bytes{std::llround(model.spec.notebooks->memory->mean)};
    }
    model.greedy = model.spec.gpu_memory.allocator == scenarios::Allocator::Greedy &&
                   !grows_on_demand(model.spec);
    model.limits = request_limits(model.spec.objectives);
    model.sm_known = model.spec.measured->sm_active.has_value();
    for (const PoolModel& pool : world.pools) {
      PoolDemand demand = demand_on(model.spec, from, pool);
      const auto number = static_cast<std::uint32_t>(world.workloads.size() + 1);
      for (Demand& in_kind : demand.in_kind) {
        in_kind.client.workload = number;
        for (BatchDemand& batch : in_kind.batches) batch.client.workload = number;
      }
      model.on_pool.push_back(std::move(demand));
    }
    by_claim ? match_claim(scenario, world, model, found) : match_offers(request, world, model);
    cut_into_pods(world, model);
    put_on_one_gpu(model);
    check_gang(world, model, found);
    if (has_errors(found)) continue;
    model_llm(catalogue, from, world, model, found);
    if (has_errors(found)) continue;
    note_workload(scenario, model, world, found);
    world.workloads.push_back(std::move(model));
  }
}

}  // namespace slicewise::sim
