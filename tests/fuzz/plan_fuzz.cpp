// libFuzzer target: any bytes in place of a stored plan must end in pools that can be put in place
// or in diagnostics.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ && build/tests/fuzz/plan_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/plan.hpp"

#include "fuzz_target.hpp"

const fuzz::Target plan_fuzz("plan_fuzz", [](const std::uint8_t* data, std::size_t size) {
  using namespace slicewise;  // NOLINT(google-build-using-namespace)
  static const models::Catalogue catalogue = models::load_catalogue();
  const SourceText source{"plan.json", std::string(reinterpret_cast<const char*>(data), size)};
  const auto plan = reports::read_plan(source);
  if (!plan) {
    if (plan.error().empty()) std::abort();
    return reports::diagnostics_text(plan.error(), {source}, {}).empty() ? std::abort(), 0 : 0;
  }
  scenarios::Scenario scenario;
  scenario.node_pools.emplace_back().name.value = "gpu";
  for (const char* name : {"asr", "tts"}) scenario.workloads.emplace_back().name.value = name;
  for (std::size_t o = 0; o < plan->options.size(); ++o) {
    const std::vector<sim::PoolChoice>& pools = plan->options[o].pools;
    const std::string at = "/options/" + std::to_string(o);
    if (!reports::check_plan_names(source, pools, at, scenario, catalogue).empty()) continue;
    const scenarios::Scenario planned = sim::planned_scenario(scenario, pools, catalogue);
    const auto files = reports::render_bundle(planned, catalogue, {});
    if (!files && files.error().empty()) std::abort();
  }
  return 0;
});
