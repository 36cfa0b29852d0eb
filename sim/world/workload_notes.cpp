#include <algorithm>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

std::int64_t mib(Bytes bytes) { return bytes.count / mebibytes(1).count; }

std::string domain_name(const PoolModel& pool, const DomainKind& kind) {
  if (kind.partition.empty())
    return fmt::format("the {} of {}", pool.gpu->name, pool.instance_type);
  return fmt::format("a {} of {}", kind.partition, pool.instance_type);
}

// The tickets of the kind that the workload would hold; nullptr when it holds none there.
const Tickets* tickets_in(const PoolDemand& demand, const DomainKind& kind) {
  if (!demand.offer) return nullptr;
  return find_or_null(kind.tickets, *demand.offer, &Tickets::offer);
}

// Whether a process does not fit the empty domain: it dies at every start, shared or not. Of
// notebooks the run shows which fit.
bool note_too_large(const WorkloadModel& model, const PoolModel& pool, const DomainKind& kind,
                    const Tickets& tickets, Bytes memory, Diagnostics& found) {
  if (model.spec.kind == WorkloadKind::Notebook) return false;
  const Bytes one = memory + pool.context_memory;
  const std::optional<Bytes> limit = limit_of_process(pool, tickets, model);
  const bool limited = limit && one > *limit;
  const Bytes needed = limited ? one : Bytes{one.count * model.spec.processes_per_pod};
  const Bytes available = limited ? *limit : usable_by_processes(kind);
  if (needed <= available) return false;
  add_diagnostic(
      found, Code::GpuOom,
      model.spec.gpu_memory.where.line > 0 ? model.spec.gpu_memory.where : model.spec.name.where,
      fmt::format("a {} of \"{}\" needs {} MiB of GPU memory with its CUDA context; {} {} {} MiB: "
                  "no pod of it can ever start there",
                  limited || model.spec.processes_per_pod == 1 ? "process" : "pod", model.name,
                  mib(needed), domain_name(pool, kind), limited ? "lets a client have" : "has",
                  mib(available)),
      limited && pool.books
          ? fmt::format("raise {}: HAMi counts the context, too", scenarios::kHamiMemory)
      : limited ? "fewer replicas: the limit is the GPU's memory divided by them"
      : model.spec.llm && model.spec.llm->kv_cache ? "a smaller kvCache"
      : model.spec.llm
          ? "a lower memoryUtilization: vLLM's share must be free when its CUDA context is there"
          : fmt::format("`slicewise get instances --fits {}Mi` lists what holds it", mib(needed)));
  return true;
}

// KAI keeps books and holds nobody to them: who takes more than he asked for takes it from others.
void note_beyond_part(const WorkloadModel& model, const PoolModel& pool, const Tickets& tickets,
                      Bytes memory, Diagnostics& found) {
  if (!pool.books || pool.books->keeper != GpuBooks::Keeper::Kai || model.greedy) return;
  const Bytes pod{(memory + pool.context_memory).count * model.spec.processes_per_pod};
  const std::int64_t asked = pool.offers[tickets.offer].part->memory_mib;
  if (pod <= mebibytes(asked) || pool.offers[tickets.offer].part->alone) return;
  add_diagnostic(
      found, Code::GpuMemUnlimited,
      model.spec.gpu_memory.where.line > 0 ? model.spec.gpu_memory.where : model.spec.name.where,
      fmt::format("a pod of \"{}\" takes {} MiB of GPU memory with its CUDA context and asks KAI "
                  "for {}: nothing holds it to that, and a pod beside it that keeps to its part "
                  "may run out of memory",
                  model.name, mib(pod), asked),
      "ask for what it takes; KAI enforces no limit, HAMi, MPS and MIG do");
}

void note_greedy(const WorkloadModel& model, const PoolModel& pool, const Tickets& tickets,
                 Diagnostics& found) {
  if (!model.greedy || tickets.count < 2 || tickets.memory_limit) return;
  add_diagnostic(found, Code::GpuMemGreedy, model.spec.gpu_memory.where,
                 fmt::format("\"{}\" maps all free GPU memory when it starts: of the {} pods that "
                             "a GPU of pool \"{}\" may hold, only the first to start can live",
                             model.name, tickets.count, pool.name),
                 "TensorFlow: set TF_FORCE_GPU_ALLOW_GROWTH=true in podTemplate.env; JAX: "
                 "XLA_PYTHON_CLIENT_PREALLOCATE=false and allocator: OnDemand");
}

// Nobody says what a process takes, and the run lets it take nothing: all would fit.
void note_unknown_memory(const WorkloadModel& model, const PoolModel& pool, const Tickets& tickets,
                         Bytes memory, Diagnostics& found) {
  const bool is_said = model.spec.gpu_memory.where.line > 0 || memory.count > 0 || model.greedy ||
                       model.spec.kind == WorkloadKind::Notebook;
  if (is_said || tickets.count < 2) return;
  add_diagnostic(
      found, Code::GpuMemUnlimited, model.spec.name.where,
      fmt::format("what a process of \"{}\" takes of GPU memory is not said and counts as 0 bytes: "
                  "whether the {} pods that share a GPU of pool \"{}\" fit its memory is not known",
                  model.name, tickets.count, pool.name),
      "gpuMemory: {resident: 4Gi}, what nvidia-smi shows of the process less its CUDA context");
  found.back().severity = Severity::Warning;
}

void note_processes(const WorkloadModel& model, const DomainKind& kind, const Tickets& tickets,
                    Diagnostics& found) {
  const int processes = model.spec.processes_per_pod;
  const auto* mps = std::get_if<models::Mps>(&kind.sharing);
  if (processes == 1 || mps == nullptr) return;
  if (tickets.memory_limit) {
    add_diagnostic(
        found, Code::MpsPerProcessLimits, model.spec.name.where,
        fmt::format("MPS limits each CUDA process, not the pod: a pod of \"{}\" has {} processes, "
                    "so it may take {} times the memory and the threads of one replica",
                    model.name, processes, processes));
  }
  const int pods = std::min(tickets.count, model.spec.count);
  if (pods * processes > mps->client_limit) {
    add_diagnostic(
        found, Code::MpsTooManyClients, model.spec.name.where,
        fmt::format(
            "{} pods of \"{}\" with {} CUDA processes each are {} clients on one GPU; MPS takes {}",
            pods, model.name, processes, pods * processes, mps->client_limit),
        "fewer replicas, or one process per pod");
  }
}

// In how many kinds of domain a workload's pods may come to be, and in how many they die at once.
struct Places {
  int all = 0;
  int too_small = 0;
};

// Pods that use a GPU without asking for it.
Places note_unscheduled(const WorkloadModel& model, const World& world, Diagnostics& found) {
  Places places;
  const Workload& spec = model.spec;
  add_diagnostic(
      found, Code::GpuNotRequested, spec.name.where,
      fmt::format("\"{}\" uses a GPU but asks for none: the scheduler does not count it, and every "
                  "pod on a node opens GPU {}",
                  model.name, model.visible_gpu),
      scenarios::asks_kai(spec.pod.annotations)
          ? "gpu-fraction and gpu-memory are read by KAI scheduler: add `kai: true` to the pool"
          : "add podTemplate.resources.limits with the resource that the pool offers, and share "
            "GPUs with the device plugin");
  for (const PoolModel& pool : world.pools) {
    if (!admits(pool, spec.pod)) continue;
    if (model.visible_gpu >= pool.healthy_gpus()) {
      add_diagnostic(found, Code::ValueRange, spec.pod.where,
                     fmt::format("\"{}\" opens GPU {}; {} has {}{}", model.name, model.visible_gpu,
                                 pool.instance_type, pool.gpus_per_node,
                                 pool.unhealthy_gpus == 0 ? ""
                                                          : fmt::format(", of which {} are healthy",
                                                                        pool.healthy_gpus())),
                     "CUDA_VISIBLE_DEVICES counts from 0");
    }
    const bool mps = std::ranges::any_of(pool.kinds, [](const DomainKind& kind) {
      return std::holds_alternative<models::Mps>(kind.sharing);
    });
    if (mps) {
      add_diagnostic(found, Code::GpuExclusiveProcess, spec.name.where,
                     fmt::format("MPS sets the GPUs of pool \"{}\" to EXCLUSIVE_PROCESS: a process "
                                 "of \"{}\" that does not come through the device plugin gets "
                                 "\"CUDA error: all CUDA-capable devices are busy or unavailable\"",
                                 pool.name, model.name),
                     "let the pods ask for the pool's resource, or keep them off its nodes");
    } else if (is_mig(pool.strategy) || pool.strategy == Strategy::Vgpu) {
      add_diagnostic(found, Code::StrategyNotModelled, spec.name.where,
                     fmt::format("pods without a GPU request on the MIG or vGPU nodes of pool "
                                 "\"{}\" are not simulated",
                                 pool.name),
                     "let the pods ask for the pool's resource, or keep them off its nodes");
    } else {
      const PoolDemand& demand =
          model.on_pool[static_cast<std::size_t>(&pool - world.pools.data())];
      const Bytes memory = process_memory(model, demand, 0);
      ++places.all;
      if (note_too_large(model, pool, pool.kinds.front(), {}, memory, found)) ++places.too_small;
    }
  }
  return places;
}

void note_kernel(const WorkloadModel& model, Diagnostics& found) {
  if (!model.spec.measured || !model.spec.measured->longest_kernel) return;
  add_diagnostic(
      found, Code::KernelPreempted, model.spec.measured->where,
      fmt::format("longestKernel of \"{}\" delays nobody: these GPUs preempt inside a kernel",
                  model.name));
}

// Requests that need more host work than the limits of all pods together let through.
void note_request_cpu(const WorkloadModel& model, Diagnostics& found) {
  const Workload& spec = model.spec;
  if (!spec.pod.cpu_limit || !spec.traffic || spec.count < 1) return;
  const scenarios::Serving& serving = spec.serving;
  const Duration work =
      serving.cpu_before + serving.cpu_after + serving.cpu_between * (serving.bursts - 1);
  const double needed =
      1'000 * spec.traffic->mean.per_second * to_seconds(work) / static_cast<double>(spec.count);
  if (needed <= static_cast<double>(spec.pod.cpu_limit->count)) return;
  add_diagnostic(found, Code::CpuLimitThrottles, spec.pod.cpu_where,
                 fmt::format("requests to \"{}\" need {:.0f}m of CPU in each pod, which is limited "
                             "to {}m: they queue for it",
                             model.name, needed, spec.pod.cpu_limit->count),
                 "raise or drop the CPU limit, or run more replicas");
}

// A profile of a batch is one of steps, each of which serves one request: who means items waits for
// as many as a step has. Served in batches, too, they multiply.
void note_items_of_request(const WorkloadModel& model, Diagnostics& found) {
  const Workload& spec = model.spec;
  if (spec.kind != WorkloadKind::Service || spec.profile.value.empty() || spec.llm) return;
  const int items = spec.batch.value_or(spec.measured->batch.value_or(1));
  if (items < 2) return;
  if (spec.serving.max_batch < 2) {
    if (spec.batch) return;  // the scenario says so
    add_note(found, Code::InputAssumed, spec.profile.where,
             fmt::format("a request of \"{}\" is a step of its profile, a batch of {}: where items "
                         "come one by one, traffic is {} times what was meant",
                         model.name, items, items),
             fmt::format("`batch: {}` says that it is; else name the profile of batch 1, with "
                         "serving.batching: {{maxBatch: {}}}",
                         items, items));
    return;
  }
  add_diagnostic(
      found, Code::InputAssumed, spec.profile.where,
      fmt::format("a request of \"{}\" is a step of its profile, a batch of {}: with maxBatch {} "
                  "up to {} items go into one step",
                  model.name, items, spec.serving.max_batch, items * spec.serving.max_batch),
      "name the profile of batch 1 where requests come one by one, or leave out serving.batching "
      "where each is a batch");
  found.back().severity = Severity::Warning;
}

// A metric of pods that are not there has no value.
void note_zero(const WorkloadModel& model, Diagnostics& found) {
  const auto& scaling = model.spec.autoscaling;
  if (!scaling || !scaling->holds_requests()) return;
  add_diagnostic(
      found, Code::ScaleFromZero, scaling->where,
      fmt::format("requests of \"{}\" are held while it has no pods, and wake it: in a cluster a "
                  "metric of its pods cannot, it has no value then",
                  model.name),
      "a trigger that sees requests before pods do (a queue, the load balancer, KEDA's HTTP "
      "add-on), or min: 1");
}

// Nothing in Kubernetes compares an image with the CPUs of a node: such pods start, and crash. Pods
// that select CPUs say with that what their images are built for.
void check_images(const WorkloadModel& model, const World& world, Diagnostics& found) {
  const PodTemplate& pod = model.spec.pod;
  const bool is_said = !pod.image_architectures.empty();
  if (!is_said && pod.node_selector.contains(std::string(scenarios::kArchitectureLabel))) return;
  std::vector<std::string_view> built_for;
  for (const scenarios::Architecture one : pod.image_architectures) {
    built_for.push_back(scenarios::kArchitectures.at(static_cast<std::size_t>(one)));
  }
  if (!is_said) built_for.push_back(scenarios::kArchitectures.front());
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    const bool runs = contains(built_for, pool.architecture);
    if (runs || !model.on_pool[p].schedulable) continue;
    add_diagnostic(
        found, Code::ImageArchitecture, pod.where,
        fmt::format(
            "the image of \"{}\" is {} for {}{}, and the CPUs of {} are {}: exec format error",
            model.name, is_said ? "built" : "taken to be built", fmt::join(built_for, " and "),
            is_said ? "" : " (podTemplate.imageArchitectures does not say)", pool.instance_type,
            pool.architecture),
        fmt::format("imageArchitectures: [amd64, arm64] where the image has both; else "
                    "nodeSelector {}: {}, or other nodes than \"{}\"",
                    scenarios::kArchitectureLabel, built_for.front(), pool.name));
  }
}

// The label of nodes by whose values the pods are kept near others or apart, and that no node which
// they may have has; "": none.
std::string missing_domain(const PodTemplate& pod, const World& world) {
  const auto is_missing = [&](const std::string& key) {
    return key != scenarios::kHostname &&
           std::ranges::none_of(world.pools, [&](const PoolModel& pool) {
             return admits(pool, pod) && pool.labels.contains(key);
           });
  };
  for (const scenarios::PodAffinityTerm& term : pod.pod_affinity) {
    if (is_missing(term.topology_key)) return term.topology_key;
  }
  for (const scenarios::TopologySpread& spread : pod.preferences.spread) {
    if (spread.is_required() && is_missing(spread.topology_key)) return spread.topology_key;
  }
  return "";
}

// The label by which they choose nodes, that a cluster's have and simulated ones only where pools
// say it; "": none.
std::string_view chosen_domain(const PodTemplate& pod) {
  for (const std::string_view key : {scenarios::kZoneLabel, scenarios::kHostname}) {
    const bool selects = pod.node_selector.contains(std::string(key));
    const bool requires_it =
        std::ranges::any_of(pod.node_affinity, [&](const scenarios::NodeTerm& term) {
          return contains(term.requirements, key, &scenarios::NodeRequirement::key);
        });
    if (selects || requires_it) return key;
  }
  return "";
}

// Pods that no node can be for, in a cluster or as it is simulated.
void check_nodes(const Scenario& scenario, const WorkloadModel& model, const World& world,
                 Diagnostics& found) {
  const Workload& spec = model.spec;
  if (spec.count == 0) return;
  const auto tell = [&](Code code, std::string what, std::string mend) {
    found.push_back(make_diagnostic(code, spec.name.where, std::move(what), std::move(mend)));
    found.back().severity = Severity::Warning;
  };
  const auto lacks = [&](std::string_view key) {
    const bool is_zone = key == scenarios::kZoneLabel;
    tell(Code::DomainUnknown,
         fmt::format(
             "no simulated node has the label {} that \"{}\" asks for: its pods stay Pending "
             "in the run",
             key, model.name),
         fmt::format("labels: {{{}: {}}} in nodePools, a pool for each {}", key,
                     is_zone ? scenario.region + "a" : "...", is_zone ? "zone" : "of its values"));
  };
  const bool may_run = std::ranges::any_of(
      world.pools, [&](const PoolModel& pool) { return admits(pool, spec.pod); });
  if (!may_run) {
    const std::string_view domain = chosen_domain(spec.pod);
    if (!domain.empty()) return lacks(domain);
    return tell(Code::NodeSelectorUnmet,
                fmt::format("no node pool is for \"{}\": its nodeSelector, its nodeAffinity or the "
                            "taints of pools keep it off all: its pods stay Pending",
                            model.name),
                "give a pool the labels, the pods the tolerations of its taints, or correct them");
  }
  for (const scenarios::PodAffinityTerm& term : spec.pod.pod_affinity) {
    const bool any = std::ranges::any_of(scenario.workloads, [&](const Workload& other) {
      return other.count > 0 && selects(spec, term, other);
    });
    if (any) continue;
    return tell(Code::NodeSelectorUnmet,
                fmt::format("no workload has the labels that podAffinity of \"{}\" asks for: its "
                            "pods stay Pending",
                            model.name),
                "matchLabels of podAffinity are labels of some workload's podTemplate, in a "
                "namespace that the term names");
  }
  if (const std::string key = missing_domain(spec.pod, world); !key.empty()) lacks(key);
}

// Who writes maxUnavailable: 0 wants that, but a change of a MIG layout that never comes is told.
void note_budget(const WorkloadModel& model, const World& world, Diagnostics& found) {
  const auto& budget = model.spec.disruption_budget;
  if (!budget || model.spec.count == 0 || budget->kept_of(model.spec.count) < model.spec.count)
    return;
  const bool changes = std::ranges::any_of(world.pools, [&](const PoolModel& pool) {
    return !pool.layout_changes.empty() && admits(pool, model.spec.pod);
  });
  if (!changes && !budget->keeps) return;
  add_diagnostic(found, Code::BudgetAllowsNone, budget->where,
                 fmt::format("the budget lets none of the {} of \"{}\" go: {}",
                             counted(model.spec.count, "pod"), model.name,
                             changes ? "a change of the MIG layout waits for them"
                                     : "a drain of their node waits for them"),
                 "write maxUnavailable: 1, or let more pods run");
}

// Of NodePools of one weight Karpenter takes the one whose name is last, which nobody means.
void note_tie(const WorkloadModel& model, const World& world, Diagnostics& found) {
  if (world.provisioner.kind != scenarios::Provisioner::Kind::Karpenter) return;
  const PoolModel* first = nullptr;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    if (!pool.most_nodes || !model.on_pool[p].schedulable) continue;
    if (first == nullptr || pool.weight > first->weight) first = &pool;
    if (pool.weight < first->weight || pool.node_pool() == first->node_pool()) continue;
    add_diagnostic(
        found, Code::NodePoolsTie, pool.where,
        node_pools_tie(model.name, first->node_pool(), pool.node_pool()),
        "give the one that is to come first a higher weight; instance types of one NodePool have "
        "one label karpenter.sh/nodepool");
    return;
  }
}

}  // namespace

std::string node_pools_tie(std::string_view pod, std::string_view one, std::string_view other) {
  return fmt::format(
      "NodePools \"{}\" and \"{}\" of one weight may start nodes for \"{}\": Karpenter takes "
      "\"{}\", whose name is last, whatever the other costs",
      one, other, pod, std::max(one, other));
}

void note_workload(const Scenario& scenario, WorkloadModel& model, const World& world,
                   Diagnostics& found) {
  note_tie(model, world, found);
  check_images(model, world, found);
  check_nodes(scenario, model, world, found);
  note_kernel(model, found);
  note_items_of_request(model, found);
  note_budget(model, world, found);
  note_zero(model, found);
  const Workload& spec = model.spec;
  if (!spec.uses_gpu()) return;
  if (spec.pod.cpu_limit && spec.measured->cpu && *spec.pod.cpu_limit < *spec.measured->cpu) {
    add_diagnostic(
        found, Code::CpuLimitThrottles, spec.pod.cpu_where,
        fmt::format("\"{}\" uses {}m of CPU but is limited to {}m: the GPU will wait for it",
                    model.name, spec.measured->cpu->count, spec.pod.cpu_limit->count),
        "raise or drop the CPU limit");
  }
  note_request_cpu(model, found);
  Places places;
  if (!model.resource) places = note_unscheduled(model, world, found);
  for (std::size_t p = 0; model.resource && p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    if (!admits(pool, spec.pod)) continue;
    for (std::size_t k = 0; k < pool.kinds.size(); ++k) {
      const DomainKind& kind = pool.kinds[k];
      const Tickets* tickets = tickets_in(model.on_pool[p], kind);
      if (tickets == nullptr) continue;
      const PoolDemand& demand = model.on_pool[p];
      const bool said =  // by model_llm
          !demand.llm.empty() && demand.llm[k].cache_tokens < spec.llm->max_model_len.value_or(1);
      const Bytes memory = process_memory(model, demand, k);
      ++places.all;
      const Bytes at_start = memory + spare_memory(demand, k);
      if (said || note_too_large(model, pool, kind, *tickets, at_start, found)) ++places.too_small;
      note_greedy(model, pool, *tickets, found);
      note_unknown_memory(model, pool, *tickets, memory, found);
      note_beyond_part(model, pool, *tickets, memory, found);
      note_processes(model, kind, *tickets, found);
    }
  }
  model.dies_at_start = places.all > 0 && places.too_small == places.all;
}

}  // namespace slicewise::sim
