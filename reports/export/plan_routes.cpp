#include <utility>

#include "slicewise/reports/export.hpp"
#include "slicewise/reports/studies.hpp"

#include "installer.hpp"

namespace slicewise::reports {
namespace {

std::vector<std::string> refusals_of(const Expected<ExportFiles>& files) {
  std::vector<std::string> why;
  if (files) return why;
  for (const Diagnostic& problem : files.error()) why.push_back(problem.message);
  return why;
}

}  // namespace

void add_routes(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                sim::Plan& plan) {
  for (sim::PlanOption& option : plan.options) {
    const scenarios::Scenario planned = sim::planned_scenario(base, option.pools, catalogue);
    RenderExport* const plugin = has_mig(planned) ? render_gpu_operator : render_helm_values;
    option.routes = {{std::string(kByPlugin), refusals_of(plugin(planned, catalogue, {}))},
                     {std::string(kByDra), refusals_of(render_dra(planned, catalogue, {}))}};
  }
}

}  // namespace slicewise::reports
