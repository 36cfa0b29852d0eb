#include <algorithm>

#include <fmt/format.h>

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/figure_text.hpp"

#include "../world/capacity_block.hpp"
#include "merge.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Provisioner;

std::string_view help_to_know(Provisioner::Kind kind) {
  return kind == Provisioner::Kind::Karpenter
             ? "tell Karpenter with a NodeOverlay what the nodes will advertise (provisioner: "
               "{nodeOverlay: true})"
             : "tag the Auto Scaling group with what its nodes will advertise (provisioner: "
               "{resourceTags: true})";
}

void interruption_finding(const World& world, std::size_t p, const NodeDynamics& dynamics,
                          Diagnostics& found) {
  if (dynamics.interruptions <= 0) return;
  add_diagnostic(
      found, Code::SpotInterrupted, world.pools[p].where,
      fmt::format(
          "EC2 took {} nodes of \"{}\" back in a run, at {} interruptions per node and 1,000 hours",
          short_text(dynamics.interruptions), world.pools[p].name,
          short_text(world.pools[p].spot->interruptions.per_second * 3600 * 1000)));
}

void surplus_finding(const World& world, std::size_t p, const NodeDynamics& dynamics,
                     Diagnostics& found) {
  if (dynamics.surplus <= 0) return;
  const Provisioner& provisioner = world.provisioner;
  add_diagnostic(
      found, Code::KarpenterOverprovisions, world.pools[p].where,
      fmt::format("{} started {} nodes of \"{}\" in a run, {} of them without need; these ran for "
                  "{} node-hours",
                  dynamics.provisioner, short_text(dynamics.launches), world.pools[p].name,
                  short_text(dynamics.surplus), short_text(dynamics.thrash_node_hours)),
      std::string(help_to_know(provisioner.kind)));
}

// Jobs that ran on nodes which the provisioner took away for `why`.
void disrupted_finding(const World& world, std::span<const Replication> replications,
                       RunsLost WorkloadRecord::*runs, std::string_view why, std::string_view help,
                       Diagnostics& found) {
  std::size_t most = 0;
  double jobs = 0;
  Duration lost;
  const auto of = [&](std::size_t w) {
    return mean_over(replications,
                     [&](const Replication& r) { return (r.workloads[w].*runs).jobs; });
  };
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    jobs += of(w);
    if (of(w) > of(most)) most = w;
    for (const Replication& r : replications) lost += (r.workloads[w].*runs).gpu_time;
  }
  if (jobs == 0) return;
  add_diagnostic(
      found, Code::JobsDisrupted, world.workloads[most].spec.name.where,
      fmt::format("{} removed the node of a running job {} in a run{}: it started over, and {} "
                  "GPU-hours of what was done are lost",
                  scenarios::provisioner_name(world.provisioner.kind),
                  jobs == 1 ? "once" : short_text(jobs, 4) + " times", why,
                  short_text(to_seconds(lost) / 3600 / static_cast<double>(replications.size()))),
      std::string(help));
}

void disrupted_findings(const World& world, std::span<const Replication> replications,
                        Diagnostics& found) {
  const bool karpenter = world.provisioner.kind == Provisioner::Kind::Karpenter;
  disrupted_finding(
      world, replications, &WorkloadRecord::disrupted, "",
      karpenter
          ? fmt::format(
                "keep their nodes (podTemplate.annotations: {{{}: \"true\"}}), or let Karpenter "
                "remove empty nodes only (consolidation: WhenEmpty) or later (consolidateAfter)",
                scenarios::kDoNotDisrupt)
          : fmt::format("keep their nodes: podTemplate.annotations: {{{}: \"false\"}}",
                        scenarios::kSafeToEvict),
      found);
  disrupted_finding(world, replications, &WorkloadRecord::expired, " for its age (expireAfter)",
                    "an expireAfter longer than the job and what the node ran before, or none",
                    found);
}

// The label for which its pods wait, and which nodes get only once they have joined; "": none.
std::string late_label_of(const World& world, const WorkloadModel& model) {
  for (const PoolModel& pool : world.pools) {
    if (!pool.most_nodes) continue;
    for (const std::string& label : pool.late_labels) {
      PoolModel unseen = pool;
      unseen.labels.erase(label);
      if (admits(pool, model.spec.pod) && !admits(unseen, model.spec.pod)) return label;
    }
  }
  return "";
}

void never_launched_findings(const World& world, std::span<const Replication> replications,
                             Diagnostics& found) {
  const auto any = [&](std::size_t w, bool WorkloadRecord::*flag) {
    return std::ranges::any_of(replications,
                               [&](const Replication& r) { return r.workloads[w].*flag; });
  };
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const WorkloadModel& model = world.workloads[w];
    const FindingsAbout about(model.spec.given_name(), found);
    const bool unknown = any(w, &WorkloadRecord::no_node_for_it);
    const std::string label = unknown ? late_label_of(world, model) : "";
    if (!label.empty()) {
      add_diagnostic(
          found, Code::NodesNeverLaunched, model.spec.name.where,
          fmt::format("no node is started for pods of \"{}\": they select {}, which nodes get once "
                      "they have joined, and {} does not know it before",
                      model.name, label, scenarios::provisioner_name(world.provisioner.kind)),
          "select node.kubernetes.io/instance-type or, with Karpenter, "
          "karpenter.k8s.aws/instance-gpu-name; or give the pool the label (labels)");
    } else if (unknown) {
      add_diagnostic(
          found, Code::NodesNeverLaunched, model.spec.name.where,
          fmt::format(
              "no node is started for pods of \"{}\": {} knows no instance type that has {}",
              model.name, scenarios::provisioner_name(world.provisioner.kind),
              model.resource ? world.resources[index(*model.resource)] : "room for them"),
          std::string(help_to_know(world.provisioner.kind)));
    }
    if (any(w, &WorkloadRecord::met_node_limit)) {
      add_diagnostic(found, Code::NodeLimitReached, model.spec.name.where,
                     fmt::format("pods of \"{}\" waited although a node would have helped: the "
                                 "pool has all the nodes that it may have",
                                 model.name),
                     "raise nodes.max of the pool, or put more pods on a GPU");
    }
  }
}

// A budget lets pods go at some time, and did not.
void layout_finding(const World& world, std::size_t p, std::span<const Replication> replications,
                    Diagnostics& found) {
  const bool any = std::ranges::any_of(
      replications, [&](const Replication& r) { return r.pools[p].layouts_given_up > 0; });
  if (!any) return;
  found.push_back(make_diagnostic(
      Code::BudgetAllowsNone, world.pools[p].where,
      fmt::format("the MIG layout of \"{}\" does not change: a PodDisruptionBudget kept pods there "
                  "for 24 hours, after which nobody asks them to go any more",
                  world.pools[p].name),
      "a budget that lets one pod go, or a second pool whose nodes take its pods"));
}

// Which its bill goes beyond.
void block_finding(const World& world, std::size_t p, std::span<const Replication> replications,
                   Diagnostics& found) {
  Duration longest;
  for (const Replication& r : replications) longest = std::max(longest, r.length);
  const bool is_over = longest > hours(24) * kDaysOfLongestBlock;
  if (!world.pools[p].paid_by_block || !is_over) return;
  Diagnostic over = make_diagnostic(
      Code::PriceDerived, world.pools[p].where,
      fmt::format(
          "nodes of \"{}\" are a Capacity Block, which is sold for {} days at most, and the "
          "jobs take {}: the bill has nodes that nobody sells",
          world.pools[p].name, kDaysOfLongestBlock, clock_text(longest)),
      "more nodes, or another capacityType");
  over.severity = Severity::Warning;
  found.push_back(std::move(over));
}

}  // namespace

void node_findings(const World& world, std::span<const Replication> replications,
                   const VariantResult& result, Diagnostics& found) {
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    layout_finding(world, p, replications, found);
    block_finding(world, p, replications, found);
    const auto& dynamics = result.node_pools[p].dynamics;
    if (!dynamics) continue;
    interruption_finding(world, p, *dynamics, found);
    surplus_finding(world, p, *dynamics, found);
  }
  disrupted_findings(world, replications, found);
  never_launched_findings(world, replications, found);
}

}  // namespace slicewise::sim
