#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/provisioner_name.hpp"

#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

using ProvisionerKind = Provisioner::Kind;

constexpr std::pair<std::string_view, ProvisionerKind> kProvisionerKinds[] = {
    {"Karpenter", ProvisionerKind::Karpenter},
    {"ClusterAutoscaler", ProvisionerKind::ClusterAutoscaler},
    {"ManagedNodeGroup", ProvisionerKind::ManagedNodeGroup},
};
constexpr std::pair<std::string_view, Provisioner::Consolidation> kConsolidationPolicies[] = {
    {"WhenEmptyOrUnderutilized", Provisioner::Consolidation::WhenEmptyOrUnderutilized},
    {"WhenEmpty", Provisioner::Consolidation::WhenEmpty},
};

// Settings that only one kind of provisioner has.
constexpr std::pair<std::string_view, ProvisionerKind> kOwners[] = {
    {"batchIdle", ProvisionerKind::Karpenter},
    {"batchMax", ProvisionerKind::Karpenter},
    {"nodeOverlay", ProvisionerKind::Karpenter},
    {"consolidationPolicy", ProvisionerKind::Karpenter},
    {"consolidateAfter", ProvisionerKind::Karpenter},
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

}  // namespace

Provisioner read_provisioner(const Node& spec, Findings& findings) {
  Provisioner read;
  const Node* node = block(&spec, "provisioner");
  if (node == nullptr) return read;
  const auto duration = [&](std::string_view name, Duration& value) {
    value = duration_at(node, name).value_or(value);
  };
  read.where = key_place(spec, "provisioner");
  read.kind = word_at(node, "kind", kProvisionerKinds).value_or(ProvisionerKind::Karpenter);
  duration("launch", read.start_up.launch);
  duration("nodeReady", read.start_up.ready);
  duration("gpuAllocatable", read.start_up.gpu_allocatable);
  read.start_up.variation = percent_at(node, "variation").value_or(read.start_up.variation);
  duration("batchIdle", read.batch_idle);
  duration("batchMax", read.batch_max);
  duration("consolidateAfter", read.consolidate_after);
  duration("scanInterval", read.scan_interval);
  duration("unneededTime", read.unneeded_time);
  read.node_overlay = boolean_at(node, "nodeOverlay").value_or(false);
  read.resource_tags = boolean_at(node, "resourceTags").value_or(false);
  read.consolidation =
      word_at(node, "consolidationPolicy", kConsolidationPolicies).value_or(read.consolidation);
  check_owners(*node, read.kind, findings);
  if (read.batch_max < read.batch_idle) {
    findings.add(Code::SettingConflict, value_place(*node, "batchMax"),
                 "batchMax is shorter than batchIdle", "Karpenter has 10 s and 1 s");
  }
  return read;
}

void check_node_ranges(const Scenario& scenario, Findings& findings) {
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
