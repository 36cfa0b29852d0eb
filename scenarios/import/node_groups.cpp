#include "node_groups.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "slicewise/scenarios/node_requirements.hpp"

namespace slicewise::scenarios {
namespace {

// As its maker has it; "" where no label says.
std::string name_of_group(const DraftPool& pool) {
  constexpr std::array<std::string_view, 3> kGroupLabels = {kNodePoolLabel, kManagedGroupLabel,
                                                            kEksctlGroupLabel};
  for (const std::string_view label : kGroupLabels) {
    const auto found = std::ranges::find_if(pool.made_with, [&](const NodeRequirement& one) {
      return one.key == label && one.op == "In" && one.values.size() == 1;
    });
    if (found != pool.made_with.end()) return found->values.front();
  }
  return {};
}

}  // namespace

std::vector<NodeGroup> node_groups(std::span<const DraftPool> pools) {
  std::vector<NodeGroup> groups;
  for (const DraftPool& pool : pools) {
    if (!pool.is_in_files) continue;
    const std::string name = name_of_group(pool);
    auto group = std::ranges::find_if(groups, [&](const NodeGroup& other) {
      return !name.empty() && other.name == name && other.maker == pool.maker;
    });
    if (group == groups.end()) {
      group = groups.insert(group, NodeGroup{pool.maker, name, pool.instance_type, {}, 0, 0});
    }
    group->pools.insert(pool.name);
    group->nodes += static_cast<int>(pool.nodes);
    group->most_nodes += static_cast<int>(pool.most_nodes.value_or(pool.nodes));
  }
  return groups;
}

}  // namespace slicewise::scenarios
