#include <algorithm>
#include <numeric>

#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

CostLedger replication_cost(const Replication& replication) {
  CostLedger sum;
  for (const NodeRecord& node : replication.nodes) sum += node.cost;
  return sum;
}

template <class Count>
std::int64_t sum_over(std::span<const Replication> replications, const Count& count) {
  std::int64_t sum = 0;
  for (const Replication& r : replications) sum += count(r);
  return sum;
}

std::int64_t jobs_done(std::size_t workload, std::span<const Replication> replications) {
  return sum_over(replications,
                  [&](const Replication& r) { return r.workloads[workload].jobs_done; });
}

std::int64_t requests_in_slo(std::size_t workload, std::span<const Replication> replications) {
  return sum_over(replications,
                  [&](const Replication& r) { return r.workloads[workload].units_in_objective; });
}

std::int64_t flows_in_slo(std::size_t pipeline, std::span<const Replication> replications) {
  return sum_over(replications,
                  [&](const Replication& r) { return r.pipelines[pipeline].units_in_objective; });
}

// Of one, of so many; nullopt of none, and of a bill that nobody knows.
std::optional<Usd> unit_price(std::optional<Usd> bill, std::int64_t units, std::int64_t of = 1) {
  if (!bill || units <= 0) return std::nullopt;
  return Usd{static_cast<std::int64_t>(static_cast<Int128>(bill->nano) * of / units)};
}

Usd scaled(Usd amount, Usd part, Usd whole) {
  if (whole.nano <= 0) return {};
  return {static_cast<std::int64_t>(static_cast<Int128>(amount.nano) * part.nano / whole.nano)};
}

Usd sum_of(const std::vector<Usd>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), Usd{});
}

// For who pays `paid` of what all pay together; nullopt: nobody pays.
std::optional<Usd> part_of_amount(Usd amount, Usd paid, Usd all) {
  if (all.nano <= 0 && amount.nano > 0) return std::nullopt;
  return scaled(amount, paid, all);
}

// Of all replications together.
CostLedger bill_of_nodes(std::span<const Replication> replications) {
  CostLedger sum;
  for (const Replication& r : replications) sum += replication_cost(r);
  return sum;
}

CostLedger whole_bill(const World& world, std::span<const Replication> replications) {
  CostLedger sum = bill_of_nodes(replications);
  for (const Replication& r : replications) {
    const Usd fee = cost_of(world.control_plane, r.length);
    sum.control_plane += fee;
    sum.total += fee;
  }
  return sum;
}

// What a month of runs like these costs.
Usd monthly_bill(std::span<const Replication> replications) {
  Int128 length_ns = 0;
  for (const Replication& r : replications) length_ns += r.length.ns;
  if (length_ns == 0) return {};
  const Int128 bill = bill_of_nodes(replications).total.nano;
  return Usd{static_cast<std::int64_t>(bill * kMonth.ns / length_ns)};
}

// Nodes x price x kMonth; where nodes come and go, the bill of the run x kMonth.
Usd monthly_cost(const World& world, std::span<const Replication> replications) {
  if (world.changes_nodes()) return monthly_bill(replications);
  Usd price;
  for (const PoolModel& pool : world.pools) {
    price += Usd{pool.price.usd.per_hour.nano * pool.nodes * (kMonth.ns / hours(1).ns)};
  }
  return price;
}

}  // namespace

WorkloadBills::WorkloadBills(const World& world, std::span<const Replication> replications)
    : replications_(static_cast<std::int64_t>(replications.size())),
      held_(world.workloads.size()),
      paid_(world.workloads.size()),
      paid_observed_(world.workloads.size()) {
  for (const Replication& r : replications) {
    for (const NodeRecord& node : r.nodes) {
      whole_ += node.cost.total;
      observed_ += node.observed;
      switching_ += node.switching;
    }
    for (std::size_t w = 0; w < held_.size(); ++w) {
      held_[w] += r.workloads[w].held;
      paid_[w] += r.workloads[w].held + r.workloads[w].shared;
      paid_observed_[w] += r.workloads[w].observed;
    }
  }
}

Usd WorkloadBills::idle() const {
  Usd rest = Usd{whole_.nano / replications_} - switching();
  for (const Usd held : held_) rest = rest - Usd{held.nano / replications_};
  return rest;
}

// What nodes cost on which no pod ever was, and what rounding left, is for all. Rounded so that the
// parts add up.
std::vector<BillPart> WorkloadBills::parts() const {
  const Usd all = sum_of(paid_);
  Usd rest{whole_.nano / replications_};
  for (const Usd paid : paid_) rest = rest - Usd{paid.nano / replications_};
  std::vector<BillPart> parts(held_.size());
  Usd before;
  for (std::size_t w = 0; w < parts.size(); ++w) {
    const Usd until = before + paid_[w];
    parts[w].held = {held_[w].nano / replications_};
    parts[w].total =
        Usd{paid_[w].nano / replications_} + scaled(rest, until, all) - scaled(rest, before, all);
    parts[w].shared = parts[w].total - parts[w].held;
    before = until;
  }
  return parts;
}

std::optional<Usd> WorkloadBills::of(std::size_t w, Usd amount) const {
  return part_of_amount(amount, paid_[w], sum_of(paid_));
}

std::optional<Usd> WorkloadBills::observed(std::size_t w) const {
  return observed(std::span(&w, 1));
}

std::optional<Usd> WorkloadBills::observed(std::span<const std::size_t> workloads) const {
  Usd paid;
  for (const std::size_t w : workloads) paid += paid_observed_[w];
  return part_of_amount(observed_, paid, sum_of(paid_observed_));
}

namespace {

// What a pipeline's requests cost: of each of its Services as much as are its own requests there.
std::optional<Usd> bill_of_stages(const World& world, const WorkloadBills& bills, std::size_t p,
                                  std::span<const Replication> replications) {
  Usd bill;
  for (const PipelineModel::Stage& stage : world.pipelines[p].stages) {
    std::int64_t own = 0;
    std::int64_t all = 0;
    for (const Replication& r : replications) {
      own += r.pipelines[p].requests.arrived;
      all += r.workloads[index(stage.workload)].requests.arrived;
    }
    const std::optional<Usd> observed = bills.observed(index(stage.workload));
    if (!observed) return std::nullopt;
    bill += scaled(*observed, Usd{std::min(own, all)}, Usd{all});
  }
  return bill;
}

void price_workload(const World& world, const WorkloadBills& bills, std::size_t w,
                    std::span<const Replication> replications, BillPart bill,
                    WorkloadResult& result) {
  const std::optional<Usd> whole = bills.of(w, bills.whole());
  if (scenarios::runs_batches(world.workloads[w].spec.kind)) {
    bill.per_job = unit_price(whole, jobs_done(w, replications));
  }
  if (result.requests) {
    bill.after_warmup = Usd{bills.observed(w).value_or(Usd{}).nano /
                            static_cast<std::int64_t>(replications.size())};
    bill.per_1k_requests_in_slo =
        unit_price(bills.observed(w), requests_in_slo(w, replications), 1000);
  }
  std::int64_t busy_ns = 0;
  std::int64_t tokens = 0;
  for (const Replication& r : replications) {
    busy_ns += r.workloads[w].gpu_busy.ns;
    tokens += r.workloads[w].tokens.output;
  }
  // Work of the host alone has a nanosecond of the GPU for each unit.
  if (busy_ns >= milliseconds(1).ns) bill.per_gpu_hour = unit_price(whole, busy_ns, hours(1).ns);
  if (result.tokens) {
    result.tokens->per_million_output = unit_price(bills.observed(w), tokens, 1'000'000);
  }
  if (result.notebooks) {
    const double users = mean_over(
        replications, [&](const Replication& r) { return r.workloads[w].notebooks.active_users; });
    const std::optional<Usd> month = bills.of(w, monthly_cost(world, replications));
    if (users > 0 && month) {
      result.notebooks->per_active_user_month =
          Usd{static_cast<std::int64_t>(static_cast<double>(month->nano) / users)};
    }
  }
  result.bill = bill;
}

}  // namespace

void price_workloads(const World& world, std::span<const Replication> replications,
                     VariantResult& result) {
  const WorkloadBills bills(world, replications);
  const std::vector<BillPart> parts = bills.parts();
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    price_workload(world, bills, w, replications, parts[w], result.workloads[w]);
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
  // Where Jobs end, a pass of work without end is none of them.
  const bool has_jobs = std::ranges::any_of(world.workloads, [](const WorkloadModel& workload) {
    return workload.spec.kind == WorkloadKind::Job && workload.spec.count > 0;
  });
  Usd bill_of_jobs;
  std::vector<std::size_t> services;
  bool known = true;  // whom the bill is for
  std::int64_t jobs = 0;
  std::int64_t in_slo = 0;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const Workload& spec = world.workloads[w].spec;
    if (scenarios::runs_batches(spec.kind)) {
      if (has_jobs && spec.kind != WorkloadKind::Job) continue;
      const std::optional<Usd> bill = bills.of(w, bills.whole());
      known &= bill.has_value();
      bill_of_jobs += bill.value_or(Usd{});
      jobs += jobs_done(w, replications);
    } else if (spec.kind == WorkloadKind::Service) {
      services.push_back(w);
      if (spec.traffic) in_slo += requests_in_slo(w, replications);
    }
  }
  for (std::size_t p = 0; p < world.pipelines.size(); ++p) in_slo += flows_in_slo(p, replications);
  cost.ledger =
      mean_of(whole_bill(world, replications), static_cast<std::int64_t>(replications.size()));
  cost.split.rule = scenarios::split_name(world.cost_split);
  cost.split.idle = bills.idle();
  cost.split.switching = bills.switching();
  if (known) {
    cost.per_job = unit_price(bill_of_jobs, jobs);
    cost.per_1k_requests_in_slo = unit_price(bills.observed(services), in_slo, 1000);
  }
  cost.monthly = monthly_cost(world, replications);
  cost.control_plane_monthly = cost_of(world.control_plane, kMonth);
  return cost;
}

}  // namespace slicewise::sim
