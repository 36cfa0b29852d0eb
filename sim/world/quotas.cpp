#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../cluster/control/quota_book.hpp"
#include "parts.hpp"

// Queues of Kueue meet the node pools: which flavor is which pools, and what each job asks for.
namespace slicewise::sim {
namespace {

using scenarios::ClusterQueue;
using scenarios::FlavorQuotas;
using scenarios::ResourceFlavor;
using scenarios::ResourceGroup;
using scenarios::ResourceQuota;
using scenarios::Scenario;

constexpr std::int64_t kMostQuota = std::int64_t{1} << 50;  // sums stay in range

const ResourceFlavor* flavor_called(const Scenario& scenario, const std::string& name) {
  const auto found = std::ranges::find(scenario.flavors, name,
                                       [](const auto& flavor) { return flavor.name.value; });
  return found == scenario.flavors.end() ? nullptr : &*found;
}

PoolMask pools_of(const ResourceFlavor& flavor, const World& world) {
  PoolMask pools = 0;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const auto& labels = world.pools[p].labels;
    const bool has_all = std::ranges::all_of(flavor.node_labels, [&](const auto& wanted) {
      const auto label = labels.find(wanted.first);
      return label != labels.end() && label->second == wanted.second;
    });
    if (has_all) pools |= PoolMask{1} << p;
  }
  return pools;
}

// Kueue looks at those labels only that the flavor has, and at its taints, not at nodes.
bool suits(const ResourceFlavor& flavor, const scenarios::PodTemplate& pod) {
  const auto is_kept = [&](const auto& wanted) {
    const auto label = flavor.node_labels.find(wanted.first);
    return label == flavor.node_labels.end() || label->second == wanted.second;
  };
  return std::ranges::all_of(pod.node_selector, is_kept) &&
         untolerated(flavor.node_taints, pod.tolerations) == nullptr;
}

std::size_t cell_of(World& world, const std::string& flavor, const std::string& resource) {
  const auto found = std::ranges::find_if(world.quota_cells, [&](const QuotaCell& cell) {
    return cell.flavor == flavor && cell.resource == resource;
  });
  if (found == world.quota_cells.end()) world.quota_cells.push_back({flavor, resource});
  return static_cast<std::size_t>(found - world.quota_cells.begin());
}

std::int64_t amount(const ResourceQuota& quota, const Located<std::string>& text) {
  return std::min(scenarios::quota_amount(quota.resource.value, text.value).value_or(0),
                  kMostQuota);
}

QuotaLimits limits_of(const ResourceQuota& quota) {
  QuotaLimits limits{amount(quota, quota.nominal), std::nullopt, std::nullopt};
  if (quota.borrowing_limit) limits.borrowing = amount(quota, *quota.borrowing_limit);
  if (quota.lending_limit) limits.lending = amount(quota, *quota.lending_limit);
  return limits;
}

// Of a whole job.
std::map<std::string, std::int64_t> asked_by(const scenarios::Workload& workload) {
  std::map<std::string, std::int64_t> each = {{"cpu", workload.pod.cpu_request.count},
                                              {"memory", workload.pod.memory_request.count},
                                              {"pods", 1}};
  for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
    each[request.name.value] = request.count;
  }
  for (auto& [name, count] : each) {
    count = std::min(count, kMostQuota / 1'000) * workload.pods_per_job;
  }
  return each;
}

class Queued {
 public:
  Queued(const Scenario& scenario, World& world, const WorkloadModel& model)
      : scenario_(scenario), world_(world), model_(model), asked_(asked_by(model.spec)) {}

  QueuedJobs jobs() {
    const auto found = std::ranges::find(world_.queues, model_.spec.queue.value,
                                         [](const auto& queue) { return queue.spec.name.value; });
    jobs_.queue = static_cast<std::size_t>(found - world_.queues.begin());
    refuse_uncovered(found->spec);
    for (const ResourceGroup& group : found->spec.groups) add(group);
    return std::move(jobs_);
  }

 private:
  void refuse_uncovered(const ClusterQueue& queue) {
    std::set<std::string> covered;
    for_each_quota(queue, [&](const std::string&, const ResourceQuota& quota) {
      covered.insert(quota.resource.value);
    });
    for (const auto& [name, count] : asked_) {
      if (count == 0 || name == "pods" || covered.contains(name)) continue;
      jobs_.never =
          fmt::format("resource {} unavailable in ClusterQueue {}", name, queue.name.value);
      return;
    }
  }

  void add(const ResourceGroup& group) {
    QuotaGroup out;
    PoolMask all = 0;
    bool is_too_much = false;
    for (const FlavorQuotas& quotas : group.flavors) {
      const ResourceFlavor* flavor = flavor_called(scenario_, quotas.flavor.value);
      if (flavor == nullptr || !suits(*flavor, model_.spec.pod)) continue;
      QuotaGroup::Flavor one{pools_of(*flavor, world_), {}};
      for (const ResourceQuota& quota : quotas.resources) {
        const auto asked = asked_.find(quota.resource.value);
        if (asked == asked_.end() || asked->second == 0) continue;
        one.amounts.push_back(
            {cell_of(world_, quotas.flavor.value, quota.resource.value), asked->second});
      }
      if (one.amounts.empty()) return;  // of the whole group
      const QuotaBook book(world_);
      const bool fits = std::ranges::all_of(one.amounts, [&](const QuotaAmount& wanted) {
        return wanted.count <= book.potential(jobs_.queue, wanted.cell);
      });
      is_too_much = is_too_much || !fits;
      if (!fits) continue;
      all |= one.pools;
      if (!out.flavors.empty() && one.pools != out.flavors.front().pools) {
        jobs_.is_in_one_place = false;
      }
      out.flavors.push_back(std::move(one));
    }
    if (out.flavors.empty() && jobs_.never.empty()) {
      jobs_.never = is_too_much ? "it asks for more at once than its queue may ever have"
                                : "no flavor of its queue has its node selector and tolerations";
    }
    jobs_.pools &= all;
    jobs_.groups.push_back(std::move(out));
  }

  const Scenario& scenario_;
  World& world_;
  const WorkloadModel& model_;
  std::map<std::string, std::int64_t> asked_;
  QueuedJobs jobs_;
};

void tell_of_empty_flavors(const Scenario& scenario, const World& world, Diagnostics& found) {
  for (const ResourceFlavor& flavor : scenario.flavors) {
    if (pools_of(flavor, world) != 0) continue;
    Diagnostic told = make_diagnostic(
        Code::NodeSelectorUnmet, flavor.name.where,
        fmt::format("no node pool has the labels of flavor \"{}\": pods of Jobs that are admitted "
                    "to it stay Pending",
                    flavor.name.value),
        "give a node pool its nodeLabels, or leave the flavor out");
    told.severity = Severity::Warning;
    found.push_back(std::move(told));
  }
}

}  // namespace

void model_quotas(const Scenario& scenario, World& world, Diagnostics& found) {
  for (const ClusterQueue& queue : scenario.cluster_queues) {
    for_each_quota(queue, [&](const std::string& flavor, const ResourceQuota& quota) {
      cell_of(world, flavor, quota.resource.value);
    });
  }
  for (const ClusterQueue& queue : scenario.cluster_queues) {
    QueueModel model{queue, std::vector<QuotaLimits>(world.quota_cells.size())};
    for_each_quota(queue, [&](const std::string& flavor, const ResourceQuota& quota) {
      model.limits[cell_of(world, flavor, quota.resource.value)] = limits_of(quota);
    });
    world.queues.push_back(std::move(model));
  }
  bool any = false;
  for (WorkloadModel& model : world.workloads) {
    if (model.spec.queue.value.empty()) continue;
    any = true;
    model.queued = Queued(scenario, world, model).jobs();
    if (model.queued->never.empty()) continue;
    const FindingsAbout about(model.spec.given_name(), found);
    found.push_back(make_diagnostic(
        Code::JobNeverFits, model.spec.queue.where,
        fmt::format("Kueue never admits a Job of \"{}\": {}", model.name, model.queued->never),
        "raise nominalQuota or borrowingLimit, cover what its pods ask for, or ask for less"));
  }
  if (any) tell_of_empty_flavors(scenario, world, found);
}

}  // namespace slicewise::sim
