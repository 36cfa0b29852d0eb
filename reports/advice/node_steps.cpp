#include "node_steps.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/printable.hpp"

#include "../export/bundle_parts.hpp"
#include "../export/installer.hpp"
#include "../export/pool_targets.hpp"

namespace slicewise::reports {
namespace {

using scenarios::NodeGroup;
using scenarios::NodeMaker;
using scenarios::NodePool;

constexpr std::string_view kKarpenterFile = "apply/karpenter.yaml";
constexpr std::string_view kByHand = "by hand, since it makes nodes without GPUs as well";

struct NodeRange {
  int least = 0;
  int most = 0;

  std::string text() const {
    return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  }
  std::string nodes() const { return text() + (text() == "1" ? " node" : " nodes"); }
  bool operator==(const NodeRange& other) const = default;
};

NodeRange range_of(const NodePool& pool) {
  return {pool.nodes, std::max(pool.nodes, pool.most_nodes.value_or(pool.nodes))};
}

class NodeStepList {
 public:
  explicit NodeStepList(const Advice& advice)
      : advice_(advice),
        of_cluster_(
            fmt::format("\"$CLUSTER_NAME\" --region {}", shell_word(advice.option->region))) {}

  NodeSteps steps() {
    for (const NodePool& pool : advice_.option->node_pools) {
      const auto has_it = [&](const NodeGroup& g) { return g.pools.contains(pool.name.value); };
      if (std::ranges::none_of(advice_.groups, has_it)) make(pool);
    }
    for (const NodeGroup& group : advice_.groups) {
      NodeRange wanted;
      bool stays = false;
      for (const NodePool& pool : advice_.option->node_pools) {
        if (!group.pools.contains(pool.name.value)) continue;
        stays = true;
        wanted.least += range_of(pool).least;
        wanted.most += range_of(pool).most;
      }
      // Those that stay as many are told what they offer now.
      if (stays && is_node_pool(group) && writes(kKarpenterFile)) steps_.by_karpenter = true;
      stays ? scale(group, wanted) : remove(group);
    }
    add_configs();
    return steps_;
  }

 private:
  // The plugin of a node whose config its ConfigMap has not, stops.
  void add_configs() {
    const std::string& map = advice_.option->gpu_software.operator_config_map;
    const std::string file = "apply/plugin-config.yaml";
    if (steps_.come.empty() || !writes(file)) return;
    steps_.come.insert(0, fmt::format("   - before them their configs of the device plugin, in "
                                      "ConfigMap `{}`: `{}`\n",
                                      map, config_map_patch(map, file)));
  }

  static bool is_node_pool(const NodeGroup& group) {
    return group.maker == NodeMaker::Karpenter || group.maker == NodeMaker::AutoMode;
  }

  static std::string name_of(const NodeGroup& group) {
    if (group.name.empty()) return fmt::format("nodes of {}, in no group", group.instance_type);
    return fmt::format("{} `{}`", is_node_pool(group) ? "NodePool" : "node group", group.name);
  }

  bool writes(std::string_view path) const {
    return std::ranges::find(advice_.files, path, &ExportFile::path) != advice_.files.end();
  }

  static void add(std::string& list, const std::string& what, const std::string& how) {
    list += fmt::format("   - {}: {}\n", printable(what), printable(how));
  }

  void make(const NodePool& pool) {
    const std::string& name = pool.name.value;
    const std::string nodes =
        fmt::format("{} of {}, new", range_of(pool).nodes(), pool.instance_type.value);
    if (writes("apply/eksctl.yaml") && !is_of_node_pool(pool)) {
      add(steps_.come, fmt::format("node group `{}`, {}", name, nodes),
          fmt::format("`envsubst '$CLUSTER_NAME' <apply/eksctl.yaml | eksctl create nodegroup -f - "
                      "--include {} --install-nvidia-plugin=false`",
                      shell_word(name)));
    } else if (writes(kKarpenterFile)) {
      steps_.by_karpenter = true;
      add(steps_.come, fmt::format("NodePool `{}`, {}", name, nodes),
          "`apply/apply.sh --karpenter` makes it, and Karpenter starts them for pods that wait");
    } else {
      add(steps_.come, fmt::format("node group `{}`, {}", name, nodes),
          "by whatever makes your node groups");
    }
  }

  void scale(const NodeGroup& group, const NodeRange& wanted) {
    const NodeRange there{group.nodes, group.most_nodes};
    if (wanted == there) return;
    const bool grows = wanted.most > there.most || wanted.least > there.least;
    const std::string what =
        fmt::format("{}, {} -> {}", name_of(group), there.text(), wanted.nodes());
    std::string how = "by whoever made them";
    if (group.makes_others) {
      how = std::string(kByHand) +
            ": `apply/apply.sh --karpenter` would leave it types with GPUs alone";
    } else if (is_node_pool(group) && writes(kKarpenterFile)) {
      how =
          "`apply/apply.sh --karpenter` limits it so; Karpenter starts nodes for pods that wait, "
          "and takes away those that are not needed";
    } else if (is_scaled(group)) {
      const bool drains = grows || group.maker == NodeMaker::ManagedGroup;
      how = fmt::format("`{}`{}", scale_command(group, wanted),
                        drains ? "" : ", which drains none of them");
      if (!grows) add_back(group);
    }
    add(grows ? steps_.come : steps_.go, what, how);
  }

  void remove(const NodeGroup& group) {
    const std::string name = shell_word(group.name);
    std::string how = "by whoever made them";
    if (group.makes_others) {
      if (group.nodes == 0) return;  // nobody asks it for GPUs any more
      how = std::string(kByHand) + ": take the GPU types out of its requirements";
    } else if (is_node_pool(group)) {
      how = fmt::format(
          "`kubectl get nodepool {0} -o yaml >{1} && kubectl delete nodepool {0}`{2}, unless it "
          "makes nodes without GPUs as well: then take the GPU types out of its requirements",
          name, file_before(group),
          group.nodes == 0 ? ", of which there are no nodes with GPUs now" : "");
      add_back(group);
    } else if (is_scaled(group)) {
      // To none, which can be taken back.
      how = group.maker == NodeMaker::ManagedGroup
                ? fmt::format(
                      "`{}`; when all of this stays, `aws eks delete-nodegroup "
                      "--cluster-name {} --nodegroup-name {}`",
                      scale_command(group, {}), of_cluster_, name)
                : fmt::format(
                      "`eksctl drain nodegroup --cluster {0} --name {1} && {2}`; when all "
                      "of this stays, `eksctl delete nodegroup --cluster {0} --name {1}`",
                      of_cluster_, name, scale_command(group, {}));
      add_back(group);
    }
    const NodeRange there{group.nodes, group.most_nodes};
    add(steps_.go, fmt::format("{}, {}, away", name_of(group), there.nodes()), how);
  }

  static bool is_scaled(const NodeGroup& group) {
    return group.maker == NodeMaker::ManagedGroup || group.maker == NodeMaker::Eksctl;
  }

  // With as many nodes as now, where that is allowed.
  std::string scale_command(const NodeGroup& group, const NodeRange& wanted) const {
    const int most = std::max(1, wanted.most);
    const int now = std::clamp(group.nodes, wanted.least, std::max(wanted.least, wanted.most));
    const std::string name = shell_word(group.name);
    return group.maker == NodeMaker::ManagedGroup
               ? fmt::format(
                     "aws eks update-nodegroup-config --cluster-name {} --nodegroup-name {} "
                     "--scaling-config minSize={},maxSize={},desiredSize={}",
                     of_cluster_, name, wanted.least, most, now)
               : fmt::format(
                     "eksctl scale nodegroup --cluster {} --name {} --nodes-min {} --nodes-max {} "
                     "--nodes {}",
                     of_cluster_, name, wanted.least, most, now);
  }

  static std::string file_before(const NodeGroup& group) {
    return shell_word(group.name + "-before.yaml");
  }

  // Its nodes as they are now, once they went.
  void add_back(const NodeGroup& group) {
    add(steps_.back, name_of(group),
        is_node_pool(group)
            ? fmt::format("`sed -E '/^ +(resourceVersion|uid):/d' {} | kubectl apply -f -`",
                          file_before(group))
            : fmt::format("`{}`", scale_command(group, {group.nodes, group.most_nodes})));
  }

  const Advice& advice_;
  std::string of_cluster_;
  NodeSteps steps_;
};

}  // namespace

NodeSteps node_steps(const Advice& advice) {
  return advice.option ? NodeStepList(advice).steps() : NodeSteps{};
}

}  // namespace slicewise::reports
