#include "slicewise/sim/max_load.hpp"

#include <string>

#include "slicewise/reports/max_load_report.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../interrupt.hpp"
#include "../one_variant.hpp"
#include "../progress.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string render(const sim::MaxLoad& found, const MaxLoadCommand& command,
                   const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::max_load_table(found, style, false);
    case RunFormat::Wide:
      return reports::max_load_table(found, style, true);
    case RunFormat::Json:
      return reports::max_load_json(found);
    case RunFormat::Yaml:
      return reports::max_load_yaml(found);
    case RunFormat::Csv:
      return reports::max_load_csv(found);
    case RunFormat::Markdown:
      return reports::max_load_markdown(found);
    case RunFormat::Junit:
      break;  // not offered
  }
  return {};
}

ExitCode verdict(const sim::MaxLoad& found) {
  if (found.interrupted) {
    print_error("interrupted: the report covers the loads that had been tried");
    return ExitCode::Interrupted;
  }
  if (found.nothing_runs) {
    print_error("error: no pod ever ran");
    return ExitCode::Infeasible;
  }
  // What the scenario asks for is too much when no load as high as its own passes.
  const bool holds = found.passed && found.probes[*found.passed].factor >= 1;
  return holds ? ExitCode::Success : ExitCode::ObjectiveMissed;
}

sim::MaxLoadOptions options_of(const MaxLoadCommand& command) {
  sim::MaxLoadOptions options;
  options.scale = command.scale;
  options.precision = command.precision.value_or(options.precision);
  options.most = command.most ? *command.most : options.most;
  options.most_replications = command.most_replications;
  options.run.threads = thread_count(command.jobs);
  return options;
}

}  // namespace

ExitCode execute(const MaxLoadCommand& command, const CommonFlags& flags) {
  const auto opened = open_variant(command, flags);
  if (!opened) return opened.error();
  Progress progress(command.progress, flags.quiet, "replications", Progress::Total::Grows);
  sim::MaxLoadOptions options = options_of(command);
  options.run.progress = [&](int done, int total) { progress.update(done, total); };
  options.run.interrupted = &catch_interrupt();
  auto found = sim::find_max_load(opened->set(), opened->variant, opened->catalogue, options);
  progress.finish();
  if (!found) return fail(found.error(), opened->file.texts, flags);
  stamp_files(opened->file, opened->prices, found->stamp);
  if (const ExitCode code = write_text(command.out, render(*found, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  print_diagnostics(opened->set().notes, opened->file.texts, flags);
  return verdict(*found);
}

}  // namespace slicewise::tools
