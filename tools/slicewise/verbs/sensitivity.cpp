#include "slicewise/sim/sensitivity.hpp"

#include <fmt/format.h>

#include "slicewise/reports/studies.hpp"

#include "../commands.hpp"
#include "../options.hpp"
#include "../study.hpp"

namespace slicewise::tools {
namespace {

ExitCode sensitivity_verdict(const sim::SensitivityStudy& study) {
  if (study.interrupted) {
    print_error("interrupted: the report covers the inputs that had been varied");
    return ExitCode::Interrupted;
  }
  return lost_pods_code(study.verdict);
}

}  // namespace

void add_flags(CLI::App& app, SensitivityCommand& sensitivity, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "sensitivity", "Vary one input at a time: what the answer depends on",
      "  slicewise sensitivity -f scenarios/examples/shared-inference.yaml --variant shared\n"
      "  slicewise sensitivity -f scenarios/examples/shared-inference.yaml --variant shared --by "
      "10% --vary traffic --vary workloads.classifier.measured.requestGpuTime",
      flags);
  begin_study(verb, kPageFormats, sensitivity);
  verb.add_option(
          "--vary", sensitivity.options.vary,
          "A kind of input (traffic, requestGpuTime, price, ...) or the path of one; may be "
          "repeated (default: the scenario's `sensitivity`, else all)")
      ->type_name("INPUT")
      ->allow_extra_args(false);
  add_percent(
      verb, "--by", sensitivity.options.by,
      fmt::format("How far down and up (default {:g}%)", 100 * scenarios::Sensitivity{}.by));
  add_number(verb, "--break-evens", 0, 20, sensitivity.options.break_evens,
             fmt::format("Bisect for so many inputs where an objective starts to fail (default {})",
                         sim::SensitivityOptions{}.break_evens));
  end_study(verb, sensitivity, flags);
}

ExitCode execute(const SensitivityCommand& command, const CommonFlags& flags) {
  if (command.options.by && *command.options.by >= 1) {
    return usage_error("--by: an input that is varied by 100% would be gone",
                       "write less, 20% for example");
  }
  const Study<sim::SensitivityStudy> study{
      .total = Progress::Total::Grows,
      .find =
          [&](const OneVariant& opened, const sim::RunOptions& run) {
            return sim::find_sensitivity(opened.set(), opened.variant, opened.catalogue,
                                         with_run(command.options, run));
          },
      .verdict = sensitivity_verdict,
      .nothing_runs = [](const sim::SensitivityStudy& found) { return found.nothing_runs(); }};
  return execute_study(command, flags, study);
}

}  // namespace slicewise::tools
