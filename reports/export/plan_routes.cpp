#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/reports/export.hpp"
#include "slicewise/reports/studies.hpp"

#include "installer.hpp"
#include "pool_targets.hpp"

namespace slicewise::reports {
namespace {

std::vector<std::string> refusals_of(const Expected<ExportFiles>& files) {
  std::vector<std::string> why;
  if (files) return why;
  for (const Diagnostic& problem : files.error()) why.push_back(problem.message);
  return why;
}

// What keeps the nodes of a pool off EKS Auto Mode, whose device plugin is no DaemonSet and takes
// no settings, and whose nodes nobody reaches to cut GPUs; "": nothing does. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-accelerated.html (the plugin),
// https://docs.aws.amazon.com/eks/latest/userguide/automode-learn-instances.html (the nodes),
// https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia-dra-device-plugin.html
std::string off_auto_mode(const scenarios::NodePool& pool) {
  if (pool.dra) return "NVIDIA's DRA driver is not supported there";
  if (pool.mig) return "its nodes cut no GPU: mig-manager and nvidia-mig-parted do not reach them";
  if (sharing_of(pool) != nullptr) return "nobody configures its device plugin: it shares no GPU";
  const bool other = pool.nos || pool.hami || pool.kai || pool.virtual_gpu;
  return other ? "its nodes bring a device plugin, beside which no other one runs" : "";
}

std::vector<std::string> auto_mode_refusals(const scenarios::Scenario& planned) {
  std::vector<std::string> why;
  for (const Diagnostic& problem : check_ec2(planned)) why.push_back(problem.message);
  for (const scenarios::NodePool& pool : planned.node_pools) {
    std::string reason = off_auto_mode(pool);
    const bool is_new = std::ranges::find(why, reason) == why.end();
    if (!reason.empty() && is_new) why.push_back(std::move(reason));
  }
  return why;
}

}  // namespace

void add_routes(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                sim::Plan& plan) {
  for (sim::PlanOption& option : plan.options) {
    const scenarios::Scenario planned = sim::planned_scenario(base, option.pools, catalogue);
    RenderExport* const plugin = has_mig(planned) ? render_gpu_operator : render_helm_values;
    option.routes = {{std::string(kByPlugin), refusals_of(plugin(planned, catalogue, {}))},
                     {std::string(kByDra), refusals_of(render_dra(planned, catalogue, {}))},
                     {std::string(kByAutoMode), auto_mode_refusals(planned)}};
  }
}

}  // namespace slicewise::reports
