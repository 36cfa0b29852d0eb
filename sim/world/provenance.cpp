#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/sharing_strategy.hpp"

#include "admission.hpp"
#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Provenance;

class Counter {
 public:
  explicit Counter(ProvenanceCounts& counts) : counts_(counts) {}

  // Of a workload; what the workloads of one trace have alike counts once, as the trace's.
  void add(Provenance provenance, const WorkloadModel& model, const std::string& input) {
    if (!model.spec.trace) return add(provenance, model.name, input);
    const std::string& name = model.spec.trace->workload;
    if (of_traces_.emplace(provenance, name, input).second) add(provenance, name, input);
  }

  void add(Provenance provenance, const std::string& owner, const std::string& input) {
    switch (provenance) {
      case Provenance::Measured:
        ++counts_.measured;
        return;
      case Provenance::Catalog:
        ++counts_.catalog;
        return;
      case Provenance::Assumed:
        ++counts_.assumed;
        counts_.assumed_inputs.emplace_back(owner, input);
        return;
    }
  }

 private:
  ProvenanceCounts& counts_;
  std::set<std::tuple<Provenance, std::string, std::string>> of_traces_;
};

bool has_turns(const PoolModel& pool, const World& world) {
  return has_uncounted_pods(pool, world) ||
         std::ranges::any_of(pool.kinds, [](const DomainKind& kind) {
           return std::holds_alternative<models::TimeSlicing>(kind.sharing) ||
                  std::holds_alternative<models::Vgpu>(kind.sharing);
         });
}

const models::Mps* mps_in_pool(const PoolModel& pool) {
  for (const DomainKind& kind : pool.kinds) {
    if (const auto* mps = std::get_if<models::Mps>(&kind.sharing)) return mps;
  }
  return nullptr;
}

void count_turns(const NodePool& spec, const PoolModel& pool,
                 const std::vector<scenarios::ResourceClaim>& claims, Counter& counter) {
  counter.add(spec.gpu.time_slice ? Provenance::Assumed : Provenance::Catalog, pool.name,
              "time slice");
  const auto is_other_turn = [](const scenarios::ResourceClaim& claim) {
    return claim.sharing && claim.sharing->interval != scenarios::TurnInterval::Default;
  };
  if (spec.dra && !spec.gpu.time_slice && std::ranges::any_of(claims, is_other_turn)) {
    counter.add(Provenance::Assumed, pool.name, "turns of the claims' interval");
  }
  const bool anchored = !spec.gpu.switch_cost && models::switch_cost_is_measured(*pool.gpu);
  counter.add(anchored ? Provenance::Catalog : Provenance::Assumed, pool.name,
              "context-switch cost");
  if (pool.strategy == scenarios::Strategy::Vgpu) {
    counter.add(Provenance::Assumed, pool.name, "vGPU scheduling policy and slice");
  }
  const auto is_limited = [](const Tickets& tickets) { return tickets.time_limit < 1; };
  if (pool.books && std::ranges::any_of(pool.kinds.front().tickets, is_limited)) {
    counter.add(Provenance::Assumed, pool.name, "how HAMi holds launches back for gpucores");
  }
}

void count_pool(const NodePool& spec, const PoolModel& pool, const World& world,
                const std::vector<scenarios::ResourceClaim>& claims, Counter& counter) {
  counter.add(Provenance::Catalog, pool.name, "instance figures");
  counter.add(Provenance::Catalog, pool.name, "price");
  const bool context_measured =
      !spec.gpu.context_memory && models::context_memory(*pool.gpu).measured;
  counter.add(context_measured ? Provenance::Catalog : Provenance::Assumed, pool.name,
              "CUDA context memory");
  if (has_turns(pool, world)) count_turns(spec, pool, claims, counter);
  if (const models::Mps* mps = mps_in_pool(pool)) {
    counter.add(Provenance::Catalog, pool.name, "MPS server memory");
    if (mps->active_threads < 1) {
      counter.add(Provenance::Assumed, pool.name, "interference between disjoint SMs (1.07)");
    }
  }
  if (pool.changes_nodes()) {
    counter.add(Provenance::Assumed, pool.name, "time that a node takes to start");
  }
  if (pool.spot && !pool.spot->stated) {
    counter.add(pool.spot->advised ? Provenance::Catalog : Provenance::Assumed, pool.name,
                "rate of spot interruptions");
  }
  if (!pool.layout_changes.empty()) {
    counter.add(Provenance::Assumed, pool.name, "duration of a MIG layout change");
  }
}

// Its pods take turns with others, or share by the capacity that this stands in for.
bool hangs_on_busy(const WorkloadModel& model, const World& world) {
  const scenarios::Measured& m = *model.spec.measured;
  for (std::size_t number = 0; number < world.pools.size(); ++number) {
    const PoolModel& pool = world.pools[number];
    if (!model.on_pool[number].schedulable || pool.strategy == scenarios::Strategy::Exclusive)
      continue;
    if (pool.takes_turns() || (!m.capacity_share && !m.sm_active)) return true;
  }
  return false;
}

void note_unknown_busy(const WorkloadModel& model, UnknownInputs unknown, World& world) {
  const scenarios::Measured& m = *model.spec.measured;
  if (m.gpu_util || !lacks_busy(model, world)) return;
  const scenarios::BusyRange range = scenarios::busy_range(m);
  const bool is_drawn = unknown == UnknownInputs::Drawn;
  Diagnostic found = make_diagnostic(
      Code::GpuBusyUnknown, m.where.line > 0 ? m.where : model.spec.name.where,
      fmt::format("nobody says for how much of its time kernels of \"{}\" run (gpuBusy): {:.3g} to "
                  "100 %, {}",
                  model.spec.given_name(), 100 * range.least,
                  is_drawn ? "and each replication takes another share of that range"
                           : "and 100 % is taken, at which sharing gains least"),
      fmt::format("measure DCGM_FI_PROF_GR_ENGINE_ACTIVE; {}",
                  is_drawn ? "it narrows the ranges"
                           : "`run --inputs sampled` shows what the range means"));
  // A trace says it once for all of its workloads.
  if (!holds(world.findings, found)) world.findings.push_back(std::move(found));
}

// Whether pods of both share a GPU under MPS, each on all SMs that are idle.
bool meet_without_limits(const WorkloadModel& first, const WorkloadModel& second,
                         const World& world) {
  if (!first.spec.uses_gpu() || !second.spec.uses_gpu()) return false;
  const bool alone = &first == &second && first.spec.count == 1;
  if (alone || first.spec.count == 0 || second.spec.count == 0) return false;
  for (std::size_t number = 0; number < world.pools.size(); ++number) {
    const models::Mps* mps = mps_in_pool(world.pools[number]);
    if (mps == nullptr || mps->active_threads < 1) continue;
    if (first.on_pool[number].schedulable && second.on_pool[number].schedulable) return true;
  }
  return false;
}

// The workload, of those that share a GPU under MPS without limits with requests of `model`, of
// whose kernels nobody says how long they are; nullptr when there is none.
const WorkloadModel* with_unknown_kernels(const WorkloadModel& model, const World& world) {
  bool shares = false;
  for (const WorkloadModel& other : world.workloads) {
    if (!meet_without_limits(model, other, world)) continue;
    if (!other.spec.measured->kernel_time) return &other;
    shares = true;
  }
  return shares && !model.spec.measured->kernel_time ? &model : nullptr;
}

std::string kernels_help(bool is_drawn) {
  return fmt::format(
      "measured.kernelTime, as `nsys stats` or gpu_probe has it, of all that share the GPU{}",
      is_drawn ? " narrows the ranges"
               : "; `run --inputs sampled` draws it from what kernels of such work last");
}

// Batch work beside other batch work.
void note_unknown_kernels_of_batch(const WorkloadModel& model, bool is_drawn, World& world) {
  const scenarios::Measured& m = *model.spec.measured;
  const bool meets = std::ranges::any_of(world.workloads, [&](const WorkloadModel& other) {
    return &other != &model && scenarios::runs_batches(other.spec.kind) &&
           meet_without_limits(model, other, world);
  });
  if (m.kernel_time || !meets) return;
  Diagnostic found = make_diagnostic(
      Code::KernelTimeUnknown, m.where.line > 0 ? m.where : model.spec.name.where,
      fmt::format("nobody says how long kernels of \"{}\" last: {}", model.spec.given_name(),
                  is_drawn ? "each replication draws it, and by that what it loses beside others "
                             "under MPS"
                           : "it loses beside others under MPS as if theirs were as long; beside "
                             "much longer ones it would lose more, beside shorter ones little"),
      kernels_help(is_drawn));
  // A trace says it once for all of its workloads.
  if (!holds(world.findings, found)) world.findings.push_back(std::move(found));
}

void note_unknown_kernels(const WorkloadModel& model, UnknownInputs inputs, World& world) {
  if (model.spec.count == 0 || model.spec.llm) return;
  const bool is_drawn = inputs == UnknownInputs::Drawn;
  if (scenarios::runs_batches(model.spec.kind)) {
    return note_unknown_kernels_of_batch(model, is_drawn, world);
  }
  if (model.spec.kind != WorkloadKind::Service) return;
  const WorkloadModel* unknown = with_unknown_kernels(model, world);
  if (unknown == nullptr) return;
  const scenarios::Measured& m = *unknown->spec.measured;
  const std::string requests = model.spec.given_name();
  const std::string follows =
      is_drawn ? fmt::format(
                     "each replication draws it, and by that requests of \"{}\" wait for "
                     "kernels of others under MPS",
                     requests)
               : fmt::format(
                     "what requests of \"{}\" wait for kernels of others under MPS is a "
                     "mean, and the tail of their latency is too short",
                     requests);
  add_diagnostic(world.findings, Code::KernelTimeUnknown,
                 m.where.line > 0 ? m.where : unknown->spec.name.where,
                 fmt::format("nobody says how long kernels of \"{}\" last: {}",
                             unknown->spec.given_name(), follows),
                 kernels_help(is_drawn));
  if (unknown != &model) world.findings.back().workloads = {unknown->spec.given_name()};
}

void count_traffic(const Traffic& traffic, const std::string& owner, Counter& counter) {
  if (traffic.provenance) counter.add(*traffic.provenance, owner, "traffic");
}

void count_workload(const WorkloadModel& model, Counter& counter) {
  const Workload& spec = model.spec;
  if (spec.traffic) count_traffic(*spec.traffic, model.name, counter);
  const scenarios::Measured& m = *spec.measured;
  const auto add = [&](bool given, const char* input) {
    if (given) counter.add(m.provenance, model, input);
  };
  if (spec.llm) return;  // count_llm
  if (spec.kind == WorkloadKind::Notebook) {
    add(true, "sessions of a user");
    add(true, "cells (intervals and gpuTime)");
    add(m.cpu.has_value(), "cpu");
  } else if (spec.kind == WorkloadKind::Service) {
    add(m.request_gpu_time.has_value(), "requestGpuTime");
  } else {
    add(m.unit_time.has_value(), "unitTime");
    const bool busy_given = m.gpu_busy || m.gpu_util;
    counter.add(busy_given ? m.provenance : Provenance::Assumed, model,
                busy_given ? (m.gpu_busy ? "gpuBusy" : "gpuUtil") : "gpuBusy (taken as 100 %)");
    if (m.gpu_util && !m.gpu_busy) {
      counter.add(Provenance::Assumed, model,
                  fmt::format("busy time ({:.0f} % of gpuUtil)", 100 * scenarios::kBusyOfGpuUtil));
    }
    add(m.cpu.has_value(), "cpu");
  }
  add(m.sm_active.has_value(), "smActive");
  const bool memory_given = model.gpu_memory.count > 0;
  counter.add(memory_given ? m.provenance : Provenance::Assumed, model,
              memory_given ? "gpuMemory" : "gpuMemory (taken as 0)");
}

// `given`: as the scenario has it. Where a named model fills in, its own provenance counts.
void count_llm(const WorkloadModel& model, const scenarios::Llm& given, Counter& counter) {
  const scenarios::Provenance basis = model.spec.measured->provenance;
  counter.add(basis, model, "step law of the language model");
  counter.add(given.kv_read_seconds ? basis : Provenance::Assumed, model,
              "reading the KV cache (70 % of the memory bandwidth)");
  counter.add(given.overhead ? basis : Provenance::Assumed, model, "overhead of a step (0.6 ms)");
  counter.add(Provenance::Assumed, model, "GPU memory of a step's activations (1.1 GiB)");
  if (given.adapters) {
    counter.add(Provenance::Assumed, model, "what LoRA adapters add to a step");
  }
  if (given.sleep) {
    counter.add(Provenance::Assumed, model, "GPU memory that an engine holds asleep");
    const bool timed = given.sleep->wake_time && given.sleep->sleep_time;
    counter.add(timed ? basis : Provenance::Assumed, model,
                "how long an engine takes to sleep and wake up");
  }
  const bool sized = given.weights && given.kv_bytes_per_token;
  counter.add(sized ? basis : Provenance::Catalog, model, "weights and KV bytes per token");
}

// What is taken for a capacityShare that nobody gives (scenarios::capacity_share).
const char* stand_in(const WorkloadModel& model) {
  const scenarios::Measured& m = *model.spec.measured;
  if (model.capacity_is_borrowed) return "capacityShare (that of profiles like its own)";
  if (!m.sm_active) return "capacityShare (taken as gpuBusy, its upper bound)";
  if (!scenarios::runs_batches(model.spec.kind)) {
    return "capacityShare (taken as sqrt(smActive), between its bounds)";
  }
  return m.gpu_util && !m.gpu_busy
             ? "capacityShare (taken between smActive and gpuUtil, its bounds)"
             : "capacityShare (taken as smActive; up to 1.4 times that)";
}

// What MPS and MIG are driven by. How long kernels run on another GPU hangs on the first, too.
void count_law(const WorkloadModel& model, const World& world, Counter& counter) {
  const bool matters = !std::ranges::all_of(world.pools, &PoolModel::takes_turns);
  const scenarios::Measured& m = *model.spec.measured;
  const auto add = [&](bool given, const char* input) {
    counter.add(given ? m.provenance : Provenance::Assumed, model, input);
  };
  const bool is_bound = !m.capacity_share && !m.sm_active && !model.spec.llm &&
                        std::ranges::any_of(model.on_pool, &PoolDemand::is_carried_over);
  if (!matters && !m.capacity_share && !is_bound) return;
  if (!model.spec.llm) {  // whose step says both
    const bool is_known = m.capacity_share && !model.capacity_is_borrowed;
    add(is_known, is_known ? "capacityShare" : stand_in(model));
    if (!matters && !m.capacity_share) return;
    add(m.bandwidth_share.has_value(),
        m.bandwidth_share ? "bandwidthShare" : "bandwidthShare (taken as 50 %)");
  }
  if (matters && m.kernel_time) add(true, "kernelTime");
  counter.add(m.norm_p ? m.provenance : Provenance::Assumed, model,
              m.norm_p ? "normP" : fmt::format("normP (taken as {})", usual_norm(model.spec)));
}

void count_batch(const WorkloadModel& model, Counter& counter) {
  if (model.on_pool.empty() || model.on_pool.front().batch_scale == 1) return;
  counter.add(Provenance::Assumed, model,
              fmt::format("GPU work of batch {} (in proportion to batch {})", *model.spec.batch,
                          model.spec.measured->batch.value_or(1)));
}

void count_all_reduce(const WorkloadModel& model, const World& world, Counter& counter) {
  const bool has_work = model.spec.work && model.spec.work->all_reduce;
  if (most_gpus(model) == 1 || (!has_work && !model.spec.llm)) return;
  if (has_work) counter.add(model.spec.measured->provenance, model, "allReduce");
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    if (model.on_pool[pool].gpus == 1) continue;
    const bool assumed = world.pools[pool].interconnect->pcie_assumed;
    counter.add(
        assumed ? Provenance::Assumed : Provenance::Catalog, world.pools[pool].name,
        assumed ? "what the GPUs exchange over PCIe (5 GB/s)" : "links between the GPUs of a node");
  }
}

std::string percent_text(double share) { return fmt::format("{:.3g} %", 100 * share); }

// "x 0.58 (kernels fill 62 % of the GPU, by smActive; that work x 0.382, launches and waits stay)".
std::string factor_text(const Workload& spec, double gpu_scale) {
  const CarriedOver found = carried_over(spec, gpu_scale);
  if (found.is_bound) {
    return fmt::format(
        "x {:.3g} if kernels fill {} of the GPU, up to x 1 the less they fill: it hangs on "
        "smActive, which is not given",
        found.factor, percent_text(found.share));
  }
  return fmt::format(
      "x {:.3g} (kernels fill {} of the GPU, by {}; that work x {:.3g}, launches and waits stay)",
      found.factor, percent_text(found.share),
      spec.measured->capacity_share ? "capacityShare" : "smActive", gpu_scale);
}

// Weights are bound by the memory, tokens by the cores. What GPUs share, note_shared says.
std::string step_text(const WorkloadModel& model, const PoolModel& pool, std::size_t number) {
  const scenarios::Llm& llm = *model.spec.llm;
  const LlmDemand& there = model.on_pool[number].llm.front();
  if (there.shared) return "weights by the memory bandwidth, tokens by the FP16 rate";
  const models::DomainShare& share = pool.kinds.front().share;
  return fmt::format("x {:.3g} for reading weights, x {:.3g} for computing tokens",
                     there.step.weights_s * share.bandwidth / to_seconds(*llm.weights_time),
                     there.step.token_s * share.compute / *llm.token_seconds);
}

std::optional<int> batch_of(const models::WorkloadProfile& profile) { return profile.batch; }
std::optional<int> batch_of(const models::LlmModel&) { return std::nullopt; }

// What the catalogue has of the same on that GPU; "" where it has nothing.
template <class Entry>
std::string known_there(const std::vector<Entry>& entries, const std::string& name,
                        const std::string& gpu) {
  const Entry* own = find_or_null(entries, name, &Entry::name);
  if (own == nullptr) return {};
  const Entry* there = find_if_or_null(entries, [&](const Entry& one) {
    return one.gpu_model == gpu && one.title == own->title && one.precision == own->precision &&
           batch_of(one) == batch_of(*own) && one.unusable.empty();
  });
  return there == nullptr ? "" : there->name;
}

void count_carried_over(const WorkloadModel& model, const Catalogue& catalogue, World& world,
                        Counter& counter) {
  for (std::size_t number = 0; number < world.pools.size(); ++number) {
    const PoolModel& pool = world.pools[number];
    const PoolDemand& demand = model.on_pool[number];
    const scenarios::Measured& m = *model.spec.measured;
    if (!demand.is_carried_over()) continue;
    const bool is_llm = model.spec.llm.has_value();
    const bool is_bound = !is_llm && carried_over(model.spec, demand.gpu_scale).is_bound;
    counter.add(Provenance::Assumed, model, fmt::format("GPU time on {}", pool.gpu->name));
    const std::string there =
        is_llm ? known_there(catalogue.llm_models, model.spec.llm->model.value, pool.gpu->name)
               : known_there(catalogue.profiles, model.spec.profile.value, pool.gpu->name);
    add_diagnostic(
        world.findings, Code::ProfileScaled, m.device.where,
        fmt::format(
            "GPU time of \"{}\" carried over from {} to {} by the roofline rule: {}{}", model.name,
            m.device.value, pool.gpu->name,
            is_llm ? step_text(model, pool, number) : factor_text(model.spec, demand.gpu_scale),
            there.empty() ? "" : fmt::format("; the catalogue has {} of that GPU", there)),
        !there.empty() ? fmt::format("{}: {}", is_llm ? "llm.model" : "profile", there)
        : is_bound ? "give measured.smActive (DCGM_FI_PROF_SM_ACTIVE), or measure on the target GPU"
                   : "measure on the target GPU to replace this estimate");
  }
}

// What several GPUs make of a model that was measured on one.
void note_shared(const WorkloadModel& model, World& world, Counter& counter) {
  if (!model.spec.llm || most_gpus(model) == 1) return;
  counter.add(Provenance::Assumed, model, "how GPUs share a layer (fitted on A100 and H100)");
  for (std::size_t number = 0; number < world.pools.size(); ++number) {
    const PoolModel& pool = world.pools[number];
    const PoolDemand& demand = model.on_pool[number];
    if (demand.llm.empty() || !demand.llm.front().shared) continue;
    const LlmDemand& there = demand.llm.front();
    const GpuMask all = (GpuMask{1} << pool.healthy_gpus()) - 1;
    const models::LlmStep exchange =
        all_reduces_of(pool, there, pool.gpu_sets.choose(all, demand.gpus));
    constexpr double kMs = 1e3;
    constexpr double kUs = 1e6;
    const std::string experts = there.step.experts_s > 0 ? fmt::format(" and all experts {:.3g} ms",
                                                                       kMs * there.step.experts_s)
                                                         : "";
    add_diagnostic(
        world.findings, Code::LlmShared, model.spec.llm->where,
        fmt::format(
            "{} GPUs of pool \"{}\" share each layer of \"{}\": reading the weights takes "
            "{:.3g} ms{}, a token {:.3g} us; all-reduces add {:.3g} ms to a step and {:.3g} "
            "us for each of its tokens (derived from one GPU)",
            demand.gpus, pool.name, model.name, kMs * there.step.weights_s, experts,
            kUs * there.step.token_s, kMs * exchange.overhead_s, kUs * exchange.exchange_s),
        fmt::format("vllm serve --tensor-parallel-size {}; measure it to replace the estimate",
                    demand.gpus));
  }
}

// Keys and values that go from stage to stage.
void count_transfers(const scenarios::Pipeline& pipeline, const World& world, Counter& counter) {
  for (const scenarios::Pipeline::Stage& stage : pipeline.stages) {
    const auto model =
        std::ranges::find(world.workloads, stage.workload.value, &WorkloadModel::name);
    const bool decodes = model != world.workloads.end() && model->spec.llm &&
                         model->spec.llm->role == scenarios::LlmRole::Decode;
    if (!decodes || stage.kv_bandwidth) continue;
    counter.add(Provenance::Assumed, pipeline.name.value,
                "keys and values go at the whole network bandwidth of the nodes");
  }
}

}  // namespace

bool lacks_busy(const WorkloadModel& model, const World& world) {
  if (!scenarios::runs_batches(model.spec.kind)) return false;
  const scenarios::BusyRange range = scenarios::busy_range(*model.spec.measured);
  return range.least < range.most && hangs_on_busy(model, world);
}

bool lacks_capacity(const WorkloadModel& model, const World& world) {
  const scenarios::Measured& m = *model.spec.measured;
  if (!m.sm_active || m.capacity_share || m.sensitivity) return false;
  for (std::size_t number = 0; number < world.pools.size(); ++number) {
    if (model.on_pool[number].schedulable && mps_in_pool(world.pools[number]) != nullptr)
      return true;
  }
  return false;
}

bool lacks_norm(const WorkloadModel& model, const World& world) {
  const Workload& spec = model.spec;
  const bool is_serial = usual_norm(spec) == models::kSerialNorm;
  if (!spec.uses_gpu() || spec.llm || spec.measured->norm_p || model.capacity_is_fitted ||
      is_serial) {
    return false;
  }
  for (std::size_t number = 0; number < world.pools.size(); ++number) {
    const PoolModel& pool = world.pools[number];
    const bool shares = !pool.takes_turns() && pool.strategy != scenarios::Strategy::Exclusive;
    if (shares && model.on_pool[number].schedulable) return true;
  }
  return false;
}

bool lacks_kernels(const WorkloadModel& model, const World& world) {
  if (model.spec.measured->kernel_time) return false;
  const bool in_batches = scenarios::runs_batches(model.spec.kind);
  return std::ranges::any_of(world.workloads, [&](const WorkloadModel& other) {
    const bool equals = &other == &model && in_batches;
    return !equals && meet_without_limits(model, other, world);
  });
}

void count_provenance(const Scenario& scenario, const Catalogue& catalogue, UnknownInputs unknown,
                      World& world) {
  Counter counter(world.provenance);
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    count_pool(scenario.node_pools[pool], world.pools[pool], world, scenario.claims, counter);
  }
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const WorkloadModel& model = world.workloads[w];
    if (!model.spec.uses_gpu()) continue;
    const FindingsAbout about(model.spec.given_name(), world.findings);
    count_workload(model, counter);
    note_unknown_busy(model, unknown, world);
    note_unknown_kernels(model, unknown, world);
    if (model.spec.llm) count_llm(model, *scenario.workloads[w].llm, counter);
    count_law(model, world, counter);
    count_batch(model, counter);
    count_all_reduce(model, world, counter);
    note_shared(model, world, counter);
    count_carried_over(model, catalogue, world, counter);
    const bool exact_batch =
        scenarios::runs_batches(model.spec.kind) &&
        std::ranges::any_of(world.pools, [](const PoolModel& p) { return p.exact; });
    if (exact_batch && model.spec.work && !model.spec.work->steps_per_unit) {
      counter.add(Provenance::Assumed, model, "stepsPerUnit (GPU bursts of 50 ms)");
    }
  }
  for (const scenarios::Pipeline& pipeline : scenario.pipelines) {
    if (std::ranges::any_of(pipeline.stages, [](const auto& s) { return s.network.ns > 0; })) {
      counter.add(pipeline.traffic.provenance.value_or(Provenance::Assumed), pipeline.name.value,
                  "network between its stages");
    }
    count_transfers(pipeline, world, counter);
    count_traffic(pipeline.traffic, pipeline.name.value, counter);
  }
}

}  // namespace slicewise::sim
