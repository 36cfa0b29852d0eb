#include "slicewise/sim/neighbours.hpp"

#include <algorithm>

#include "slicewise/reports/studies.hpp"

#include "../commands.hpp"
#include "../options.hpp"
#include "../study.hpp"

namespace slicewise::tools {
namespace {

bool is_observed(const sim::NeighbourMatrix& matrix) {
  return std::ranges::any_of(matrix.rows, [](const auto& row) { return row.alone.has_value(); });
}

ExitCode neighbours_verdict(const sim::NeighbourMatrix& matrix) {
  if (matrix.interrupted) {
    print_error("interrupted: the report covers the replications that had finished");
    return ExitCode::Interrupted;
  }
  if (!is_observed(matrix)) {
    print_error("error: no workload gets anything done, not even alone");
    return ExitCode::Infeasible;
  }
  return lost_pods_code(matrix.verdict);
}

}  // namespace

void add_flags(CLI::App& app, NeighboursCommand& neighbours, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "neighbours", "Show how much each workload slows each other one down",
      "  slicewise neighbours -f scenarios/examples/shared-inference.yaml --variant shared", flags);
  verb.alias("neighbors");
  begin_study(verb, kPageFormats, neighbours);
  end_study(verb, neighbours, flags);
}

ExitCode execute(const NeighboursCommand& command, const CommonFlags& flags) {
  const Study<sim::NeighbourMatrix> study{
      .find =
          [](const OneVariant& opened, const sim::RunOptions& run) {
            return sim::find_neighbours(opened.set(), opened.variant, opened.catalogue, {run});
          },
      .verdict = neighbours_verdict};
  return execute_study(command, flags, study);
}

}  // namespace slicewise::tools
