// Simulates every variant of a scenario, finds the cheapest way to share its GPUs, and writes the
// settings of the device plugin: library_example SCENARIO VALUES-FILE.
#include <fstream>
#include <iostream>
#include <iterator>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/export/kinds.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/run.hpp"

using namespace slicewise;

int main(int, char** argv) {
  std::ifstream file(argv[1]);
  const SourceText source{argv[1], {std::istreambuf_iterator<char>(file), {}}};
  const auto refuse = [&](const Diagnostics& mistakes) {
    std::cerr << reports::diagnostics_text(mistakes, {source}, {});
    return 3;
  };

  const models::Catalogue catalogue = models::load_catalogue();  // outlives what is made from it
  const auto set = scenarios::load_scenario(source);
  if (!set) return refuse(set.error());
  const auto result = sim::run_scenario(*set, catalogue, {.threads = 2});
  if (!result) return refuse(result.error());
  for (const sim::VariantResult& variant : result->variants) {
    std::cerr << variant.name << ": " << to_dollars(variant.cost.ledger.total) << " USD";
    for (const sim::WorkloadResult& workload : variant.workloads) {
      if (!workload.latency) continue;  // not a Service
      std::cerr << ", p99 of " << workload.name << " " << to_seconds(workload.latency->p99) << " s";
    }
    std::cerr << "\n";
  }

  const auto comparison = sim::compare_strategies(*set, 0, catalogue);
  if (!comparison) return refuse(comparison.error());
  for (const sim::ComparedOption& option : comparison->options) {
    if (!option.best) continue;
    std::cerr << "cheapest: " << option.configuration.instance_type << ", "
              << sim::strategy_name(option.configuration.strategy) << "\n";
  }

  const auto files = reports::render_helm_values(set->variants.back(), catalogue, {});
  if (!files) return refuse(files.error());
  std::ofstream(argv[2]) << files->front().text;
  std::cout << reports::result_json(*result);
}
