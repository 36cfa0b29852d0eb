#include "slicewise/sim/neighbours.hpp"

#include <algorithm>
#include <string>

#include "slicewise/reports/neighbours_report.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../interrupt.hpp"
#include "../one_variant.hpp"
#include "../progress.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string render(const sim::NeighbourMatrix& matrix, const NeighboursCommand& command,
                   const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::neighbours_table(matrix, style, false);
    case RunFormat::Wide:
      return reports::neighbours_table(matrix, style, true);
    case RunFormat::Json:
      return reports::neighbours_json(matrix);
    case RunFormat::Yaml:
      return reports::neighbours_yaml(matrix);
    case RunFormat::Csv:
      return reports::neighbours_csv(matrix);
    case RunFormat::Markdown:
      return reports::neighbours_markdown(matrix);
    case RunFormat::Junit:
      break;  // not offered
  }
  return {};
}

bool is_observed(const sim::NeighbourMatrix& matrix) {
  return std::ranges::any_of(matrix.rows, [](const auto& row) { return row.alone.has_value(); });
}

ExitCode verdict(const sim::NeighbourMatrix& matrix) {
  if (matrix.interrupted) {
    print_error("interrupted: the report covers the replications that had finished");
    return ExitCode::Interrupted;
  }
  if (!is_observed(matrix)) {
    print_error("error: no workload gets anything done, not even alone");
    return ExitCode::Infeasible;
  }
  return ExitCode::Success;
}

}  // namespace

ExitCode execute(const NeighboursCommand& command, const CommonFlags& flags) {
  const auto opened = open_variant(command, flags);
  if (!opened) return opened.error();
  Progress progress(command.progress, flags.quiet);
  sim::NeighbourOptions options;
  options.run.threads = thread_count(command.jobs);
  options.run.progress = [&](int done, int total) { progress.update(done, total); };
  options.run.interrupted = &catch_interrupt();
  auto matrix = sim::find_neighbours(opened->set(), opened->variant, opened->catalogue, options);
  progress.finish();
  if (!matrix) return fail(matrix.error(), opened->file.texts, flags);
  stamp_files(opened->file, opened->prices, matrix->stamp);
  if (const ExitCode code = write_text(command.out, render(*matrix, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  print_diagnostics(opened->set().notes, opened->file.texts, flags);
  return verdict(*matrix);
}

}  // namespace slicewise::tools
