#include "slicewise/sim/sensitivity.hpp"

#include <string>

#include "slicewise/reports/sensitivity_report.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../interrupt.hpp"
#include "../one_variant.hpp"
#include "../progress.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string sensitivity_text(const sim::SensitivityStudy& study, const SensitivityCommand& command,
                             const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::sensitivity_table(study, style, false);
    case RunFormat::Wide:
      return reports::sensitivity_table(study, style, true);
    case RunFormat::Json:
      return reports::sensitivity_json(study);
    case RunFormat::Yaml:
      return reports::sensitivity_yaml(study);
    case RunFormat::Csv:
      return reports::sensitivity_csv(study);
    case RunFormat::Markdown:
      return reports::sensitivity_markdown(study);
    case RunFormat::Junit:
      break;  // not offered
  }
  return {};
}

ExitCode sensitivity_verdict(const sim::SensitivityStudy& study) {
  if (study.interrupted) {
    print_error("interrupted: the report covers the inputs that had been varied");
    return ExitCode::Interrupted;
  }
  if (study.nothing_runs) {
    print_error("error: no pod ever ran");
    return ExitCode::Infeasible;
  }
  return ExitCode::Success;
}

}  // namespace

ExitCode execute(const SensitivityCommand& command, const CommonFlags& flags) {
  if (command.by && *command.by >= 1) {
    return usage_error("--by: an input that is varied by 100% would be gone",
                       "write less, 20% for example");
  }
  const auto opened = open_variant(command, flags);
  if (!opened) return opened.error();
  Progress progress(command.progress, flags.quiet, "replications", Progress::Total::Grows);
  sim::SensitivityOptions options;
  options.vary = command.vary;
  options.by = command.by;
  options.break_evens = command.break_evens.value_or(options.break_evens);
  options.run.threads = thread_count(command.jobs);
  options.run.progress = [&](int done, int total) { progress.update(done, total); };
  options.run.interrupted = &catch_interrupt();
  auto study = sim::find_sensitivity(opened->set(), opened->variant, opened->catalogue, options);
  progress.finish();
  if (!study) return fail(study.error(), opened->file.texts, flags);
  stamp_files(opened->file, opened->prices, study->stamp);
  if (const ExitCode code = write_text(command.out, sensitivity_text(*study, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  print_diagnostics(opened->set().notes, opened->file.texts, flags);
  return sensitivity_verdict(*study);
}

}  // namespace slicewise::tools
