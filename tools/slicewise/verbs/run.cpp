#include "slicewise/sim/run.hpp"

#include <algorithm>
#include <string>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/junit_report.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/check.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../interrupt.hpp"
#include "../one_variant.hpp"
#include "../prices.hpp"
#include "../progress.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"
#include "../variants.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

void apply_flags(const RunCommand& command, scenarios::ScenarioSet& set) {
  for (scenarios::Scenario& scenario : set.variants) {
    scenario.seed = command.seed.value_or(scenario.seed);
    scenario.replications = command.replications.value_or(scenario.replications);
    scenario.fidelity = command.fidelity.value_or(scenario.fidelity);
    scenario.allow_pending = command.allow_pending;
  }
}

std::string render(const sim::Result& result, const RunCommand& command, const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::result_table(result, style, false);
    case RunFormat::Wide:
      return reports::result_table(result, style, true);
    case RunFormat::Json:
      return reports::result_json(result);
    case RunFormat::Yaml:
      return reports::result_yaml(result);
    case RunFormat::Csv:
      return reports::result_csv(result);
    case RunFormat::Markdown:
      return reports::result_markdown(result);
    case RunFormat::Junit:
      return reports::result_junit(result);
  }
  return {};
}

// What the loader noted, and for the formats made for programs the findings of the run: a person
// reads those in the table itself. Several variants often have the same finding.
Diagnostics remarks(const scenarios::ScenarioSet& set, const sim::Result& result,
                    RunFormat format) {
  Diagnostics findings;
  for (const sim::VariantResult& variant : result.variants) {
    for (const Diagnostic& finding : variant.findings) {
      findings.push_back(finding);
    }
  }
  const auto add_new = [](Diagnostics& to, const Diagnostic& diagnostic, const Diagnostics& known) {
    if (!holds(to, diagnostic) && !holds(known, diagnostic)) {
      to.push_back(diagnostic);
    }
  };
  Diagnostics shown;
  for (const Diagnostic& note : set.notes) {
    add_new(shown, note, findings);
  }
  if (format == RunFormat::Table || format == RunFormat::Wide) {
    return shown;
  }
  for (const Diagnostic& finding : findings) {
    if (finding.severity != Severity::Note) {
      add_new(shown, finding, {});
    }
  }
  return shown;
}

std::vector<sim::Verdict> verdicts_of(const sim::Result& result) {
  std::vector<sim::Verdict> verdicts;
  for (const sim::VariantResult& variant : result.variants) verdicts.push_back(variant.verdict);
  return verdicts;
}

// The variants in which no pod ever ran, as "before, after".
std::string variants_without_a_running_pod(const sim::Result& result) {
  std::string names;
  for (const sim::VariantResult& variant : result.variants) {
    if (!variant.verdict.has(sim::Verdict::Cause::NothingRan)) continue;
    names += (names.empty() ? "" : ", ") + variant.name;
  }
  return names;
}

ExitCode verdict(const sim::Result& result) {
  if (result.interrupted) {
    print_error("interrupted: the report covers the replications that had finished");
    return ExitCode::Interrupted;
  }
  if (const std::string names = variants_without_a_running_pod(result); !names.empty()) {
    print_error("error: no pod ever ran in " + names);
  }
  return worst_exit_code(verdicts_of(result));
}

ExitCode run(const ScenarioFile& file, const models::Catalogue& catalogue, const PriceFile& prices,
             const RunCommand& command, const CommonFlags& flags) {
  const scenarios::ScenarioSet& set = file.loaded.set;
  const std::atomic<bool>& interrupted = catch_interrupt();
  Progress progress(command.progress, flags.quiet);
  Expected<sim::Result> result =
      sim::run_scenario(set, catalogue,
                        {.threads = thread_count(command.jobs),
                         .progress = [&](int done, int total) { progress.update(done, total); },
                         .interrupted = &interrupted});
  progress.finish();
  if (!result) {
    return fail(result.error(), file.texts, flags);
  }
  stamp_files(file, prices, result->stamp);
  if (command.fidelity) {
    result->fidelity = *command.fidelity == scenarios::Fidelity::Exact ? "exact" : "auto";
  }
  if (const ExitCode code = write_text(command.out, render(*result, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  if (const ExitCode code = write_besides(command.junit, reports::result_junit(*result));
      code != ExitCode::Success) {
    return code;
  }
  print_diagnostics(remarks(set, *result, command.format), file.texts, flags);
  return verdict(*result);
}

}  // namespace

ExitCode execute(const RunCommand& command, const CommonFlags& flags) {
  Expected<ScenarioFile> file = open_scenario(command.file, command.set);
  if (!file) {
    return fail(file.error(), {}, flags);
  }
  models::Catalogue catalogue = models::load_catalogue();
  PriceFile prices;
  if (const ExitCode code = lay_prices_over(catalogue, command.prices, flags, &prices);
      code != ExitCode::Success) {
    return code;
  }
  if (!file->loaded.problems.empty()) {
    return fail(sim::check_names(file->loaded, catalogue), file->texts, flags);
  }
  if (const ExitCode code = keep_variants(file->loaded.set, command.variants);
      code != ExitCode::Success) {
    return code;
  }
  apply_flags(command, file->loaded.set);
  return run(*file, catalogue, prices, command, flags);
}

}  // namespace slicewise::tools
