#include "slicewise/reports/export.hpp"

namespace slicewise::reports {
namespace {

Expected<ExportFiles> one_file(const char* path, Expected<std::string> text) {
  if (!text) return tl::unexpected(std::move(text.error()));
  return ExportFiles{{path, std::move(*text)}};
}

}  // namespace

Expected<ExportFiles> render_helm_values(const scenarios::Scenario& scenario,
                                         const models::Catalogue& catalogue,
                                         const ExportOptions& options) {
  return one_file("nvdp-values.yaml", helm_values(scenario, catalogue, options));
}

Expected<ExportFiles> render_config_map(const scenarios::Scenario& scenario,
                                        const models::Catalogue& catalogue,
                                        const ExportOptions& options) {
  return one_file("nvdp-configs.yaml", config_map(scenario, catalogue, options));
}

Expected<ExportFiles> render_pod_patch(const scenarios::Scenario& scenario,
                                       const models::Catalogue& /*catalogue*/,
                                       const ExportOptions& /*options*/) {
  return one_file("pod-patches.yaml", pod_patches(scenario));
}

}  // namespace slicewise::reports
