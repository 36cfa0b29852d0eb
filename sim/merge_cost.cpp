#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using scenarios::WorkloadKind;

CostLedger replication_cost(const World& world, const Replication& replication) {
  CostLedger sum;
  std::size_t position = 0;
  std::vector<GpuShareOfTime> shares;
  for (const PoolModel& pool : world.pools) {
    for (int node = 0; node < pool.nodes; ++node) {
      shares.clear();
      for (const NodeLayout& layout : pool.layouts) {
        for (const NodeLayout::Domain& domain : layout.domains) {
          const double of_node = pool.kinds[domain.kind].time_share / pool.gpus_per_node;
          shares.push_back({replication.domains[position++].time, of_node});
        }
      }
      sum += node_cost(pool.price.usd, replication.length, shares);
    }
  }
  return sum;
}

// Jobs, container runs of Deployments.
std::int64_t jobs_done(const World& world, const Replication& replication) {
  std::int64_t jobs = 0;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const WorkloadKind kind = world.workloads[w].spec.kind;
    const bool batch = kind == WorkloadKind::Job || kind == WorkloadKind::Deployment;
    jobs += batch ? replication.workloads[w].jobs_done : 0;
  }
  return jobs;
}

// As users count them: a request of a pipeline once, whatever the number of its stages.
std::int64_t requests_in_slo(const World& world, const Replication& replication) {
  std::int64_t requests = 0;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    if (!world.workloads[w].spec.traffic) continue;
    requests += replication.workloads[w].requests.in_objectives;
  }
  for (const PipelineRecord& pipeline : replication.pipelines) {
    requests += pipeline.requests.in_objectives;
  }
  return requests;
}

}  // namespace

Usd monthly_price(const World& world) {
  Usd price;
  for (const PoolModel& pool : world.pools) {
    price += Usd{pool.price.usd.per_hour.nano * pool.nodes * (kMonth.ns / hours(1).ns)};
  }
  return price;
}

Cost cost_result(const World& world, std::span<const Replication> replications) {
  Cost cost;
  CostLedger sum;
  std::int64_t jobs = 0;
  std::int64_t in_slo = 0;
  for (const Replication& r : replications) {
    sum += replication_cost(world, r);
    jobs += jobs_done(world, r);
    in_slo += requests_in_slo(world, r);
  }
  cost.ledger = mean_of(sum, static_cast<std::int64_t>(replications.size()));
  if (jobs > 0) cost.per_job = Usd{sum.total.nano / jobs};
  if (in_slo > 0) {
    cost.per_1k_requests_in_slo =
        Usd{static_cast<std::int64_t>(static_cast<Int128>(sum.total.nano) * 1000 / in_slo)};
  }
  cost.monthly = monthly_price(world);
  return cost;
}

}  // namespace slicewise::sim
