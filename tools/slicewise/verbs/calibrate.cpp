#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "slicewise/reports/calibration_report.hpp"
#include "slicewise/sim/calibration.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../measured_files.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {

void add_flags(CLI::App& app, CalibrateCommand& calibrate, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "calibrate", "Turn your measurements into profiles that scenarios name",
      "  slicewise calibrate scenarios/examples/own/measurements.csv\n"
      "  slicewise calibrate -f scenarios/examples/own/measurements.csv --out profiles.yaml",
      flags);
  verb.add_option(
          kFileNames, calibrate.files,
          "Measurements: CSV or JSON (slicewise explain measurements), or what perf_analyzer, "
          "genai-perf, vllm bench serve, nsys stats or gpu_probe wrote, what Prometheus answered "
          "of DCGM and of a server's requests, and the config.json of a language model; may be "
          "repeated; also .gz, .zst")
      ->type_name("FILE")
      ->required()
      ->allow_extra_args(false);
  add_more_files(verb, calibrate.files);
  add_context(verb, calibrate.context);
  add_text(verb, "--out", calibrate.out, "FILE", "Write the profiles here, for --catalogue");
  add_catalogue(verb, flags);
}

ExitCode execute(const CalibrateCommand& command, const CommonFlags& flags) {
  const auto catalogue = open_catalogue(flags);
  if (!catalogue) return catalogue.error();
  const auto files = read_measured_texts(command.files);
  if (!files) return fail(files.error(), {}, flags);
  const std::vector<SourceText>& texts = *files;
  auto read = read_measured(texts, *catalogue, command.context);
  if (!read) return fail(read.error(), texts, flags);
  if (!flags.quiet) {
    for (const std::string& note : read->notes) print_error("note: " + note);
  }
  auto fitted = sim::fit_profiles(read->measurements, *catalogue, read->shapes);
  if (!fitted) return fail(fitted.error(), texts, flags);
  fitted->window = std::move(read->window);
  const Diagnostics problems = sim::add_models(read->shapes, command.context, *catalogue, *fitted);
  if (!problems.empty()) return fail(problems, texts, flags);
  print_diagnostics(fitted->notes, texts, flags);
  if (!command.out.empty()) {
    if (!flags.quiet && fitted->profiles.empty() && fitted->models.empty()) {
      print_error("note: " + command.out +
                  " names nothing: a step becomes a model with its config.json beside it");
    }
    const ExitCode code = write_text(command.out, reports::profile_document(*fitted));
    if (failed(code)) return code;
  }
  return write_text("", reports::calibration_table(*fitted, style_for(STDOUT_FILENO, flags.color)));
}

}  // namespace slicewise::tools
