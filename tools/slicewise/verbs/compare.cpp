#include <algorithm>
#include <string>

#include "slicewise/reports/comparison_report.hpp"
#include "slicewise/reports/junit_report.hpp"
#include "slicewise/sim/comparison.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../interrupt.hpp"
#include "../one_variant.hpp"
#include "../progress.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string render(const sim::StrategyComparison& comparison, const CompareCommand& command,
                   const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::comparison_table(comparison, style, false);
    case RunFormat::Wide:
      return reports::comparison_table(comparison, style, true);
    case RunFormat::Json:
      return reports::comparison_json(comparison);
    case RunFormat::Yaml:
      return reports::comparison_yaml(comparison);
    case RunFormat::Csv:
      return reports::comparison_csv(comparison);
    case RunFormat::Markdown:
      return reports::comparison_markdown(comparison);
    case RunFormat::Junit:
      return reports::comparison_junit(comparison);
  }
  return {};
}

// One option that does the job is a success: those that do not are what a comparison is for.
ExitCode verdict(const sim::StrategyComparison& comparison) {
  if (comparison.interrupted) {
    print_error("interrupted: the report covers the options that had finished");
    return ExitCode::Interrupted;
  }
  const auto runs = [](const sim::ComparedOption& option) {
    return option.result.pods.running_max > 0;
  };
  if (std::ranges::none_of(comparison.options, runs)) {
    print_error("error: no option runs any pod");
    return ExitCode::Infeasible;
  }
  return std::ranges::any_of(comparison.options, &sim::ComparedOption::meets_objectives)
             ? ExitCode::Success
             : ExitCode::ObjectiveMissed;
}

sim::ComparisonOptions options_of(const CompareCommand& command) {
  sim::ComparisonOptions options;
  options.instance_types = command.instances;
  options.purchases = command.purchase;
  options.strategies = command.strategies;
  options.replicas = command.replicas;
  options.nodes = command.nodes;
  options.force = command.force;
  options.run.threads = thread_count(command.jobs);
  return options;
}

}  // namespace

ExitCode execute(const CompareCommand& command, const CommonFlags& flags) {
  const auto opened = open_variant(command, flags);
  if (!opened) return opened.error();
  Progress progress(command.progress, flags.quiet);
  sim::ComparisonOptions options = options_of(command);
  options.run.progress = [&](int done, int total) { progress.update(done, total); };
  options.run.interrupted = &catch_interrupt();
  auto comparison =
      sim::compare_strategies(opened->set(), opened->variant, opened->catalogue, options);
  progress.finish();
  if (!comparison) return fail(comparison.error(), opened->file.texts, flags);
  stamp_files(opened->file, opened->prices, comparison->stamp);
  if (const ExitCode code = write_text(command.out, render(*comparison, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  if (const ExitCode code = write_besides(command.junit, reports::comparison_junit(*comparison));
      code != ExitCode::Success) {
    return code;
  }
  print_diagnostics(opened->set().notes, opened->file.texts, flags);
  return verdict(*comparison);
}

}  // namespace slicewise::tools
