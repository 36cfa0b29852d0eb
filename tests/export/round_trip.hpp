#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/result.hpp"

// What is exported and read again with `import k8s`.
namespace slicewise::reports {

inline scenarios::Scenario read_again(const scenarios::Scenario& scenario,
                                      const std::vector<std::string>& kinds,
                                      const scenarios::ImportOptions& options = {}) {
  static const models::Catalogue catalogue = models::load_catalogue();
  std::vector<SourceText> files;
  for (const ExportKind& kind : kExportKinds) {
    if (std::ranges::find(kinds, kind.name) == kinds.end()) continue;
    const auto written = kind.render(scenario, catalogue, {});
    if (!written) {
      ADD_FAILURE() << kind.name << ": " << written.error().front().message;
      return {};
    }
    for (const ExportFile& file : *written) {
      if (file.path.ends_with(".yaml")) files.push_back({file.path, file.text});
    }
  }
  const auto imported = scenarios::import_log(scenarios::ImportKind::K8s, files, options);
  if (!imported) {
    ADD_FAILURE() << imported.error().front().message;
    return {};
  }
  const std::string yaml =
      scenarios::scenario_of(*imported, scenarios::ImportKind::K8s, options).yaml;
  const auto loaded = scenarios::load_scenario({"again.yaml", yaml});
  if (!loaded) {
    ADD_FAILURE() << loaded.error().front().message << " in\n" << yaml;
    return {};
  }
  return loaded->variants.front();
}

inline void expect_same_figures(const sim::VariantResult& given, const sim::VariantResult& again) {
  EXPECT_EQ(given.pods.running_max, again.pods.running_max);
  EXPECT_EQ(given.cost.ledger.total, again.cost.ledger.total);
  EXPECT_EQ(given.cost.ledger.useful, again.cost.ledger.useful);
  ASSERT_EQ(given.gpus.size(), again.gpus.size());
  for (std::size_t g = 0; g < given.gpus.size(); ++g) {
    EXPECT_EQ(given.gpus[g].time_busy_ratio, again.gpus[g].time_busy_ratio);
    EXPECT_EQ(given.gpus[g].context_switch_ratio, again.gpus[g].context_switch_ratio);
    EXPECT_EQ(given.gpus[g].memory_peak, again.gpus[g].memory_peak);
  }
}

}  // namespace slicewise::reports
