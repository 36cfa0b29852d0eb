// parallel_runs SCENARIO...: runs the replications of every variant on two threads, for
// ThreadSanitizer. Only the libraries up to sim: nothing above them has threads.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/run.hpp"

namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The traces that scenarios name.
slicewise::Expected<slicewise::SourceText> read_trace(const std::string& path) {
  return slicewise::SourceText{path, text_of(path)};
}

}  // namespace

int main(int argc, char** argv) {
  const slicewise::models::Catalogue catalogue = slicewise::models::load_catalogue();
  for (int i = 1; i < argc; ++i) {
    auto set = slicewise::scenarios::load_scenario({argv[i], text_of(argv[i])}, {}, read_trace);
    if (!set) return 1;
    for (auto& scenario : set->variants) scenario.replications = 2;
    slicewise::sim::RunOptions options;
    options.threads = 2;
    const auto result = slicewise::sim::run_scenario(*set, catalogue, options);
    if (!result) return 1;
    std::cout << argv[i] << ": " << result->variants.size() << " variants, no data race\n";
  }
  return 0;
}
