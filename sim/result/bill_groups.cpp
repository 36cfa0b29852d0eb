#include "slicewise/sim/bill_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

constexpr std::string_view kLabel = "label:";

// Who pays: a workload, or a class of the jobs of a trace.
struct Payer {
  const WorkloadResult& workload;
  const std::string& namespace_name;
  const std::map<std::string, std::string>& labels;
  const BillPart& bill;
  double completed = 0;
};

std::string label_of(const Payer& payer, std::string_view label) {
  const auto found = payer.labels.find(std::string(label));
  return found == payer.labels.end() ? "" : found->second;
}

std::string group_of(const Payer& payer, std::string_view by) {
  if (by == "namespace") return payer.namespace_name;
  if (by == "user") return label_of(payer, kUserLabel);
  if (by.starts_with(kLabel)) return label_of(payer, by.substr(kLabel.size()));
  return payer.workload.name;
}

// Pipelines pay nothing: the Services of their stages do.
std::vector<Payer> payers_of(const VariantResult& variant) {
  std::vector<Payer> payers;
  for (const WorkloadResult& w : variant.workloads) {
    if (w.recorded) {
      for (const JobClass& c : w.recorded->classes) {
        if (c.bill) payers.push_back({w, c.namespace_name, c.labels, *c.bill, c.figures.finished});
      }
    } else if (w.bill && w.kind != "Pipeline") {
      payers.push_back({w, w.namespace_name, w.labels, *w.bill, w.completed});
    }
  }
  return payers;
}

std::optional<Usd> per_unit(Usd bill, double units) {
  return units > 0 ? std::optional(from_dollars(to_dollars(bill) / units)) : std::nullopt;
}

// A group pays for what finished nothing as well: its price is what it pays for such workloads /
// all that they did. A request of a pipeline is counted in each of its stages: no price of several.
BillPart bill_of(const std::vector<Payer>& payers, std::string_view by, const std::string& name,
                 bool staged) {
  BillPart sum;
  Usd of_jobs;
  Usd of_requests;
  double jobs = 0;
  double thousands = 0;  // of requests in their objectives
  double gpu_hours = 0;
  int services = 0;
  for (const Payer& payer : payers) {
    if (group_of(payer, by) != name) continue;
    const BillPart& bill = payer.bill;
    sum.held += bill.held;
    sum.shared += bill.shared;
    sum.total += bill.total;
    if (payer.workload.requests) {
      ++services;
      of_requests += bill.after_warmup.value_or(Usd{});
      if (bill.after_warmup && bill.per_1k_requests_in_slo &&
          bill.per_1k_requests_in_slo->nano > 0) {
        thousands += to_dollars(*bill.after_warmup) / to_dollars(*bill.per_1k_requests_in_slo);
      }
    } else if (!payer.workload.notebooks) {
      of_jobs += bill.total;
      jobs += payer.completed;
    }
    if (bill.per_gpu_hour && bill.per_gpu_hour->nano > 0) {
      gpu_hours += to_dollars(bill.total) / to_dollars(*bill.per_gpu_hour);
    }
  }
  if (services > 0) sum.after_warmup = of_requests;
  sum.per_job = per_unit(of_jobs, jobs);
  if (services == 1 || !staged) sum.per_1k_requests_in_slo = per_unit(of_requests, thousands);
  sum.per_gpu_hour = per_unit(sum.total, gpu_hours);
  return sum;
}

std::vector<BillGroup> groups_of(const VariantResult& variant, std::string_view by) {
  std::vector<BillGroup> groups;
  const std::vector<Payer> payers = payers_of(variant);
  const bool staged = std::ranges::any_of(
      variant.workloads, [](const WorkloadResult& w) { return w.kind == "Pipeline" || !w.bill; });
  for (const Payer& payer : payers) {
    std::string name = group_of(payer, by);
    if (contains(groups, name, &BillGroup::name)) continue;
    BillGroup group{std::move(name), 0, {}};
    group.bill = bill_of(payers, by, group.name, staged);
    const std::int64_t whole = variant.cost.ledger.nodes().nano;
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
