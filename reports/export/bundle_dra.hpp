#pragma once

#include "slicewise/reports/export.hpp"

// A bundle in which NVIDIA's DRA driver takes the place of the device plugin.
namespace slicewise::reports {

// Whether the device plugin cannot set the scenario up and the driver can: pods claim devices, or
// MIG devices are shared under MPS, or GPUs with another thread percentage than the plugin's.
bool needs_dra(const scenarios::Scenario& scenario);

// The scenario whose pods name the claims of dra.yaml, where the device plugin cannot set it up.
Expected<scenarios::Scenario> as_claimed(const scenarios::Scenario& scenario,
                                         const models::Catalogue& catalogue);

// REQUIRES: needs_dra(scenario). EXPORT_UNFIT, beside what `dra` refuses, for workloads whose pods
// are spread over several claims that they share: a patch can name one.
Expected<ExportFiles> render_dra_bundle(const scenarios::Scenario& scenario,
                                        const models::Catalogue& catalogue,
                                        const ExportOptions& options);

}  // namespace slicewise::reports
