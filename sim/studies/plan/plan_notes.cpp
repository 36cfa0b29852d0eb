#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/result_record.hpp"
#include "slicewise/sim/world.hpp"

#include "../probe/pool_homes.hpp"
#include "plan_sections.hpp"
#include "pod_counts.hpp"

// What a plan assumes or leaves out, in words.
namespace slicewise::sim {
namespace {

// Nodes of Jobs that run once stand idle for the rest of a month.
void tell_of_idle_months(const Scenario& base, Plan& plan) {
  if (plan.goal != PlanGoal::MonthlyCost || !runs_once(base)) return;
  add_note(plan.notes, Code::RequestNoEffect,
           base.goal_where.line > 0 ? base.goal_where : base.where,
           "all Jobs run once: a month's price is of nodes that are kept when they are done "
           "(--objective costPerJob compares what the work costs)");
}

// A plan chooses the nodes: who asked for certain ones is told, once.
void tell_dropped_selectors(const Scenario& base, Plan& plan) {
  for (const Workload& workload : base.workloads) {
    for (const auto& [key, value] : workload.pod.node_selector) {
      if (workload.count == 0 || scenarios::names_group(key) || !names_the_node(key)) continue;
      add_note(plan.notes, Code::RequestNoEffect, workload.name.where,
               fmt::format("a plan chooses the nodes: nodeSelector {}: {} of \"{}\" is not kept "
                           "(--instances says among which)",
                           key, value, workload.name.value));
      return;
    }
  }
}

// Numbers of pods of which an option says that they are others.
void tell_what_autoscalers_keep(const Scenario& base, Plan& plan) {
  const auto is_changed = [](const PlanOption& option, const std::string& name) {
    return changed_pods(option).contains(name);
  };
  for (const Workload& workload : base.workloads) {
    const std::string& name = workload.name.value;
    const auto changes = [&](const PlanOption& option) { return is_changed(option, name); };
    const bool any =
        std::ranges::any_of(plan.options, changes) || std::ranges::any_of(plan.other_pods, changes);
    if (!workload.autoscaling || !any) continue;
    add_note(
        plan.notes, Code::RequestNoEffect, workload.autoscaling->where,
        fmt::format("pods of \"{}\" are those that its autoscaler keeps at the least (min)", name));
  }
}

// Of one pool, by what pods ask for: what autoscalers may ask for at the most, where the nodes hold
// less.
void tell_scalers_room(const World& world, std::size_t p, Plan& plan) {
  const PoolModel& pool = world.pools[p];
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    std::vector<std::string> scaled;
    std::int64_t pods = 0;
    std::int64_t tickets = 0;
    for (const WorkloadModel& workload : world.workloads) {
      if (!workload.on_pool[p].schedulable || workload.on_pool[p].offer != offer) continue;
      pods += workload.spec.pods_at_once();
      tickets += workload.spec.pods_at_once() * workload.tickets;
      if (workload.spec.autoscaling) scaled.push_back(workload.name);
    }
    const std::int64_t nodes = pool.most_nodes.value_or(pool.nodes);
    const std::int64_t held = nodes * pool.most_tickets_per_node(offer);
    if (scaled.empty() || tickets <= held) continue;
    add_note(plan.notes, Code::NodeLimitReached, pool.where,
             fmt::format("with as many pods as autoscalers may ask for ({}) there are {} in \"{}\" "
                         "of #1, whose GPUs have places for {}: the others would stay Pending",
                         few_names(scaled), pods, pool.name, held * pods / tickets));
  }
}

// What a peak beyond the simulated load finds.
void tell_scalers_room(const Scenario& base, const Catalogue& catalogue, Plan& plan) {
  if (plan.options.empty()) return;
  const auto world =
      build_world(planned_scenario(base, plan.options.front().pools, catalogue), catalogue);
  if (!world) return;
  for (std::size_t p = 0; p < world->pools.size(); ++p) tell_scalers_room(*world, p, plan);
}

// What would be cheaper elsewhere is not among the options.
void tell_of_auto_mode(const Scenario& base, Plan& plan) {
  if (base.gpu_software.image != scenarios::NodeImage::AutoMode) return;
  add_note(plan.notes, Code::RequestNoEffect, base.where,
           "nodes of EKS Auto Mode share no GPU, as nobody configures their device plugin: only "
           "whole GPUs were tried. With --set gpuSoftware.nodeImage=al2023 the plan is of a node "
           "group, or of Karpenter's own NodePool, beside Auto Mode. Its fee is on neither side");
}

// What the driver can do beside the options that it sets up.
void tell_of_mig_on_demand(const Catalogue& catalogue, Plan& plan) {
  const auto has_mig = [&](const PoolChoice& choice) {
    const InstanceType* type = catalogue.find_instance(choice.instance_type);
    return type != nullptr && catalogue.find_mig(type->gpu_model) != nullptr;
  };
  const bool any = std::ranges::any_of(plan.options,
                                       [&](const PlanOption& option) {
                                         return std::ranges::any_of(option.pools, has_mig);
                                       }) ||
                   std::ranges::any_of(plan.rejected, has_mig, &RejectedChoice::choice);
  if (!any) return;
  add_note(plan.notes, Code::RequestNoEffect, {},
           "MIG devices on demand of NVIDIA's DRA driver (dynamicMig) are not among the options: "
           "they are for pods that claim a device by its profile, and pods of a plan ask for "
           "resources by name. MIG layouts that are made beforehand are; a scenario of your own "
           "with dynamicMig runs (slicewise explain sharing)");
}

// Who names such a type reckons with it all the same.
void tell_retired_types(const Catalogue& catalogue, Plan& plan) {
  std::set<std::string> told;
  for (const PlanOption& option : plan.options) {
    for (const PoolChoice& pool : option.pools) {
      const InstanceType* type = catalogue.find_instance(pool.instance_type);
      if (type == nullptr || type->retired_on.empty() || !told.insert(type->name).second) continue;
      add_diagnostic(plan.notes, Code::InstanceRetired, {},
                     fmt::format("{} was retired by AWS on {}: no node of it starts", type->name,
                                 type->retired_on));
    }
  }
}

// Of pools that come and go.
void tell_of_nights(const Scenario& base, Plan& plan) {
  const bool any = std::ranges::any_of(plan.options, [](const PlanOption& option) {
    return contains(option.pools, true, &PoolChoice::elastic);
  });
  if (any) std::ranges::move(schedules_not_in_run(base), std::back_inserter(plan.notes));
}

// What may keep pods from all pools that a plan can think of.
void tell_of_nowhere(const Scenario& written, const Catalogue& catalogue, Plan& plan) {
  const Expected<World> world = build_world(written, catalogue);
  if (!world) return;
  std::ranges::copy_if(world->findings, std::back_inserter(plan.notes), [](const Diagnostic& d) {
    return d.code == Code::NodeSelectorUnmet || d.code == Code::DomainUnknown;
  });
}

}  // namespace

bool runs_once(const Scenario& scenario) {
  return std::ranges::all_of(scenario.workloads, [](const auto& workload) {
    return workload.count == 0 ||
           (workload.kind == WorkloadKind::Job && !workload.comes_and_goes());
  });
}

void add_notes(const Scenario& written, const Scenario& base, const Catalogue& catalogue, bool dra,
               Plan& plan) {
  tell_of_peak(written, base, plan.notes);
  tell_of_nights(base, plan);
  if (plan.options.empty()) tell_of_nowhere(written, catalogue, plan);
  tell_retired_types(catalogue, plan);
  tell_what_autoscalers_keep(base, plan);
  tell_scalers_room(base, catalogue, plan);
  tell_dropped_selectors(base, plan);
  tell_of_queues(written, "plans are", plan.notes);
  tell_of_idle_months(base, plan);
  tell_of_auto_mode(base, plan);
  if (dra) tell_of_mig_on_demand(catalogue, plan);
}

}  // namespace slicewise::sim
