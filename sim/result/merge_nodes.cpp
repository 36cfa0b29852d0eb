#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../world/starting_tickets.hpp"
#include "merge.hpp"

namespace slicewise::sim {
namespace {

// A place for a node, and the records of it.
struct NodePlace {
  std::span<const Replication> replications;
  std::size_t node = 0;
  bool comes_and_goes = false;

  // Part of the run that a node was there.
  double up_ratio() const {
    if (!comes_and_goes) return 1;
    return mean_over(replications,
                     [&](const Replication& r) { return ratio(r.nodes[node].up, r.length); });
  }

  // Part of the run; where nodes come and go, of the time that one was there.
  template <class Get>
  double share_of_time(Get time_of) const {
    if (!comes_and_goes) {
      return mean_over(replications,
                       [&](const Replication& r) { return ratio(time_of(r), r.length); });
    }
    const double up =
        mean_over(replications, [&](const Replication& r) { return to_seconds(r.nodes[node].up); });
    if (up <= 0) return 0;
    return mean_over(replications, [&](const Replication& r) { return to_seconds(time_of(r)); }) /
           up;
  }
};

// Figures of the domain that stands at `position` in the records.
GpuResult gpu_result(const DomainKind& kind, const NodePlace& place, std::size_t position) {
  const std::span<const Replication> replications = place.replications;
  GpuResult gpu;
  const auto mean = [&](auto time_of) {
    return place.share_of_time(
        [&](const Replication& r) { return time_of(r.domains[position].time); });
  };
  gpu.partition = kind.partition;
  gpu.gpu_share = kind.time_share;
  gpu.up_ratio = place.up_ratio();
  gpu.memory_total = kind.memory;
  gpu.time_busy_ratio = mean([](const DomainTime& t) { return t.busy(); });
  gpu.context_switch_ratio = mean([](const DomainTime& t) { return t.switching; });
  if (std::ranges::all_of(
          replications, [&](const Replication& r) { return r.domains[position].time.sm_known; })) {
    gpu.sm_active_ratio = mean([](const DomainTime& t) { return t.sm_active; });
  }
  for (const Replication& r : replications) {
    const DomainRecord& domain = r.domains[position];
    gpu.memory_peak = std::max(gpu.memory_peak, domain.memory_peak);
    const Duration time = place.comes_and_goes ? r.nodes[place.node].up : r.length;
    gpu.time_busy_most = std::max(gpu.time_busy_most, ratio(domain.time.busy(), time));
  }
  return gpu;
}

// One row for each domain of the node, under every layout that it has in the run.
void add_gpus(const World& world, const PoolModel& pool, const std::string& node,
              const NodePlace& place, std::size_t position, VariantResult& result) {
  for (const NodeLayout& layout : pool.layouts) {
    std::vector<int> instances(static_cast<std::size_t>(pool.gpus_per_node), 0);
    for (const NodeLayout::Domain& domain : layout.domains) {
      GpuResult gpu = gpu_result(pool.kinds[domain.kind], place, position);
      gpu.pods = pods_at_fullest(world, place.replications.front().domains[position++]);
      const bool was_there = domain.at_start || gpu.time_busy_most > 0 || gpu.memory_peak.count > 0;
      if (!was_there) continue;  // nos could have made it
      gpu.node = node;
      gpu.index = domain.gpu;
      gpu.model = pool.gpu->name;
      gpu.instance = instances[static_cast<std::size_t>(domain.gpu)]++;
      result.gpus.push_back(std::move(gpu));
    }
  }
}

}  // namespace

void add_nodes(const World& world, std::span<const Replication> replications,
               VariantResult& result) {
  std::size_t position = 0;
  std::size_t n = 0;
  for (const PoolModel& pool : world.pools) {
    for (int node = 0; node < pool.node_slots(); ++node, ++n) {
      const NodePlace place{replications, n, pool.changes_nodes()};
      const bool used =
          !place.comes_and_goes || std::ranges::any_of(replications, [&](const Replication& r) {
            return r.nodes[n].up > Duration{};
          });
      if (used) {
        const std::string name = fmt::format("{}-{}", pool.name, node + 1);
        const double cpu =
            place.share_of_time([&](const Replication& r) { return r.nodes[n].cpu_time; });
        result.nodes.push_back({name, pool.name, cpu / pool.vcpus});
        add_gpus(world, pool, name, place, position, result);
      }
      for (const NodeLayout& layout : pool.layouts) position += layout.domains.size();
    }
  }
}

double mean_over_gpus(const VariantResult& variant, double GpuResult::*ratio) {
  double sum = 0;
  std::map<std::pair<std::string, int>, double> up;  // an instance is part of a GPU
  for (const GpuResult& gpu : variant.gpus) {
    sum += gpu.*ratio * gpu.gpu_share * gpu.up_ratio;
    up[{gpu.node, gpu.index}] = gpu.up_ratio;
  }
  double gpus = 0;
  for (const auto& [gpu, there] : up) gpus += there;
  return gpus == 0 ? 0 : sum / gpus;
}

double gpu_busy_ratio(const VariantResult& result) {
  return mean_over_gpus(result, &GpuResult::time_busy_ratio);
}

namespace {

// As scenarios spell it.
std::string_view policy_word(models::Vgpu::Policy policy) {
  switch (policy) {
    case models::Vgpu::Policy::BestEffort:
      return "bestEffort";
    case models::Vgpu::Policy::EqualShare:
      return "equalShare";
    case models::Vgpu::Policy::FixedShare:
      return "fixedShare";
  }
  return "bestEffort";
}

int most_nodes(const PoolModel& pool) { return pool.most_nodes.value_or(pool.nodes); }

void describe_sharing(const PoolModel& pool, NodePoolResult& result) {
  for (const DomainKind& kind : pool.kinds) {
    const auto turns = [&](const models::TimeSlice& slice) {
      result.turn = slice.turn;
      result.switch_cost = slice.switch_cost;
    };
    std::visit(models::Overloaded{
                   [](const models::Exclusive&) {},
                   [&](const models::TimeSlicing& slicing) { turns(slicing.slice); },
                   [&](const models::Mps& mps) {
                     // The smallest, where MIG instances of several sizes are shared.
                     result.active_threads =
                         std::min(result.active_threads.value_or(1), mps.active_threads);
                     if (!result.memory_limit ||
                         (mps.memory_limit && *mps.memory_limit < *result.memory_limit)) {
                       result.memory_limit = mps.memory_limit;
                     }
                   },
                   [&](const models::Vgpu& vgpu) {
                     turns(vgpu.slice);
                     result.vgpu_policy = policy_word(vgpu.policy);
                     result.vgpus_per_gpu = vgpu.per_gpu;
                   },
               },
               kind.sharing);
  }
}

void describe_partitions(const PoolModel& pool, NodePoolResult& result) {
  const NodeLayout& layout = pool.layouts.front();
  if (layout.name.empty()) return;
  result.mig_config = layout.name;
  double compute = 0;
  for (const NodeLayout::Domain& domain : layout.domains) {
    if (!domain.at_start) continue;
    const DomainKind& kind = pool.kinds[domain.kind];
    compute += kind.share.compute;
    if (!kind.partition.empty()) result.instances[kind.partition] += most_nodes(pool);
  }
  result.sms_unused_ratio = std::max(0.0, 1 - compute / pool.healthy_gpus());
}

}  // namespace

NodePoolResult pool_result(const PoolModel& pool) {
  NodePoolResult result;
  result.name = pool.name;
  result.instance_type = pool.instance_type;
  result.gpu_model = pool.gpu->name;
  result.region = pool.region;
  result.purchase_option = pool.purchase_option;
  result.price_plan = pool.price_plan;
  result.strategy = strategy_name(pool.strategy);
  result.nodes = most_nodes(pool);
  result.gpus_per_node = pool.gpus_per_node;
  result.unhealthy_gpus = pool.unhealthy_gpus;
  if (pool.spot) {
    result.spot = SpotRisk{pool.spot->interruptions.per_second * to_seconds(hours(1'000)),
                           pool.spot->source, pool.spot->fallback.has_value()};
  }
  result.price = pool.price.usd;
  result.price_source = pool.price.source.text;
  describe_sharing(pool, result);
  describe_partitions(pool, result);
  if (pool.books) {
    const bool is_hami = pool.books->keeper == GpuBooks::Keeper::Hami;
    result.advertised[std::string(scenarios::kGpuResource)] =
        result.nodes * std::ssize(pool.layouts.front().domains) * (is_hami ? pool.books->pods : 1);
  }
  const bool by_name = !pool.dra && !pool.books;
  for (std::size_t offer = 0; offer < pool.offers.size() && by_name; ++offer) {
    result.advertised[pool.offers[offer].name] = result.nodes * tickets_at_start(pool, offer);
  }
  for (const scenarios::DaemonSet& daemon : pool.daemon_sets) {
    result.daemon_sets.push_back(
        {daemon.name, static_cast<double>(daemon.cpu_request.count) / 1000, daemon.memory_request});
  }
  return result;
}

namespace {

// Time that nodes of the pool ran, all of them together.
double node_seconds(const World& world, std::size_t pool, const Replication& replication) {
  std::size_t first = 0;
  for (std::size_t p = 0; p < pool; ++p) {
    first += static_cast<std::size_t>(world.pools[p].node_slots());
  }
  double sum = 0;
  for (int n = 0; n < world.pools[pool].node_slots(); ++n) {
    sum += to_seconds(replication.nodes[first + static_cast<std::size_t>(n)].up);
  }
  return sum;
}

}  // namespace

std::optional<NodeDynamics> node_dynamics(const World& world, std::size_t p,
                                          std::span<const Replication> replications) {
  const PoolModel& pool = world.pools[p];
  if (!pool.changes_nodes()) return std::nullopt;
  constexpr double kHour = 3600;
  NodeDynamics dynamics;
  dynamics.provisioner = scenarios::provisioner_name(world.provisioner.kind);
  if (pool.most_nodes) {
    dynamics.least = pool.nodes;
    dynamics.most = pool.most_nodes;
  } else {
    dynamics.provisioner =
        scenarios::provisioner_name(scenarios::Provisioner::Kind::ManagedNodeGroup);
  }
  const auto mean = [&](std::int64_t PoolRecord::*count) {
    return mean_over(replications, [&](const Replication& r) { return r.pools[p].*count; });
  };
  dynamics.launches = mean(&PoolRecord::launches);
  dynamics.surplus = mean(&PoolRecord::surplus);
  dynamics.removed = mean(&PoolRecord::removed);
  dynamics.interruptions = mean(&PoolRecord::interruptions);
  dynamics.on_demand_nodes = mean(&PoolRecord::on_demand);
  dynamics.thrash_node_hours =
      mean_over(replications, [&](const Replication& r) { return to_seconds(r.pools[p].thrash); }) /
      kHour;
  dynamics.node_hours =
      mean_over(replications, [&](const Replication& r) { return node_seconds(world, p, r); }) /
      kHour;
  dynamics.mean_nodes = mean_over(replications, [&](const Replication& r) {
    return node_seconds(world, p, r) / std::max(1e-9, to_seconds(r.length));
  });
  for (const Replication& r : replications) {
    dynamics.max_nodes = std::max(dynamics.max_nodes, r.pools[p].most);
  }
  return dynamics;
}

std::optional<NodeStartUpFigures> node_start_up(std::span<const Replication> replications) {
  NodeStartUpFigures figures;
  std::int64_t pods = 0;
  std::vector<std::vector<Duration>> totals;
  for (const Replication& r : replications) {
    pods += r.start_up.pods;
    totals.push_back(r.start_up.total);
  }
  const auto total = summarize(totals);
  if (pods == 0 || !total) return std::nullopt;
  const auto mean = [&](Duration StartUpRecord::*stage) {
    Int128 sum_ns = 0;
    for (const Replication& r : replications) sum_ns += (r.start_up.*stage).ns;
    return nanoseconds(static_cast<std::int64_t>(sum_ns / pods));
  };
  figures.pods = static_cast<double>(pods) / static_cast<double>(replications.size());
  figures.decision = mean(&StartUpRecord::decision);
  figures.launch = mean(&StartUpRecord::launch);
  figures.ready = mean(&StartUpRecord::ready);
  figures.gpu_allocatable = mean(&StartUpRecord::gpu_allocatable);
  figures.scheduling = mean(&StartUpRecord::scheduling);
  figures.image_pull = mean(&StartUpRecord::image_pull);
  figures.model_load = mean(&StartUpRecord::model_load);
  figures.total = *total;
  return figures;
}

}  // namespace slicewise::sim
