#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/stamp.hpp"

#include "commands.hpp"
#include "prices.hpp"
#include "scenario_file.hpp"

// What the verbs that simulate one variant in several ways start with.
namespace slicewise::tools {

struct OneVariant {
  ScenarioFile file;
  std::size_t variant = 0;  // into file.loaded.set.variants
  models::Catalogue catalogue;
  PriceFile prices;

  const scenarios::ScenarioSet& set() const { return file.loaded.set; }
};

// Reads the scenario and the prices, finds the variant ("": the first) and lays seed,
// replications and --allow-pending over it; mistakes are printed.
tl::expected<OneVariant, ExitCode> open_variant(
    const std::string& path, const std::vector<std::string>& set, const std::string& prices,
    const std::string& variant, std::optional<std::uint64_t> seed, std::optional<int> replications,
    bool allow_pending, const CommonFlags& flags);

// SimulatingCommand: CompareCommand and its like.
template <class SimulatingCommand>
tl::expected<OneVariant, ExitCode> open_variant(const SimulatingCommand& command,
                                                const CommonFlags& flags) {
  bool allow_pending = false;
  if constexpr (requires { command.allow_pending; }) allow_pending = command.allow_pending;
  return open_variant(command.file, command.set, command.prices, command.variant, command.seed,
                      command.replications, allow_pending, flags);
}

// Says in the stamp of a result which files it was made from: only tools know.
void stamp_files(const ScenarioFile& scenario, const PriceFile& prices, sim::Stamp& stamp);

// 0: one per CPU.
int thread_count(int jobs);

// For standard output, or a file when `out` names one.
reports::TextStyle report_style(const std::string& out, const CommonFlags& flags);

}  // namespace slicewise::tools
