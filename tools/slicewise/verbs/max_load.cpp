#include "slicewise/sim/max_load.hpp"

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"

#include "../commands.hpp"
#include "../options.hpp"
#include "../study.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

ExitCode max_load_verdict(const sim::MaxLoad& found) {
  if (found.interrupted) {
    print_error("interrupted: the report covers the loads that had been tried");
    return ExitCode::Interrupted;
  }
  // What the scenario asks for is too much when no load as high as its own passes.
  const bool holds = found.passed && found.probes[*found.passed].factor >= 1;
  if (holds && !found.verdict->has(sim::Verdict::Cause::PolicyDenies)) return ExitCode::Success;
  const ExitCode as_is = exit_code_of(*found.verdict);
  return as_is == ExitCode::Success ? ExitCode::ObjectiveMissed : as_is;
}

}  // namespace

void add_flags(CLI::App& app, MaxLoadCommand& max_load, CommonFlags& flags) {
  CLI::App& verb =
      add_verb(app, "max-load", "Find the highest load that meets the objectives",
               "  slicewise max-load -f scenarios/examples/shared-inference.yaml\n"
               "  slicewise max-load -f scenarios/examples/shared-inference.yaml --variant shared "
               "--scale workloads.classifier.traffic --precision 5%",
               flags);
  begin_study(verb, kPageFormats, max_load);
  verb.add_option("--scale", max_load.options.scale,
                  "What grows: workloads.NAME.traffic, workloads.NAME.notebooks or "
                  "pipelines.NAME.traffic; may be repeated (default: all traffic together)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_percent(verb, "--precision", max_load.options.precision,
              fmt::format("Width of the interval that is good enough (default {:g}%)",
                          100 * sim::MaxLoadOptions{}.precision));
  add_number(verb, "--most", 2, 1'000'000, max_load.options.most,
             fmt::format("Look up to this many times the scenario's load (default {:g})",
                         sim::MaxLoadOptions{}.most));
  add_number(verb, "--most-replications", 2, 100'000, max_load.options.most_replications,
             "Runs of a load that stays undecided (default: four times the first)");
  end_study(verb, max_load, flags);
}

ExitCode execute(const MaxLoadCommand& command, const CommonFlags& flags) {
  const Study<sim::MaxLoad> study{
      .total = Progress::Total::Grows,
      .find =
          [&](const OneVariant& opened, const sim::RunOptions& run) {
            return sim::find_max_load(opened.set(), opened.variant, opened.catalogue,
                                      with_run(command.options, run));
          },
      .verdict = max_load_verdict,
      .nothing_runs = [](const sim::MaxLoad& found) { return found.nothing_runs(); }};
  return execute_study(command, flags, study);
}

}  // namespace slicewise::tools
