#include <algorithm>
#include <string>
#include <thread>

#include <unistd.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/comparison_report.hpp"
#include "slicewise/sim/check.hpp"
#include "slicewise/sim/comparison.hpp"

#include "commands.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "prices.hpp"
#include "progress.hpp"
#include "scenario_file.hpp"
#include "terminal.hpp"
#include "variants.hpp"

namespace slicewise::tools {
namespace {

std::string render(const sim::StrategyComparison& comparison, const CompareCommand& command,
                   const CommonFlags& flags) {
  reports::TextStyle style = style_for(STDOUT_FILENO, flags.color);
  if (!command.out.empty() && flags.color == ColorChoice::Auto) style.color = false;
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

int thread_count(int jobs) {
  return jobs > 0 ? jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::size_t position_of(const scenarios::ScenarioSet& set, const std::string& variant) {
  const auto found = std::ranges::find(set.variants, variant, &scenarios::Scenario::name);
  return variant.empty() ? 0 : static_cast<std::size_t>(found - set.variants.begin());
}

sim::ComparisonOptions options_of(const CompareCommand& command) {
  sim::ComparisonOptions options;
  options.instance_types = command.instances;
  options.replicas = command.replicas;
  options.nodes = command.nodes;
  options.force = command.force;
  options.run.threads = thread_count(command.jobs);
  return options;
}

ExitCode compare(ScenarioFile& file, const models::Catalogue& catalogue, const PriceFile& prices,
                 const CompareCommand& command, const CommonFlags& flags) {
  scenarios::ScenarioSet& set = file.loaded.set;
  const std::size_t variant = position_of(set, command.variant);
  scenarios::Scenario& scenario = set.variants[variant];
  scenario.seed = command.seed.value_or(scenario.seed);
  scenario.replications = command.replications.value_or(scenario.replications);
  Progress progress(command.progress, flags.quiet);
  sim::ComparisonOptions options = options_of(command);
  options.run.progress = [&](int done, int total) { progress.update(done, total); };
  options.run.interrupted = &catch_interrupt();
  auto comparison = sim::compare_strategies(set, variant, catalogue, options);
  progress.finish();
  if (!comparison) return fail(comparison.error(), file.texts, flags);
  comparison->price_file = prices.name;
  comparison->price_file_sha256 = prices.sha256;
  if (const ExitCode code = write_text(command.out, render(*comparison, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  print_diagnostics(set.notes, file.texts, flags);
  return verdict(*comparison);
}

}  // namespace

ExitCode execute(const CompareCommand& command, const CommonFlags& flags) {
  Expected<ScenarioFile> file = open_scenario(command.file, command.set);
  if (!file) return fail(file.error(), {}, flags);
  models::Catalogue catalogue = models::load_catalogue();
  PriceFile prices;
  if (const ExitCode code = lay_prices_over(catalogue, command.prices, flags, &prices);
      code != ExitCode::Success) {
    return code;
  }
  if (!file->loaded.problems.empty()) {
    return fail(sim::check_names(file->loaded, catalogue), file->texts, flags);
  }
  if (!command.variant.empty()) {
    // Only to have the name checked: the other variants are counted in the report.
    scenarios::ScenarioSet named = file->loaded.set;
    if (const ExitCode code = keep_variants(named, {command.variant}); code != ExitCode::Success) {
      return code;
    }
  }
  return compare(*file, catalogue, prices, command, flags);
}

}  // namespace slicewise::tools
