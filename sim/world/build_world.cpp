#include <algorithm>
#include <limits>
#include <string_view>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/isolation.hpp"
#include "slicewise/sim/world.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

// "g5" of g5.xlarge.
std::string_view family_of(std::string_view instance_type) {
  return instance_type.substr(0, instance_type.find('.'));
}

void check_instance_or_family(const Located<std::string>& wanted, const Catalogue& catalogue,
                              Diagnostics& found) {
  const bool known = std::ranges::any_of(catalogue.instances, [&](const auto& type) {
    return type.name == wanted.value || family_of(type.name) == wanted.value;
  });
  if (known) return;
  if (wanted.value.find('.') != std::string::npos) {
    found.push_back(unknown_instance(wanted, catalogue));
    return;
  }
  std::vector<std::string> families;
  for (const InstanceType& type : catalogue.instances) {
    families.emplace_back(family_of(type.name));
  }
  const auto near = nearest_name(wanted.value, families);
  add_diagnostic(found, Code::InstanceUnknown, wanted.where,
                 fmt::format("the catalogue has no instance type of a family \"{}\"", wanted.value),
                 near ? fmt::format("did you mean {}? `slicewise get instances` lists all", *near)
                      : "`slicewise get instances` lists all");
}

// The instance types and families of planning, and the instance types of pricing.plans.
void check_planning(const Scenario& scenario, const Catalogue& catalogue, Diagnostics& found) {
  for (const Located<std::string>& wanted : scenario.planning.instance_types) {
    check_instance_or_family(wanted, catalogue, found);
  }
  for (const scenarios::PricePlan& plan : scenario.price_plans) {
    if (catalogue.find_instance(plan.instance_type.value) != nullptr) continue;
    found.push_back(unknown_instance(plan.instance_type, catalogue));
  }
}

using scenarios::Pipeline;
using StageGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

std::size_t place_of(const Pipeline& pipeline, const std::string& workload) {
  const auto stage = std::ranges::find_if(pipeline.stages, [&](const Pipeline::Stage& candidate) {
    return candidate.workload.value == workload;
  });
  return static_cast<std::size_t>(stage - pipeline.stages.begin());
}

StageGraph graph_of(const Pipeline& pipeline) {
  StageGraph graph(pipeline.stages.size());
  for (std::size_t stage = 0; stage < pipeline.stages.size(); ++stage) {
    for (const auto& before : pipeline.stages[stage].after) {
      boost::add_edge(place_of(pipeline, before.value), stage, graph);
    }
  }
  return graph;
}

WorkloadId workload_called(const World& world, const std::string& name) {
  const auto found = std::ranges::find(world.workloads, name, &WorkloadModel::name);
  return make_id<WorkloadId>(static_cast<std::size_t>(found - world.workloads.begin()));
}

// Of the nodes that may have the pods, the slowest network, whole: nobody else uses it.
double network_bytes_per_second(const World& world, const Catalogue& catalogue,
                                WorkloadId workload) {
  constexpr double kBytesPerGbit = 1e9 / 8;
  double slowest = std::numeric_limits<double>::infinity();
  const WorkloadModel& model = world.workloads[index(workload)];
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    if (!model.on_pool[pool].schedulable) continue;
    const InstanceType* type = catalogue.find_instance(world.pools[pool].instance_type);
    if (type != nullptr) slowest = std::min(slowest, type->network_gbps * kBytesPerGbit);
  }
  return slowest;
}

// What a token of a prompt that another server computed takes to the one that decodes.
double kv_s_per_token(const Pipeline::Stage& stage, const World& world, const Catalogue& catalogue,
                      WorkloadId workload) {
  const auto& llm = world.workloads[index(workload)].spec.llm;
  if (!llm || llm->role != scenarios::LlmRole::Decode) return 0;
  double rate = network_bytes_per_second(world, catalogue, workload);
  for (const auto& before : stage.after) {
    const WorkloadId from = workload_called(world, before.value);
    rate = std::min(rate, network_bytes_per_second(world, catalogue, from));
  }
  if (stage.kv_bandwidth) rate = static_cast<double>(stage.kv_bandwidth->count);
  return rate > 0 ? static_cast<double>(llm->kv_bytes_per_token->count) / rate : 0;
}

// The loader has checked that stages name Services of the scenario and follow each other.
void model_pipelines(const Scenario& scenario, const Catalogue& catalogue, World& world) {
  for (const Pipeline& pipeline : scenario.pipelines) {
    PipelineModel model;
    model.name = pipeline.name.value;
    model.spec = pipeline;
    model.limits = request_limits(pipeline.objectives);
    const StageGraph graph = graph_of(pipeline);
    std::vector<std::size_t> order;
    boost::topological_sort(graph, std::back_inserter(order));
    std::ranges::reverse(order);
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t n = 0; n < order.size(); ++n) place[order[n]] = n;
    for (const std::size_t stage : order) {
      PipelineModel::Stage resolved;
      resolved.workload = workload_called(world, pipeline.stages[stage].workload.value);
      resolved.inputs = static_cast<int>(pipeline.stages[stage].after.size());
      resolved.network = pipeline.stages[stage].network;
      resolved.kv_s_per_token =
          kv_s_per_token(pipeline.stages[stage], world, catalogue, resolved.workload);
      const auto [first, last] = boost::out_edges(stage, graph);
      for (auto edge = first; edge != last; ++edge) {
        resolved.next.push_back(place[boost::target(*edge, graph)]);
      }
      model.stages.push_back(std::move(resolved));
    }
    world.pipelines.push_back(std::move(model));
  }
}

void check_region(const Scenario& scenario, const Catalogue& catalogue, Diagnostics& found) {
  if (has_prices(catalogue, scenario.region)) return;
  found.push_back(unknown_region(scenario.region, scenario.region_where, catalogue));
}

void check_end(const Scenario& scenario, Diagnostics& found) {
  if (scenario.duration) return;
  const bool has_job = std::ranges::any_of(
      scenario.workloads, [](const auto& w) { return w.kind == WorkloadKind::Job; });
  if (has_job) return;
  add_diagnostic(found, Code::RunNeverEnds, scenario.where,
                 "there is no Job to wait for: a Deployment restarts what completes, a Service "
                 "serves for ever, people come back to their Notebooks",
                 "set spec.duration, for example `duration: 1h`");
}

void check_isolation(const World& world, Diagnostics& found) {
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    auto gap = isolation_gap(world, pool);
    if (!gap) continue;
    add_diagnostic(found, Code::IsolationTooWeak, world.isolation->where, std::move(*gap),
                   "cut the GPUs with MIG, give each its own node pool (taints, or nodeSelector "
                   "and labels), or leave the GPU unshared");
  }
}

// Gives every offered resource its id, in the order of the pools.
void name_resources(World& world) {
  for (PoolModel& pool : world.pools) {
    for (ResourceOffer& offer : pool.offers) {
      auto name = std::ranges::find(world.resources, offer.name);
      if (name == world.resources.end()) {
        world.resources.push_back(offer.name);
        name = world.resources.end() - 1;
      }
      offer.id = make_id<ResourceId>(static_cast<std::size_t>(name - world.resources.begin()));
    }
  }
}

// A pool is simulated request by request when a service or notebooks may land on it: steady state
// says nothing about the latency of one request or cell, nor about neighbours of a process that
// waits for those on other GPUs.
void choose_engines(World& world) {
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    world.pools[pool].exact =
        world.fidelity == scenarios::Fidelity::Exact ||
        std::ranges::any_of(world.workloads, [&](const WorkloadModel& w) {
          const PoolDemand& demand = w.on_pool[pool];
          return demand.schedulable &&
                 (!scenarios::runs_batches(w.spec.kind) || demand.shares_several);
        });
  }
}

// Pools that a study has put in the place of others have no limit together.
void add_node_limits(const Scenario& scenario, const Catalogue& catalogue, World& world) {
  for (const scenarios::NodeLimit& limit : scenario.provisioner.limits) {
    const auto add = [&](std::int64_t most, auto each_of) {
      SharedLimit shared;
      shared.most = most;
      for (const PoolModel& pool : world.pools) {
        const bool shares = std::ranges::any_of(
            limit.pools, [&](const auto& name) { return name.value == pool.name; });
        shared.each.push_back(shares ? each_of(pool) : 0);
      }
      world.node_limits.push_back(std::move(shared));
    };
    if (limit.nodes) add(*limit.nodes, [](const PoolModel&) { return std::int64_t{1}; });
    if (limit.gpus) {
      add(*limit.gpus, [](const PoolModel& pool) { return std::int64_t{pool.gpus_per_node}; });
    }
    if (limit.cpu) {
      add(limit.cpu->count, [](const PoolModel& pool) { return std::int64_t{pool.vcpus} * 1'000; });
    }
    if (limit.memory) {
      add(limit.memory->count, [&](const PoolModel& pool) {
        return catalogue.find_instance(pool.instance_type)->memory.count;
      });
    }
  }
}

}  // namespace

UsdPerHour control_plane_fee(scenarios::ControlPlane plane) {
  switch (plane) {
    case scenarios::ControlPlane::None:
      return {};
    case scenarios::ControlPlane::Standard:
      return models::kControlPlane;
    case scenarios::ControlPlane::Extended:
      return models::kControlPlaneInExtendedSupport;
  }
  return {};
}

Expected<World> build_world(const Scenario& scenario, const Catalogue& catalogue,
                            UnknownInputs unknown) {
  Diagnostics found;
  check_region(scenario, catalogue, found);
  check_planning(scenario, catalogue, found);
  World world;
  world.name = scenario.name;
  world.description = scenario.description;
  world.swept_value = scenario.swept_value;
  world.duration = scenario.duration;
  world.warmup = scenario.warmup;
  world.seed = scenario.seed;
  world.replications = scenario.replications;
  world.allow_pending = scenario.allow_pending;
  world.starts_at = scenario.start();
  world.fidelity = scenario.fidelity;
  world.score_policy = scenario.score_policy;
  world.placement = node_policy_named(scenario.placement);
  world.pod_queue = scenario.pod_queue;
  world.cost_split = scenario.cost_split;
  world.control_plane = control_plane_fee(scenario.control_plane);
  world.isolation = scenario.isolation;
  world.policies = scenario.policies;
  world.provisioner = scenario.provisioner;
  for (const NodePool& pool : scenario.node_pools) {
    if (auto model = model_pool(scenario, pool, catalogue, found)) {
      world.pools.push_back(std::move(*model));
    }
  }
  add_node_limits(scenario, catalogue, world);
  name_resources(world);
  model_workloads(scenario, catalogue, world, found);
  check_end(scenario, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));
  model_quotas(scenario, world, found);
  model_starts(world, found);
  check_isolation(world, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));
  model_pipelines(scenario, catalogue, world);
  model_prompts(world, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));
  model_traces(world, found);
  world.findings = std::move(found);
  choose_engines(world);
  count_provenance(scenario, catalogue, unknown, world);
  note_sleep(world);
  return world;
}

}  // namespace slicewise::sim
