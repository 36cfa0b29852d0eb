#include <algorithm>

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

std::int64_t jobs_done(std::size_t workload, std::span<const Replication> replications) {
  std::int64_t jobs = 0;
  for (const Replication& r : replications) jobs += r.workloads[workload].jobs_done;
  return jobs;
}

std::int64_t requests_in_slo(std::size_t workload, std::span<const Replication> replications) {
  std::int64_t requests = 0;
  for (const Replication& r : replications) {
    requests += r.workloads[workload].requests.in_objectives;
  }
  return requests;
}

std::int64_t flows_in_slo(std::size_t pipeline, std::span<const Replication> replications) {
  std::int64_t requests = 0;
  for (const Replication& r : replications) {
    requests += r.pipelines[pipeline].requests.in_objectives;
  }
  return requests;
}

// Of one, of so many; nullopt of none.
std::optional<Usd> unit_price(Usd bill, std::int64_t units, std::int64_t of = 1) {
  if (units <= 0) return std::nullopt;
  return Usd{static_cast<std::int64_t>(static_cast<Int128>(bill.nano) * of / units)};
}

Usd scaled(Usd amount, Usd part, Usd whole) {
  if (whole.nano <= 0) return {};
  return {static_cast<std::int64_t>(static_cast<Int128>(amount.nano) * part.nano / whole.nano)};
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

WorkloadBills::WorkloadBills(const World& world, std::span<const Replication> replications)
    : replications_(static_cast<std::int64_t>(replications.size())),
      held_(world.workloads.size()),
      held_observed_(world.workloads.size()) {
  for (const Replication& r : replications) {
    for (const NodeRecord& node : r.nodes) {
      whole_ += node.cost.total;
      observed_ += node.observed;
      switching_ += node.switching;
    }
    for (std::size_t w = 0; w < held_.size(); ++w) {
      held_[w] += r.workloads[w].held;
      held_observed_[w] += r.workloads[w].held_observed;
    }
  }
  for (std::size_t w = 0; w < held_.size(); ++w) {
    before_.push_back(all_held_);
    all_held_ += held_[w];
    all_held_observed_ += held_observed_[w];
  }
}

// Of the mean of a replication, what is left when each workload has paid what it holds.
Usd WorkloadBills::overhead() const {
  Usd rest{whole_.nano / replications_};
  for (const Usd held : held_) rest = rest - Usd{held.nano / replications_};
  return rest;
}

Usd WorkloadBills::idle() const { return overhead() - switching(); }

// Rounded so that the parts add up.
BillPart WorkloadBills::part(std::size_t w) const {
  BillPart part;
  part.held = {held_[w].nano / replications_};
  if (all_held_.nano > 0) {
    part.shared = scaled(overhead(), before_[w] + held_[w], all_held_) -
                  scaled(overhead(), before_[w], all_held_);
  }
  part.total = part.held + part.shared;
  return part;
}

Usd WorkloadBills::of(std::size_t w, Usd amount) const {
  return scaled(amount, held_[w], all_held_);
}

Usd WorkloadBills::observed(std::size_t w) const {
  return scaled(observed_, held_observed_[w], all_held_observed_);
}

namespace {

// What a pipeline's requests cost: of each of its Services as much as are its own requests there.
Usd bill_of_stages(const World& world, const WorkloadBills& bills, std::size_t p,
                   std::span<const Replication> replications) {
  Usd bill;
  for (const PipelineModel::Stage& stage : world.pipelines[p].stages) {
    std::int64_t own = 0;
    std::int64_t all = 0;
    for (const Replication& r : replications) {
      own += r.pipelines[p].requests.arrived;
      all += r.workloads[index(stage.workload)].requests.arrived;
    }
    bill += scaled(bills.observed(index(stage.workload)), Usd{std::min(own, all)}, Usd{all});
  }
  return bill;
}

void price_workload(const World& world, const WorkloadBills& bills, std::size_t w,
                    std::span<const Replication> replications, WorkloadResult& result) {
  BillPart bill = bills.part(w);
  const Usd whole = bills.of(w, bills.whole());
  if (scenarios::runs_batches(world.workloads[w].spec.kind)) {
    bill.per_job = unit_price(whole, jobs_done(w, replications));
  }
  if (result.requests) {
    bill.per_1k_requests_in_slo =
        unit_price(bills.observed(w), requests_in_slo(w, replications), 1000);
  }
  std::int64_t busy_ns = 0;
  std::int64_t tokens = 0;
  for (const Replication& r : replications) {
    busy_ns += r.workloads[w].gpu_busy.ns;
    tokens += r.workloads[w].tokens.output;
  }
  bill.per_gpu_hour = unit_price(whole, busy_ns, hours(1).ns);
  if (result.tokens) {
    result.tokens->per_million_output = unit_price(bills.observed(w), tokens, 1'000'000);
  }
  if (result.notebooks) {
    const double users = mean_over(
        replications, [&](const Replication& r) { return r.workloads[w].notebooks.active_users; });
    const Usd month = bills.of(w, monthly_cost(world, replications));
    if (users > 0) {
      result.notebooks->per_active_user_month =
          Usd{static_cast<std::int64_t>(static_cast<double>(month.nano) / users)};
    }
  }
  result.bill = bill;
}

}  // namespace

void price_workloads(const World& world, std::span<const Replication> replications,
                     VariantResult& result) {
  const WorkloadBills bills(world, replications);
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    price_workload(world, bills, w, replications, result.workloads[w]);
  }
  for (std::size_t p = 0; p < world.pipelines.size(); ++p) {
    result.workloads[world.workloads.size() + p].bill.emplace().per_1k_requests_in_slo = unit_price(
        bill_of_stages(world, bills, p, replications), flows_in_slo(p, replications), 1000);
  }
}

Cost cost_result(const World& world, std::span<const Replication> replications) {
  Cost cost;
  const WorkloadBills bills(world, replications);
  // As users count them: a request of a pipeline once, whatever the number of its stages.
  Usd bill_of_jobs;
  Usd bill_of_requests;
  std::int64_t jobs = 0;
  std::int64_t in_slo = 0;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const scenarios::Workload& spec = world.workloads[w].spec;
    if (scenarios::runs_batches(spec.kind)) {
      bill_of_jobs += bills.of(w, bills.whole());
      jobs += jobs_done(w, replications);
    } else if (spec.kind == WorkloadKind::Service) {
      bill_of_requests += bills.observed(w);
      if (spec.traffic) in_slo += requests_in_slo(w, replications);
    }
  }
  for (std::size_t p = 0; p < world.pipelines.size(); ++p) in_slo += flows_in_slo(p, replications);
  cost.ledger = mean_of(whole_bill(replications), static_cast<std::int64_t>(replications.size()));
  cost.split.rule = scenarios::split_name(world.cost_split);
  cost.split.idle = bills.idle();
  cost.split.switching = bills.switching();
  cost.per_job = unit_price(bill_of_jobs, jobs);
  cost.per_1k_requests_in_slo = unit_price(bill_of_requests, in_slo, 1000);
  cost.monthly = monthly_cost(world, replications);
  return cost;
}

}  // namespace slicewise::sim
