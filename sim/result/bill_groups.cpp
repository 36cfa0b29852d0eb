#include "slicewise/sim/bill_groups.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace slicewise::sim {
namespace {

constexpr std::string_view kLabel = "label:";

std::string label_of(const WorkloadResult& workload, std::string_view label) {
  const auto found = workload.labels.find(std::string(label));
  return found == workload.labels.end() ? "" : found->second;
}

std::string group_of(const WorkloadResult& workload, std::string_view by) {
  if (by == "namespace") return workload.namespace_name;
  if (by == "user") return label_of(workload, kUserLabel);
  if (by.starts_with(kLabel)) return label_of(workload, by.substr(kLabel.size()));
  return workload.name;
}

// Pipelines pay nothing: the Services of their stages do.
bool pays(const WorkloadResult& workload) {
  return workload.bill.has_value() && workload.kind != "Pipeline";
}

std::optional<Usd> unit_price(Usd bill, double units) {
  return units > 0 ? std::optional(from_dollars(to_dollars(bill) / units)) : std::nullopt;
}

// A group pays for what finished nothing as well: its price is what it pays for such workloads /
// all that they did. A request of a pipeline is counted in each of its stages: no price of several.
BillPart bill_of(const VariantResult& variant, std::string_view by, const std::string& name) {
  BillPart sum;
  Usd of_jobs;
  Usd of_requests;
  double jobs = 0;
  double requests = 0;
  double gpu_hours = 0;
  int services = 0;
  for (const WorkloadResult& w : variant.workloads) {
    if (!pays(w) || group_of(w, by) != name) continue;
    sum.held += w.bill->held;
    sum.shared += w.bill->shared;
    sum.total += w.bill->total;
    if (w.requests) {
      ++services;
      of_requests += w.bill->after_warmup.value_or(Usd{});
      requests += w.requests->in_objectives;
    } else if (!w.notebooks) {
      of_jobs += w.bill->total;
      jobs += w.completed;
    }
    if (w.bill->per_gpu_hour && w.bill->per_gpu_hour->nano > 0) {
      gpu_hours += to_dollars(w.bill->total) / to_dollars(*w.bill->per_gpu_hour);
    }
  }
  if (services > 0) sum.after_warmup = of_requests;
  sum.per_job = unit_price(of_jobs, jobs);
  const bool staged = std::ranges::any_of(variant.workloads, std::not_fn(pays));
  if (services == 1 || !staged)
    sum.per_1k_requests_in_slo = unit_price(of_requests, requests / 1000);
  sum.per_gpu_hour = unit_price(sum.total, gpu_hours);
  return sum;
}

std::vector<BillGroup> groups_of(const VariantResult& variant, std::string_view by) {
  std::vector<BillGroup> groups;
  for (const WorkloadResult& workload : variant.workloads) {
    std::string name = group_of(workload, by);
    if (!pays(workload) || std::ranges::find(groups, name, &BillGroup::name) != groups.end()) {
      continue;
    }
    BillGroup group{std::move(name), 0, {}};
    group.bill = bill_of(variant, by, group.name);
    const std::int64_t whole = variant.cost.ledger.total.nano;
    if (whole > 0) {
      group.of_bill = static_cast<double>(group.bill.total.nano) / static_cast<double>(whole);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

bool is_grouping(std::string_view by) {
  return by == "workload" || by == "namespace" || by == "user" ||
         (by.starts_with(kLabel) && by.size() > kLabel.size());
}

void group_bills(const std::string& by, Result& result) {
  result.group_by = by;
  for (VariantResult& variant : result.variants) {
    variant.cost.split.groups = by.empty() ? std::vector<BillGroup>{} : groups_of(variant, by);
  }
}

}  // namespace slicewise::sim
