// libFuzzer target: any bytes given to `slicewise check` must end in findings.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/lint.hpp"

#include "fuzz_target.hpp"

const fuzz::Target cluster_files_fuzz("cluster_files_fuzz", [](const std::uint8_t* data,
                                                               std::size_t size) {
  using namespace slicewise;  // NOLINT(google-build-using-namespace)
  static const models::Catalogue catalogue = models::load_catalogue();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const scenarios::PluginVersion version;
  // The first line of a TOML file is not YAML.
  const std::vector<SourceText> sources{{text.starts_with('[') ? "fuzz.toml" : "fuzz.yaml", text}};
  scenarios::ClusterFiles files = scenarios::read_cluster_files(sources, version);
  reports::CheckReport report{{sources[0].name}, files.problems};
  for (Diagnostic& d : sim::lint_cluster(files, catalogue, version)) {
    report.findings.push_back(std::move(d));
  }
  const std::string shown = reports::diagnostics_text(report.findings, sources, {}) +
                            reports::check_github(report) + reports::check_sarif(report);
  return shown.empty() ? std::abort(), 0 : 0;
});
