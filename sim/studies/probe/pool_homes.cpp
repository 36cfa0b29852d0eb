#include "pool_homes.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/resource_claim.hpp"

#include "../../world/admission.hpp"
#include "../../world/parts.hpp"
#include "probe.hpp"

namespace slicewise::sim {
namespace {

// Whether nodes of the pool have the label, of some type: which CPUs they have, is the type's.
bool may_have(const Scenario& base, const NodePool& pool, const std::string& key,
              const std::string& value) {
  const auto labels = pool_labels(base, pool);
  const auto label = labels.find(key);
  if (label != labels.end()) return label->second == value;
  return names_the_node(key) || key == scenarios::kArchitectureLabel;
}

}  // namespace

bool is_home(const Scenario& base, const NodePool& pool, const Workload& workload) {
  const bool selected = std::ranges::all_of(workload.pod.node_selector, [&](const auto& wanted) {
    return may_have(base, pool, wanted.first, wanted.second);
  });
  return selected && untolerated(pool.taints, admitted_tolerations(workload.pod)) == nullptr;
}

namespace {

bool has_taint(const NodePool& pool, const scenarios::Taint& taint) {
  return std::ranges::any_of(pool.taints, [&](const scenarios::Taint& other) {
    return std::tie(other.key, other.value, other.effect) ==
           std::tie(taint.key, taint.value, taint.effect);
  });
}

}  // namespace

void take_nodes_of(const Scenario& base, const PoolChoice& choice, NodePool& pool) {
  std::vector<const Workload*> workloads;
  for (const Workload& workload : base.workloads) {
    for (const auto& [key, value] : workload.pod.node_selector) {
      if (!names_the_node(key)) pool.labels.erase(key);
    }
    if (contains(choice.workloads, workload.name.value)) {
      workloads.push_back(&workload);
    }
  }
  pool.taints.clear();
  for (const NodePool& today : base.node_pools) {
    for (const Workload* workload : workloads) {
      if (!is_home(base, today, *workload)) continue;
      for (const auto& [key, value] : workload->pod.node_selector) {
        if (!names_the_node(key) && today.labels.contains(key)) pool.labels.try_emplace(key, value);
      }
      for (const scenarios::Taint& taint : today.taints) {
        const bool keeps_off = std::ranges::any_of(workloads, [&](const Workload* each) {
          return untolerated({&taint, 1}, admitted_tolerations(each->pod)) != nullptr;
        });
        const bool stays = !keeps_off || std::ranges::all_of(base.node_pools, [&](const auto& p) {
          return !is_home(base, p, *workload) || has_taint(p, taint);
        });
        if (stays && !has_taint(pool, taint)) pool.taints.push_back(taint);
      }
    }
  }
}

void keep_tolerated(const Scenario& base, const PodTemplate& before, PodTemplate& pod) {
  for (const NodePool& pool : base.node_pools) {
    for (const scenarios::Taint& taint : pool.taints) {
      const std::span<const scenarios::Taint> one(&taint, 1);
      if (untolerated(one, admitted_tolerations(before)) != nullptr) continue;
      if (untolerated(one, admitted_tolerations(pod)) == nullptr) continue;
      pod.tolerations.push_back(toleration_of_resource(taint.key));
    }
  }
}

bool names_the_node(std::string_view label) {
  return label.starts_with("nvidia.com/") || label.ends_with("/instance-type") ||
         label.starts_with("karpenter.k8s.aws/instance-") || scenarios::names_group(label) ||
         label == scenarios::kAcceleratorLabel || label == "nos.nebuly.com/gpu-partitioning";
}

namespace {

bool may_select(const scenarios::ResourceClaim& claim, scenarios::DraDevice device,
                const MigGeometry* geometry) {
  const auto is_selected = [&](std::string profile) {
    device.profile = std::move(profile);
    return std::ranges::all_of(claim.selectors, [&](const Located<std::string>& selector) {
      return scenarios::selects(selector.value, device);
    });
  };
  if (is_selected("")) return true;
  return geometry != nullptr &&
         std::ranges::any_of(geometry->profiles,
                             [&](const MigProfile& profile) { return is_selected(profile.name); });
}

// The kinds of devices of the pool that the workload asks for.
std::vector<const DomainKind*> kinds_for(const PoolModel& pool, const PoolDemand& demand) {
  std::vector<const DomainKind*> kinds;
  for (const DomainKind& kind : pool.kinds) {
    const auto is_asked = [&](const Tickets& tickets) { return tickets.offer == demand.offer; };
    if (std::ranges::any_of(kind.tickets, is_asked)) kinds.push_back(&kind);
  }
  return kinds;
}

}  // namespace

std::optional<Reason> why_unclaimed(const Scenario& base, const World& world,
                                    const Catalogue& catalogue) {
  for (const Workload& workload : base.workloads) {
    const scenarios::ResourceClaim* claim = base.claim_of(workload);
    const auto model =
        std::ranges::find(world.workloads, workload.name.value, &WorkloadModel::name);
    if (claim == nullptr || model == world.workloads.end()) continue;
    for (std::size_t p = 0; p < world.pools.size(); ++p) {
      const PoolModel& pool = world.pools[p];
      for (const DomainKind* kind : kinds_for(pool, model->on_pool[p])) {
        const scenarios::DraDevice device = device_of(*pool.gpu, *kind);
        if (may_select(*claim, device, catalogue.find_mig(pool.gpu->name))) continue;
        return reason(fmt::format("the claim \"{}\" of \"{}\" selects no {{}}{{}}",
                                  claim->name.value, workload.name.value),
                      pool.gpu->name, kind->partition.empty() ? "" : " " + kind->partition);
      }
    }
  }
  return std::nullopt;
}

std::optional<Reason> why_homeless(const Scenario& base, const std::vector<std::string>& names) {
  for (const Workload& workload : base.workloads) {
    if (!contains(names, workload.name.value)) continue;
    const auto takes = [&](const NodePool& pool) { return is_home(base, pool, workload); };
    if (std::ranges::any_of(base.node_pools, takes)) continue;
    for (const auto& wanted : workload.pod.node_selector) {
      const auto has = [&](const NodePool& pool) {
        return may_have(base, pool, wanted.first, wanted.second);
      };
      if (std::ranges::any_of(base.node_pools, has)) continue;
      return Reason{
          fmt::format("\"{}\" selects nodes with {}={}, which no node pool of the scenario has",
                      workload.name.value, wanted.first, wanted.second)};
    }
    return Reason{
        fmt::format("no node pool of the scenario takes the pods of \"{}\" (nodeSelector, taints)",
                    workload.name.value)};
  }
  return std::nullopt;
}

Scenario without_queues(Scenario scenario) {
  for (Workload& workload : scenario.workloads) workload.queue = {};
  if (std::ranges::any_of(scenario.workloads, &Workload::uses_gpu)) {
    std::erase_if(scenario.workloads, [](const Workload& w) { return !w.uses_gpu(); });
  }
  return scenario;
}

Scenario with_denials(Scenario scenario) {
  for (scenarios::Policy& policy : scenario.policies) {
    if (policy.may_refuse()) policy.severity = scenarios::PolicySeverity::Deny;
  }
  return scenario;
}

Scenario as_judged(Scenario scenario) {
  return with_denials(at_its_peak(without_queues(std::move(scenario))));
}

namespace {

// What no study moves to other nodes.
void tell_of_pods_without_gpu(const Scenario& scenario, std::string_view what_is,
                              Diagnostics& notes) {
  const Workload* first = nullptr;
  int others = -1;
  for (const Workload& workload : scenario.workloads) {
    if (workload.uses_gpu() || workload.count == 0) continue;
    if (++others == 0) first = &workload;
  }
  if (first == nullptr) return;
  add_note(
      notes, Code::RequestNoEffect, first->name.where,
      fmt::format("{} without the pods of \"{}\"{}, which use no GPU", what_is, first->name.value,
                  others == 0 ? "" : fmt::format(" and {} more workloads", others)));
}

}  // namespace

void tell_of_queues(const Scenario& scenario, std::string_view what_is, Diagnostics& notes) {
  tell_of_pods_without_gpu(scenario, what_is, notes);
  std::string queues;
  const Located<std::string>* first = nullptr;
  int count = 0;
  for (const Workload& workload : scenario.workloads) {
    if (workload.queue.value.empty() || workload.count == 0) continue;
    if (++count == 1) first = &workload.queue;
    queues += fmt::format("{}queue \"{}\" of \"{}\"", count > 1 ? ", " : "", workload.queue.value,
                          workload.name.value);
  }
  if (first == nullptr) return;
  add_note(
      notes, Code::RequestNoEffect, first->where,
      fmt::format("{} without quotas: {} {} not kept", what_is, queues, count > 1 ? "are" : "is"));
}

}  // namespace slicewise::sim
