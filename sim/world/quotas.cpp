#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../cluster/control/quota_book.hpp"
#include "../cluster/control/quota_choice.hpp"
#include "parts.hpp"

// Queues of Kueue meet the node pools: which flavor is which pools, and what each job asks for.
namespace slicewise::sim {
namespace {

using scenarios::ClusterQueue;
using scenarios::FlavorQuotas;
using scenarios::ResourceFlavor;
using scenarios::ResourceGroup;
using scenarios::ResourceQuota;

const ResourceFlavor* flavor_called(const Scenario& scenario, const std::string& name) {
  return find_or_null(scenario.flavors, name, [](const auto& flavor) { return flavor.name.value; });
}

PoolMask pools_of(const ResourceFlavor& flavor, const World& world) {
  PoolMask pools = 0;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const bool has_all = std::ranges::includes(world.pools[p].labels, flavor.node_labels);
    if (has_all) pools |= PoolMask{1} << p;
  }
  return pools;
}

// Kueue looks at those labels only that the flavor has, and at its taints, not at nodes.
bool suits(const ResourceFlavor& flavor, const PodTemplate& pod) {
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
  const auto index = static_cast<std::size_t>(found - world.quota_cells.begin());
  if (index == world.quota_cells.size()) world.quota_cells.push_back({flavor, resource});
  return index;
}

QuotaLimits limits_of(const ResourceQuota& quota) {
  QuotaLimits limits{amount_of(quota, quota.nominal), std::nullopt, std::nullopt};
  if (quota.borrowing_limit) limits.borrowing = amount_of(quota, *quota.borrowing_limit);
  if (quota.lending_limit) limits.lending = amount_of(quota, *quota.lending_limit);
  return limits;
}

// By a pod.
std::map<std::string, std::int64_t> asked_by(const Workload& workload) {
  std::map<std::string, std::int64_t> each = {{"cpu", workload.pod.cpu_request.count},
                                              {"memory", workload.pod.memory_request.count},
                                              {"pods", 1}};
  for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
    each[request.name.value] = request.count;
  }
  return each;
}

// Of the workload, the pods that Kueue admits together.
int pods_of_set(const Workload& workload) {
  return workload.part_of.value.empty() ? workload.pods_per_job
                                        : std::max(1, workload.pods_at_once());
}

class Queued {
 public:
  Queued(const Scenario& scenario, World& world, const WorkloadModel& model, std::size_t queue)
      : scenario_(scenario), world_(world), model_(model), asked_(asked_by(model.spec)) {
    jobs_.queue = queue;
    jobs_.lead = static_cast<std::size_t>(&model - world.workloads.data());
    jobs_.pods = pods_of_set(model.spec);
    jobs_.least = std::min(jobs_.pods, model.spec.min_parallelism.value_or(jobs_.pods));
  }

  // The first flavor that they may be admitted to and on whose nodes no pod of theirs fits, while
  // it does on others; "" none.
  const std::string& fits_no_node_of() const { return fits_no_node_of_; }

  // Whether they may be admitted to flavors of two groups that no nodes have both of.
  bool are_apart() const { return are_apart_; }

  QueuedJobs jobs() {
    const ClusterQueue& queue = world_.queues[jobs_.queue].spec;
    refuse_uncovered(queue);
    for (const ResourceGroup& group : queue.groups) add(group);
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

  // Pools with nodes that have what a pod asks for, under some layout.
  PoolMask homes() const {
    PoolMask pools = 0;
    for (std::size_t p = 0; p < world_.pools.size(); ++p) {
      const PoolModel& pool = world_.pools[p];
      const PoolDemand& demand = model_.on_pool[p];
      const std::int64_t offered =
          demand.offer ? pool.most_tickets_per_node(*demand.offer) : model_.tickets;
      if (demand.schedulable && model_.tickets <= offered) pools |= PoolMask{1} << p;
    }
    return pools;
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
        one.each.push_back(
            {cell_of(world_, quotas.flavor.value, quota.resource.value), asked->second});
      }
      if (one.each.empty()) return;  // of the whole group
      const QuotaBook book(world_);
      const QuotaAmounts least = quota_of(one.each, jobs_.least);
      const bool fits = std::ranges::all_of(least, [&](const QuotaAmount& wanted) {
        return wanted.count <= book.potential(jobs_.queue, wanted.cell);
      });
      is_too_much = is_too_much || !fits;
      if (!fits) continue;
      all |= one.pools;
      if (fits_no_node_of_.empty() && one.pools != 0 && (one.pools & homes()) == 0 &&
          homes() != 0) {
        fits_no_node_of_ = quotas.flavor.value;
      }
      if (!out.flavors.empty() && one.pools != out.flavors.front().pools) {
        jobs_.is_in_one_place = false;
      }
      out.flavors.push_back(std::move(one));
    }
    if (out.flavors.empty() && jobs_.never.empty()) {
      jobs_.never = is_too_much ? "it asks for more at once than its queue may ever have"
                                : "no flavor of its queue has its node selector and tolerations";
    }
    are_apart_ = are_apart_ || (jobs_.pools != 0 && all != 0 && (jobs_.pools & all) == 0);
    jobs_.pools &= all;
    jobs_.groups.push_back(std::move(out));
  }

  const Scenario& scenario_;
  World& world_;
  const WorkloadModel& model_;
  std::map<std::string, std::int64_t> asked_;
  QueuedJobs jobs_;
  std::string fits_no_node_of_;
  bool are_apart_ = false;
};

void tell_of_empty_flavors(const Scenario& scenario, const World& world, Diagnostics& found) {
  for (const ResourceFlavor& flavor : scenario.flavors) {
    if (pools_of(flavor, world) != 0) continue;
    Diagnostic told =
        make_diagnostic(Code::NodeSelectorUnmet, flavor.name.where,
                        fmt::format("no node pool has the labels of flavor \"{}\": pods of Jobs "
                                    "that are admitted to it stay Pending",
                                    flavor.name.value),
                        "give a node pool its nodeLabels, or leave the flavor out");
    told.severity = Severity::Warning;
    found.push_back(std::move(told));
  }
}

void tell_of_never(const WorkloadModel& model, const World& world, Diagnostics& found) {
  const ClusterQueue& queue = world.queues[model.queued->queue].spec;
  const bool is_strict = queue.strategy == ClusterQueue::Strategy::StrictFifo;
  add_diagnostic(
      found, Code::JobNeverFits, model.spec.queue.where,
      fmt::format("Kueue never admits a Job of \"{}\": {}{}", model.name, model.queued->never,
                  is_strict
                      ? "; it holds up its StrictFIFO queue: none behind it is admitted, either"
                      : ""),
      "raise nominalQuota or borrowingLimit, cover what its pods ask for, or ask for less");
}

// Kueue looks at quotas, not at nodes.
void tell_of_small_nodes(const WorkloadModel& model, const Queued& queued, Diagnostics& found) {
  add_diagnostic(found, Code::JobNeverFits, model.spec.queue.where,
                 fmt::format("Jobs of \"{}\" that are admitted to flavor \"{}\" stay Pending: no "
                             "node of its pools holds one of their pods",
                             model.name, queued.fits_no_node_of()),
                 "a nodeSelector with the labels of a flavor whose nodes hold them");
}

void tell_of_groups_apart(const WorkloadModel& model, Diagnostics& found) {
  found.push_back(make_diagnostic(
      Code::JobNeverFits, model.spec.queue.where,
      fmt::format("Jobs of \"{}\" that are admitted stay Pending: no node pool is of a flavor of "
                  "each resource group of their queue",
                  model.name),
      "cover what the pods ask for in one group, or give a node pool the labels of both flavors"));
}

// Whether both are parts of what Kueue admits as a whole.
bool is_same_object(const Workload& a, const Workload& b) {
  return a.is_of_one_object_with(b) && a.queue.value == b.queue.value && a.count > 0 && b.count > 0;
}

// Parts that would each be admitted, and never are together.
void admit_together(World& world, Diagnostics& found) {
  QuotaBook book(world);
  const std::vector<AdmittedJob> nobody;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    WorkloadModel& first = world.workloads[w];
    if (!first.queued || first.queued->lead != w) continue;
    std::vector<WorkloadModel*> parts;
    std::vector<QuotaChoice::PodSet> sets;
    for (std::size_t other = w; other < world.workloads.size(); ++other) {
      WorkloadModel& part = world.workloads[other];
      if (!part.queued || (other != w && !is_same_object(first.spec, part.spec))) continue;
      part.queued->lead = w;
      parts.push_back(&part);
      sets.push_back({&*part.queued, part.queued->pods});
    }
    if (parts.size() == 1) continue;
    const QuotaChoice::Decision decision =
        QuotaChoice(world, book, nobody).decide(sets, first.spec.priority, {});
    if (decision.mode == QuotaChoice::Mode::Fit) continue;
    const bool is_told = std::ranges::any_of(
        parts, [](const WorkloadModel* part) { return !part->queued->never.empty(); });
    for (WorkloadModel* part : parts) {
      if (!part->queued->never.empty()) continue;
      part->queued->never =
          fmt::format("the parts of \"{}\" ask for more together than the queue may have",
                      first.spec.part_of.value);
    }
    const FindingsAbout about(first.spec.given_name(), found);
    if (!is_told) tell_of_never(first, world, found);
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
  const auto queue_name = [](const QueueModel& queue) { return queue.spec.name.value; };
  bool any = false;
  for (WorkloadModel& model : world.workloads) {
    const auto queue = std::ranges::find(world.queues, model.spec.queue.value, queue_name);
    if (queue == world.queues.end()) continue;  // none is named, or QUEUE_UNKNOWN
    any = true;
    Queued queued(scenario, world, model, static_cast<std::size_t>(queue - world.queues.begin()));
    model.queued = queued.jobs();
    const FindingsAbout about(model.spec.given_name(), found);
    if (queued.are_apart()) tell_of_groups_apart(model, found);
    if (!queued.fits_no_node_of().empty()) tell_of_small_nodes(model, queued, found);
    if (!model.queued->never.empty()) tell_of_never(model, world, found);
  }
  if (any) admit_together(world, found);
  if (any) tell_of_empty_flavors(scenario, world, found);
}

}  // namespace slicewise::sim
