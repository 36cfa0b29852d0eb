
#include "slicewise/lookup.hpp"
#include "slicewise/models/gpu_names.hpp"

#include "plan_sections.hpp"

// What the jobs of traces cost as they were run.
namespace slicewise::sim {
namespace {

// The type with the cheapest GPU of the models that a log may mean ("a100").
struct PricedGpu {
  std::string instance_type;
  double per_hour = 0;  // of one GPU, dollars
};

std::optional<PricedGpu> priced(const InstanceType& type, const Scenario& base,
                                const Catalogue& catalogue) {
  const auto price =
      catalogue.prices.find(type.name, base.region, models::PurchaseOption::OnDemand);
  if (!price || type.gpu_count == 0) return std::nullopt;
  const double gpus = type.gpu_count * type.gpu_fraction;
  return PricedGpu{type.name, to_dollars(price->usd.per_hour) / gpus};
}

std::optional<PricedGpu> recorded_gpu(const std::string& name, const Scenario& base,
                                      const Catalogue& catalogue) {
  if (const auto* type = catalogue.find_instance(name)) return priced(*type, base, catalogue);
  if (name.empty()) return std::nullopt;
  const std::vector<const GpuModel*> meant = models::gpus_called(catalogue, name);
  std::optional<PricedGpu> cheapest;
  for (const InstanceType& type : catalogue.instances) {
    const bool has_it = contains(meant, catalogue.find_gpu(type.gpu_model));
    if (!has_it || type.gpu_fraction < 1 || !type.retired_on.empty()) continue;
    const auto here = priced(type, base, catalogue);
    if (here && (!cheapest || here->per_hour < cheapest->per_hour)) cheapest = here;
  }
  return cheapest;
}

}  // namespace

std::optional<RecordedBill> recorded_bill(const Scenario& base, const Catalogue& catalogue) {
  RecordedBill bill;
  double dollars = 0;
  for (const Workload& workload : base.workloads) {
    if (!workload.trace) continue;
    std::optional<PricedGpu> gpu = recorded_gpu(workload.trace->gpu, base, catalogue);
    const bool known = gpu.has_value();
    if (!known) gpu = recorded_gpu(base.node_pools.front().instance_type.value, base, catalogue);
    if (!gpu) return std::nullopt;
    double hours = 0;
    for (const auto& job : *workload.trace->jobs) hours += to_seconds(job.run) / 3600;
    hours *= static_cast<double>(workload.pod.extended.front().count);
    bill.gpu_hours += hours;
    dollars += hours * gpu->per_hour;
    bill.assumed |= !known;
    if (!contains(bill.instance_types, gpu->instance_type)) {
      bill.instance_types.push_back(gpu->instance_type);
    }
  }
  if (bill.gpu_hours <= 0) return std::nullopt;
  bill.total = from_dollars(dollars);
  return bill;
}

}  // namespace slicewise::sim
