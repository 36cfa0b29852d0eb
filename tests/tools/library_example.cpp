// Simulates every variant of a scenario, finds the cheapest way to share its GPUs, and writes the
// settings of the device plugin: library_example SCENARIO VALUES-FILE.
#include <fstream>
#include <iostream>
#include <iterator>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/run.hpp"

namespace models = slicewise::models;
namespace scenarios = slicewise::scenarios;
namespace sim = slicewise::sim;
namespace reports = slicewise::reports;

int main(int, char** argv) {
  std::ifstream file(argv[1]);
  const slicewise::SourceText source{argv[1], {std::istreambuf_iterator<char>(file), {}}};
  const auto refuse = [&](const slicewise::Diagnostics& mistakes) {
    std::cerr << reports::diagnostics_text(mistakes, {source}, {});
    return 3;
  };

  const models::Catalogue catalogue = models::load_catalogue();  // outlives what is made from it
  const auto set = scenarios::load_scenario(source);
  if (!set) return refuse(set.error());
  sim::RunOptions options;
  options.threads = 2;
  const auto result = sim::run_scenario(*set, catalogue, options);
  if (!result) return refuse(result.error());
  for (const sim::VariantResult& variant : result->variants) {
    std::cerr << variant.name << ": " << slicewise::to_dollars(variant.cost.ledger.total) << " USD";
    for (const sim::WorkloadResult& workload : variant.workloads) {
      if (!workload.latency) continue;  // not a Service
      const double p99_s = slicewise::to_seconds(workload.latency->p99);
      std::cerr << ", p99 of " << workload.name << " " << p99_s << " s";
    }
    std::cerr << "\n";
  }

  sim::ComparisonOptions places;
  places.instance_types = {"g4dn.xlarge", "g5.xlarge"};
  const auto comparison = sim::compare_strategies(*set, 0, catalogue, places);
  if (!comparison) return refuse(comparison.error());
  for (const sim::ComparedOption& option : comparison->options) {
    if (!option.best) continue;
    std::cerr << "cheapest: " << option.configuration.instance_type << ", "
              << sim::strategy_name(option.configuration.strategy) << "\n";
  }

  const auto files = reports::render_helm_values(set->variants.back(), catalogue, {});
  if (!files) return refuse(files.error());
  std::ofstream(argv[2]) << files->front().text;
  std::cout << reports::Report(*result).json();
}
