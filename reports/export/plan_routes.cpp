#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/reports/export.hpp"
#include "slicewise/reports/studies.hpp"

#include "installer.hpp"
#include "node_settings.hpp"
#include "pool_targets.hpp"

namespace slicewise::reports {
namespace {

std::vector<std::string> refusals_of(const Expected<ExportFiles>& files) {
  std::vector<std::string> why;
  if (files) return why;
  for (const Diagnostic& problem : files.error()) why.push_back(problem.message);
  return why;
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

std::vector<std::string> dra_refusals(const scenarios::Scenario& planned,
                                      const models::Catalogue& catalogue, bool is_bottlerocket) {
  if (is_bottlerocket) return {"Bottlerocket brings the device plugin"};
  return refusals_of(render_dra(planned, catalogue, {}));
}

}  // namespace

void add_routes(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                sim::Plan& plan) {
  for (sim::PlanOption& option : plan.options) {
    const scenarios::Scenario planned = sim::planned_scenario(base, option.pools, catalogue);
    const ExportOptions options = export_options(planned);
    const sim::SetUpRoute auto_mode{std::string(kByAutoMode), auto_mode_refusals(planned)};
    option.routes = {auto_mode};
    if (options.image == NodeImage::AutoMode) continue;
    const bool is_bottlerocket = options.image == NodeImage::Bottlerocket;
    RenderExport* const plugin = is_bottlerocket    ? render_bottlerocket
                                 : has_mig(planned) ? render_gpu_operator
                                                    : render_helm_values;
    option.routes = {{std::string(kByPlugin), refusals_of(plugin(planned, catalogue, options))},
                     {std::string(kByDra), dra_refusals(planned, catalogue, is_bottlerocket)},
                     auto_mode};
  }
}

}  // namespace slicewise::reports
