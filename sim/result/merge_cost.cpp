#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

using scenarios::WorkloadKind;

CostLedger replication_cost(const Replication& replication) {
  CostLedger sum;
  for (const NodeRecord& node : replication.nodes) sum += node.cost;
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

// Of all replications together.
CostLedger whole_bill(std::span<const Replication> replications) {
  CostLedger sum;
  for (const Replication& r : replications) sum += replication_cost(r);
  return sum;
}

// What a month of runs like these costs.
Usd monthly_bill(std::span<const Replication> replications) {
  Int128 length_ns = 0;
  for (const Replication& r : replications) length_ns += r.length.ns;
  if (length_ns == 0) return {};
  const Int128 bill = whole_bill(replications).total.nano;
  return Usd{static_cast<std::int64_t>(bill * kMonth.ns / length_ns)};
}

}  // namespace

Usd monthly_cost(const World& world, std::span<const Replication> replications) {
  if (world.changes_nodes()) return monthly_bill(replications);
  Usd price;
  for (const PoolModel& pool : world.pools) {
    price += Usd{pool.price.usd.per_hour.nano * pool.nodes * (kMonth.ns / hours(1).ns)};
  }
  return price;
}

Cost cost_result(const World& world, std::span<const Replication> replications) {
  Cost cost;
  const CostLedger sum = whole_bill(replications);
  std::int64_t jobs = 0;
  std::int64_t in_slo = 0;
  for (const Replication& r : replications) {
    jobs += jobs_done(world, r);
    in_slo += requests_in_slo(world, r);
  }
  cost.ledger = mean_of(sum, static_cast<std::int64_t>(replications.size()));
  if (jobs > 0) cost.per_job = Usd{sum.total.nano / jobs};
  if (in_slo > 0) {
    cost.per_1k_requests_in_slo =
        Usd{static_cast<std::int64_t>(static_cast<Int128>(sum.total.nano) * 1000 / in_slo)};
  }
  cost.monthly = monthly_cost(world, replications);
  return cost;
}

}  // namespace slicewise::sim
