#include "node_image.hpp"

namespace slicewise::reports {

Expected<std::vector<PoolNodes>> image_nodes(const scenarios::Scenario& scenario,
                                             const models::Catalogue& catalogue,
                                             const ExportOptions& options) {
  if (options.image == NodeImage::Al2023) {
    const Expected<PluginPlan> plan = plan_plugin(scenario, catalogue, options.chart_version);
    if (!plan) return tl::unexpected(plan.error());
    return nodes_of(*plan, scenario);
  }
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  std::vector<PoolNodes> nodes;
  Diagnostics found;
  for (const PoolTarget& target : *targets) {
    Diagnostics unfit = check_bottlerocket(target);
    found.insert(found.end(), unfit.begin(), unfit.end());
    nodes.push_back({target, ""});
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return nodes;
}

}  // namespace slicewise::reports
