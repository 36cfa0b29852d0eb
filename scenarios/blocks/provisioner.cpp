#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

using ProvisionerKind = Provisioner::Kind;

constexpr auto kProvisionerWords = words_of(kProvisioners);

// Settings that only one kind of provisioner has.
constexpr std::pair<std::string_view, ProvisionerKind> kOwners[] = {
    {"batchIdle", ProvisionerKind::Karpenter},
    {"batchMax", ProvisionerKind::Karpenter},
    {"nodeOverlay", ProvisionerKind::Karpenter},
    {"consolidationPolicy", ProvisionerKind::Karpenter},
    {"consolidateAfter", ProvisionerKind::Karpenter},
    {"limits", ProvisionerKind::Karpenter},
    {"scanInterval", ProvisionerKind::ClusterAutoscaler},
    {"unneededTime", ProvisionerKind::ClusterAutoscaler},
    {"resourceTags", ProvisionerKind::ClusterAutoscaler},
};

void check_owners(const Node& node, ProvisionerKind kind, Findings& findings) {
  for (const auto& [name, owner] : kOwners) {
    const Entry* entry = node.entry(name);
    if (entry == nullptr || owner == kind) continue;
    Diagnostic unused =
        make_diagnostic(Code::SettingConflict, entry->key_where,
                        fmt::format("{} is a setting of {}, and does nothing for {}", name,
                                    provisioner_name(owner), provisioner_name(kind)),
                        "remove it, or change provisioner.kind");
    unused.severity = Severity::Warning;
    findings.add(std::move(unused));
  }
}

void finish_provisioner(Provisioner& read, const Node& map, Reading& reading) {
  // Somebody is to add nodes, whose name is misspelt or missing.
  if (!contains(kProvisioners, text_at(&map, "kind").value_or(""),
                &Choice<ProvisionerKind>::word)) {
    read.kind = ProvisionerKind::Karpenter;
  }
  check_owners(map, read.kind, reading.findings);
  for (const NodeLimit& limit : read.limits) {
    if (limit.nodes || limit.gpus || limit.cpu || limit.memory) continue;
    reading.findings.add(Code::FieldMissing, limit.where, "a limit that limits nothing",
                         "give nodes, gpus, cpu or memory");
  }
  if (read.batch_max < read.batch_idle) {
    reading.findings.add(Code::SettingConflict, value_place(map, "batchMax"),
                         "batchMax is shorter than batchIdle", "Karpenter has 10 s and 1 s");
  }
}

constexpr Field kLimitFields[] = {
    field<&NodeLimit::pools>("pools", "[g5, g6]", "Names of the node pools that share it.")
        .needed()
        .positive(),
    field<&NodeLimit::nodes>("nodes", "10", "The most nodes.").otherwise("any number"),
    field<&NodeLimit::gpus>("gpus", "16", "The most GPUs.").otherwise("any number"),
    field<&NodeLimit::cpu>("cpu", "512", "The most vCPUs.").otherwise("any number"),
    field<&NodeLimit::memory>("memory", "2Ti", "The most memory of their instance types.")
        .otherwise("any amount"),
};
constexpr FieldList kLimit = block<NodeLimit>(kLimitFields);

constexpr Field kProvisionerFields[] = {
    field<&Provisioner::kind>(
        "kind", "Karpenter",
        "Who adds and removes nodes. ManagedNodeGroup only replaces what EC2 takes back.")
        .needed()
        .one_of(kProvisionerWords),
    field<&Provisioner::start_up, &NodeStartUp::launch>(
        "launch", "12s", "From the decision to start a node until EC2 bills it."),
    field<&Provisioner::start_up, &NodeStartUp::ready>("nodeReady", "40s",
                                                       "From then until the node is Ready."),
    field<&Provisioner::start_up, &NodeStartUp::gpu_allocatable>(
        "gpuAllocatable", "36s",
        "From Ready until the device plugin advertises the GPUs: driver, toolkit, plugin."),
    field<&Provisioner::start_up, &NodeStartUp::variation>(
        "variation", "10%",
        "Coefficient of variation of nodeReady + gpuAllocatable, from node to node.")
        .as(T::Percent),
    field<&Provisioner::batch_idle>(
        "batchIdle", "1s", "Karpenter: it decides when no new Pending pod came for so long."),
    field<&Provisioner::batch_max>(
        "batchMax", "10s",
        "Karpenter: it decides this long after the first Pending pod at the latest."),
    field<&Provisioner::node_overlay>(
        "nodeOverlay", "true",
        "Karpenter: NodeOverlays tell it what the nodes will advertise. Without, it knows "
        "nvidia.com/gpu as the number of GPUs, and no other GPU resource."),
    field<&Provisioner::consolidation>(
        "consolidationPolicy", "WhenEmpty",
        "Karpenter: which nodes it removes. Of an underutilized one it moves the pods.")
        .one_of(kConsolidationWords),
    field<&Provisioner::consolidate_after>(
        "consolidateAfter", "5m",
        "Karpenter: how long no pod came or went before it looks at a node."),
    field<&Provisioner::limits>("limits", "[{pools: [g5, g6], gpus: 16}]",
                                "Karpenter: what the nodes of some pools may have together, as the "
                                "limits of one NodePool with several instance types.")
        .of(kLimit),
    field<&Provisioner::scan_interval>("scanInterval", "10s",
                                       "Cluster Autoscaler: between two looks at pods and nodes.")
        .positive(),
    field<&Provisioner::unneeded_time>(
        "unneededTime", "10m",
        "Cluster Autoscaler: how long a node is unneeded before it is removed."),
    field<&Provisioner::resource_tags>(
        "resourceTags", "true",
        "Cluster Autoscaler: tags of the Auto Scaling group tell it what the nodes will advertise. "
        "Without, it knows nvidia.com/gpu as the number of GPUs until it has seen a node of the "
        "pool."),
};

}  // namespace

constinit const FieldList kProvisioner =
    block<Provisioner, &finish_provisioner>(kProvisionerFields);

namespace {

void check_pool_names(const Scenario& scenario, Findings& findings) {
  std::vector<std::string> names;
  for (const NodePool& pool : scenario.node_pools) names.push_back(pool.name.value);
  const auto check = [&](const Located<std::string>& name) {
    if (std::ranges::find(names, name.value) != names.end()) return;
    const auto near = nearest_name(name.value, names);
    findings.add(Code::EnumUnknown, name.where,
                 fmt::format("no node pool is called \"{}\"", name.value),
                 near ? fmt::format("did you mean {}?", *near) : "");
  };
  for (const NodeLimit& limit : scenario.provisioner.limits) {
    std::ranges::for_each(limit.pools, check);
  }
  for (const Workload& workload : scenario.workloads) {
    for (const StartPlace& place : workload.starts_on) {
      if (!place.pool.value.empty()) check(place.pool);
    }
  }
}

}  // namespace

void check_node_ranges(const Scenario& scenario, Findings& findings) {
  check_pool_names(scenario, findings);
  for (const NodePool& pool : scenario.node_pools) {
    const bool chosen = scenario.provisioner.kind == ProvisionerKind::Karpenter && pool.most_nodes;
    const std::string_view setting = pool.weight > 0          ? "weight"
                                     : pool.consolidation     ? "consolidationPolicy"
                                     : pool.consolidate_after ? "consolidateAfter"
                                     : pool.expire_after      ? "expireAfter"
                                                              : "";
    if (setting.empty() || chosen) continue;
    Diagnostic unused = make_diagnostic(
        Code::SettingConflict, pool.name.where,
        fmt::format("{} of \"{}\" does nothing: Karpenter alone goes by it, and for pools that it "
                    "may grow",
                    setting, pool.name.value),
        "remove it, or write `provisioner: {kind: Karpenter}` and nodes: {min, max}");
    unused.severity = Severity::Warning;
    findings.add(std::move(unused));
  }
  if (scenario.provisioner.kind != ProvisionerKind::ManagedNodeGroup) return;
  for (const NodePool& pool : scenario.node_pools) {
    if (!pool.most_nodes) continue;
    findings.add(
        Code::FieldMissing, pool.nodes_where,
        fmt::format("nobody adds nodes to \"{}\": \"provisioner\" is missing", pool.name.value),
        "add `provisioner: {kind: Karpenter}` to spec, or write one number of nodes");
  }
}

}  // namespace slicewise::scenarios
