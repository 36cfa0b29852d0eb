#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/reports/advice.hpp"

#include "../export/bundle_parts.hpp"
#include "../export/installer.hpp"
#include "../export/pool_targets.hpp"
#include "../text/amount_text.hpp"
#include "embedded/advice_files.hpp"

namespace slicewise::reports {
namespace {

// What people do with nodes to follow an advice, as items of a list with a command each; "" nothing
// is to be done.
struct NodeSteps {
  std::string come;           // before anything is applied
  std::string go;             // when pods have left them
  std::string back;           // of what went, before rollback.sh
  bool by_karpenter = false;  // some by `apply.sh --karpenter`
};

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

// From the groups that there are to the pools of the option.
NodeSteps node_steps(const Advice& advice) {
  return advice.option ? NodeStepList(advice).steps() : NodeSteps{};
}

std::string figure_words(const std::string& figure) {
  if (figure == "gpuUse") return "GPU in use by a pod";
  if (figure == "wait") return "creation of a pod to its container's start, mean";
  return "latency p" + figure.substr(figure.size() - 2);
}

std::string value_text(const Deviation& deviation, double value) {
  return amount_text(
      {value, deviation.is_time ? sim::AmountUnit::Seconds : sim::AmountUnit::Ratio});
}

std::string off_text(const Deviation& deviation) {
  if (deviation.recorded != 0) return change_text(deviation.off());
  return deviation.simulated == 0 ? "0%" : "not seen in the cluster";
}

std::string deviations_part(const Advice& advice) {
  if (advice.recorded_from.empty()) {
    return fmt::format("Nobody knows: no recording was read.\n{}",
                       advice.how_to_record.empty() ? "" : "\n" + advice.how_to_record + "\n");
  }
  if (advice.deviations.empty()) {
    return fmt::format("{} has no figure of these workloads to hold the simulation to.\n",
                       advice.recorded_from);
  }
  std::string text = fmt::format("Recorded: {}.\n\n", advice.recorded_from);
  text += "| WORKLOAD | FIGURE | CLUSTER | SIMULATED | OFF BY |\n|---|---|---:|---:|---:|\n";
  for (const Deviation& one : advice.deviations) {
    text += fmt::format("| {}/{} | {} | {} | {} | {} |\n", one.space, one.workload,
                        figure_words(one.figure), value_text(one, one.recorded),
                        value_text(one, one.simulated), off_text(one));
  }
  return text + std::string(advice_files::deviations_md());
}

std::string bullets(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("- {}\n", printable(line));
  return text;
}

std::string code_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("    {}\n", printable(line));
  return text;
}

std::string rests_part(const Advice& advice) {
  std::string text;
  if (!advice.placeholders.empty()) {
    text =
        filled(advice_files::placeholders_md(),
               {{"workloads", printable(fmt::format("{}", fmt::join(advice.placeholders, ", ")))}});
  }
  if (!advice.assumed_pools.empty()) {
    text +=
        filled(advice_files::assumed_pools_md(),
               {{"pools", printable(fmt::format("{}", fmt::join(advice.assumed_pools, ", ")))}});
  }
  return text.empty() ? text : "## What this rests on\n\n" + text;
}

// What apply.sh leaves to people, whose nodes may go.
std::string hand_part(const Advice& advice) {
  const auto left = advice.option ? left_by_hand(*advice.option) : std::vector<std::string>();
  if (left.empty()) return "";
  std::string text =
      "First by hand, as `apply.sh` said: pods of these ask for what they asked for, and stay "
      "Pending where their\n   nodes go:\n";
  for (const std::string& one : left) text += fmt::format("   - {}\n", one);
  return text + "\n   ";
}

// Which nodes come and go, among the steps.
std::string with_nodes(std::string_view steps, const Advice& advice) {
  const NodeSteps nodes = node_steps(advice);
  const auto part = [](const std::string& list, std::string_view heading, std::string_view none) {
    return list.empty() ? std::string(none) : fmt::format("{}:\n{}", heading, list);
  };
  return filled(
      steps,
      {{"karpenter", nodes.by_karpenter ? " --karpenter" : ""},
       {"come", part(nodes.come, "First these nodes", "No nodes have to be there first.\n")},
       {"hand", hand_part(advice)},
       {"back",
        part(nodes.back, "The way back: first the nodes that went, until they are Ready", "") +
            (nodes.back.empty() ? "" : "   Then ")},
       {"go",
        part(nodes.go,
             "When the new pods run (`kubectl get pods -A -o wide`), these nodes go, and pods "
             "that are still on them\n   start again elsewhere; until then nothing is saved",
             "No nodes go.\n")}});
}

}  // namespace

std::string advice_text(const Advice& advice) {
  std::vector<std::string> paths;
  for (const ExportFile& file : advice.files) paths.push_back(file.path);
  const std::string problem =
      advice.problem.empty()
          ? std::string()
          : fmt::format("What stands against it:\n\n```text\n{}```\n\n", advice.problem);
  const std::string no_path =
      advice.no_path.empty()
          ? std::string()
          : fmt::format("\nNo path from the present pools is part of it:\n\n```text\n{}```\n",
                        advice.no_path);
  const std::string plan = problem + advice.plan_markdown + no_path;
  const bool has_files = std::ranges::any_of(
      paths, [](const std::string& path) { return path.starts_with("apply/"); });
  const bool is_guess = !advice.placeholders.empty();
  const std::string_view steps = is_guess             ? advice_files::not_to_apply_md()
                                 : has_files          ? advice_files::steps_md()
                                 : advice.keeps_as_is ? advice_files::nothing_to_apply_md()
                                                      : std::string_view();
  return filled(advice_files::advice_md(), {{"scenario", advice.scenario},
                                            {"rests", rests_part(advice)},
                                            {"if", is_guess ? ", if that were so" : ""},
                                            {"plan", plan},
                                            {"notes", bullets(advice.notes)},
                                            {"deviations", deviations_part(advice)},
                                            {"steps", with_nodes(steps, advice)},
                                            {"files", code_lines(paths)},
                                            {"commands", code_lines(advice.commands)}});
}

}  // namespace slicewise::reports
