#include "slicewise/sim/bill_groups.hpp"

#include <algorithm>
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

// The price of a unit of several workloads: what they pay for theirs together / all units.
class UnitPrice {
 public:
  void add(const std::optional<Usd>& price, double units) {
    if (!price || units <= 0) return;
    dollars_ += to_dollars(*price) * units;
    units_ += units;
  }
  std::optional<Usd> value() const {
    return units_ > 0 ? std::optional(from_dollars(dollars_ / units_)) : std::nullopt;
  }

 private:
  double dollars_ = 0;
  double units_ = 0;
};

BillPart bill_of(const VariantResult& variant, std::string_view by, const std::string& name) {
  BillPart sum;
  UnitPrice job;
  UnitPrice request;
  UnitPrice gpu_hour;
  for (const WorkloadResult& w : variant.workloads) {
    if (!pays(w) || group_of(w, by) != name) continue;
    sum.held += w.bill->held;
    sum.shared += w.bill->shared;
    sum.total += w.bill->total;
    job.add(w.bill->per_job, w.completed);
    request.add(w.bill->per_1k_requests_in_slo, w.requests ? w.requests->in_objectives : 0);
    if (w.bill->per_gpu_hour && w.bill->per_gpu_hour->nano > 0) {
      gpu_hour.add(w.bill->per_gpu_hour,
                   to_dollars(w.bill->total) / to_dollars(*w.bill->per_gpu_hour));
    }
  }
  sum.per_job = job.value();
  sum.per_1k_requests_in_slo = request.value();
  sum.per_gpu_hour = gpu_hour.value();
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
