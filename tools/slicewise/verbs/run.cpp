#include "slicewise/sim/run.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/html_report.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/sampled_inputs.hpp"

#include "../commands.hpp"
#include "../host.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../study.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

// One list in YAML's brackets: "[1, 2]", not "[1], [2]".
bool is_list(const std::string& values) {
  int depth = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == '[') ++depth;
    if (values[i] == ']') --depth;
    if (depth == 0) return i > 0 && i + 1 == values.size();
  }
  return false;
}

// --sweep is a --set of the scenario's sweep.
std::vector<std::string> settings_of(const RunCommand& command) {
  std::vector<std::string> settings = command.set;
  for (const std::string& sweep : command.sweep) {
    const std::size_t equals = sweep.find('=');
    const std::string values = sweep.substr(equals + 1);
    settings.push_back(fmt::format("{}{}={}", scenarios::kSweepPath, sweep.substr(0, equals),
                                   is_list(values) ? values : "[" + values + "]"));
  }
  return settings;
}

// A variant that is swept is all of its points.
std::vector<std::string> wanted_of(const RunCommand& command, const scenarios::ScenarioSet& set) {
  std::vector<std::string> wanted;
  for (const std::string& name : command.variants) {
    const std::size_t before = wanted.size();
    for (const scenarios::Scenario& variant : set.variants) {
      if (variant.name.starts_with(name + "/")) wanted.push_back(variant.name);
    }
    if (wanted.size() == before) wanted.push_back(name);
  }
  return wanted;
}

void apply_flags(const RunCommand& command, scenarios::ScenarioSet& set) {
  for (scenarios::Scenario& scenario : set.variants) {
    scenario.seed = command.seed.value_or(scenario.seed);
    scenario.replications = command.replications.value_or(scenario.replications);
    scenario.fidelity = command.fidelity.value_or(scenario.fidelity);
    scenario.cost_split = command.split.value_or(scenario.cost_split);
    scenario.allow_pending |= command.allow_pending;
  }
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

// Of the first workload that has some; nullptr: none does.
const scenarios::RecordedJobs* recorded_jobs(const scenarios::ScenarioSet& set) {
  for (const scenarios::Scenario& variant : set.variants) {
    for (const scenarios::Workload& workload : variant.workloads) {
      if (workload.trace) return &*workload.trace;
    }
  }
  return nullptr;
}

ExitCode verdict(const sim::Result& result, const ScenarioFile& file, const CommonFlags& flags) {
  if (result.interrupted) {
    const bool partly = std::ranges::any_of(
        result.variants, [](const auto& variant) { return variant.stopped_at.has_value(); });
    print_error(partly ? "interrupted: the report covers what had been simulated"
                       : "interrupted: the report covers the replications that had finished");
    return ExitCode::Interrupted;
  }
  for (const sim::VariantResult& variant : result.variants) {
    if (!variant.verdict.has(sim::Verdict::Cause::NothingRan)) continue;
    nothing_ran(
        *std::ranges::find(file.loaded.set.variants, variant.name, &scenarios::Scenario::name),
        file, flags, &variant.verdict);
  }
  return worst_exit_code(verdicts_of(result));
}

ExitCode run(const OpenedScenario& opened, const RunCommand& command, const CommonFlags& flags,
             StudyJournal* journal) {
  const ScenarioFile& file = opened.file;
  const scenarios::ScenarioSet& set = opened.set();
  sim::RunOptions options{
      .threads = thread_count(command.jobs), .progress = {}, .interrupted = &catch_interrupt()};
  if (journal != nullptr) options.journal = &journal->tasks();
  const scenarios::RecordedJobs* const recorded = recorded_jobs(set);
  Progress progress(command.progress, flags.quiet, recorded == nullptr ? "replications" : "jobs");
  if (recorded == nullptr) {
    options.progress = [&](int done, int total) { progress.update(done, total); };
  } else {
    options.jobs_progress = [&](std::int64_t done, std::int64_t total, TimePoint now) {
      const double in_trace = static_cast<double>((now - TimePoint{}).ns) * recorded->scale;
      progress.update(
          done, total,
          simulated_time(recorded->origin_unix_s, Duration{static_cast<std::int64_t>(in_trace)}));
    };
  }
  const auto simulate =
      command.inputs == InputChoice::Sampled ? sim::run_sampled : sim::run_scenario;
  Expected<sim::Result> result = simulate(set, opened.catalogue, options);
  progress.finish();
  if (!result) {
    return fail(result.error(), file.texts, flags);
  }
  if (journal != nullptr) {
    const ExitCode code = close_journal(*journal, command.journal, flags);
    if (failed(code)) return code;
  }
  stamp_files(file, opened.prices, result->stamp);
  if (command.fidelity) {
    result->fidelity = word_of(kFidelities, *command.fidelity);
  }
  if (command.split) result->cost_split = scenarios::split_name(*command.split);
  sim::group_bills(command.group_by, *result);
  if (Host* const host = current_host()) {
    reports::HtmlReport page;
    page.result = *result;
    for (reports::ReportChart& chart :
         host->renders_all ? reports::report_charts(page) : reports::latency_charts(page)) {
      host->renderings[chart.name + ".svg"] = std::move(chart.svg);
    }
  }
  const ExitCode code = write_report(*result, command, flags, reports::result_junit, command.junit);
  if (failed(code)) return code;
  print_diagnostics(remarks(set, *result, command.format), file.texts, flags);
  return verdict(*result, file, flags);
}

}  // namespace

void add_flags(CLI::App& app, RunCommand& run, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "run", "Simulate a scenario and report cost, throughput and latency",
      "  slicewise run -f scenarios/examples/aws-cifar10.yaml\n"
      "  slicewise run -f scenarios/examples/aws-cifar10.yaml -o json --out result.json\n"
      "  slicewise run -f - --set nodePools.gpu.nodes=2 < scenarios/examples/aws-cifar10.yaml",
      flags);
  add_scenario_flags(verb, run.file, run.set, run.out);
  verb.add_option("--sweep", run.sweep, "Every one of these values in turn; may be repeated")
      ->type_name("PATH=VALUE,...")
      ->check(CLI::Validator(check_setting, ""))
      ->allow_extra_args(false);
  add_format(verb, kVerdictFormats, run.format);
  add_junit(verb, run.junit);
  verb.add_option("--variant", run.variants, "Only this variant; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_replications(verb, run);
  add_choice(verb, "--fidelity", kFidelities, run.fidelity,
             "Engine choice (default: the scenario's)");
  add_choice(verb, "--inputs", kInputChoices, run.inputs,
             "As given, or drawn anew in each replication: from the intervals of profiles and "
             "language models that calibrate wrote, gpuBusy from its bounds where it is not given "
             "(default given)");
  add_split(verb, run.split);
  add_group_by(verb, run.group_by);
  add_journal(verb, run.journal);
  add_allow_pending(verb, run.allow_pending);
  add_prices_and_progress(verb, run);
  add_catalogue(verb, flags);
}

ExitCode execute(const RunCommand& command, const CommonFlags& flags) {
  auto opened = open_priced(command.file, settings_of(command), command.prices, flags);
  if (!opened) return opened.error();
  scenarios::ScenarioSet& set = opened->file.loaded.set;
  if (const ExitCode code = check_mistakes(*opened, flags); failed(code)) return code;
  if (const ExitCode code = keep_variants(set, wanted_of(command, set)); failed(code)) {
    return code;
  }
  apply_flags(command, set);
  if (const ExitCode code =
          check_size(opened->file.texts, set.variants, opened->catalogue, command.limits, flags);
      failed(code)) {
    return code;
  }
  // --variant is of the command line.
  return with_journal(command, flags, subject_of(*opened, 0),
                      [&](StudyJournal* journal) { return run(*opened, command, flags, journal); });
}

}  // namespace slicewise::tools
