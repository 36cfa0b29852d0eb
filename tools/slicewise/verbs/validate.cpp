#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/validation.hpp"

#include "../command_line.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../measured_files.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../study.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

// "measurements" are "measurements-turns", too.
bool is_named(const models::Study& study, const std::string& name) {
  return study.id == name || study.id.starts_with(name + "-") || study.source == name ||
         study.mode == name;
}

// Without a file of pairs nothing can be said about the studies of pairs.
bool has_rows(const models::Study& study, const ValidateCommand& command) {
  return study.source != models::kUserPairs || !command.pairs.empty();
}

// Names that no study answers to are a usage error.
ExitCode keep_named(models::ValidationSet& set, const ValidateCommand& command) {
  std::vector<std::string> known;
  for (const models::Study& study : set.studies) {
    if (has_rows(study, command)) {
      known.insert(known.end(), {study.id, study.source, study.mode});
    }
  }
  for (const std::string& name : command.names) {
    const auto is_meant = [&](const models::Study& study) {
      return has_rows(study, command) && is_named(study, name);
    };
    if (std::ranges::any_of(set.studies, is_meant)) continue;
    return usage_error(
        "no study, source or mode is called \"" + name + "\"" + did_you_mean(name, known),
        "`slicewise validate` lists the studies; those of pairs need --pairs FILE, files of your "
        "own --measurements FILE ...");
  }
  const auto unwanted = [&](const models::Study& study) {
    return !command.names.empty() &&
           std::ranges::none_of(command.names,
                                [&](const std::string& name) { return is_named(study, name); });
  };
  std::erase_if(set.studies, unwanted);
  return ExitCode::Success;
}

ExitCode check_pairs_gpu(const ValidateCommand& command, const models::Catalogue& catalogue,
                         const models::ValidationSet& set) {
  std::vector<std::string> known;
  for (const models::GpuModel& gpu : catalogue.gpus) {
    known.push_back(gpu.name);
    known.insert(known.end(), gpu.aliases.begin(), gpu.aliases.end());
  }
  for (const models::GpuModel& gpu : set.gpus) known.push_back(gpu.name);
  const bool is_known = command.pairs_gpu.empty() ||
                        catalogue.find_gpu(command.pairs_gpu) != nullptr ||
                        std::ranges::find(known, command.pairs_gpu) != known.end();
  if (is_known) return ExitCode::Success;
  return usage_error("--pairs-gpu: GPU model " + command.pairs_gpu + " is not known" +
                         did_you_mean(command.pairs_gpu, known),
                     "one of " + joined(known, ", "));
}

ExitCode add_pairs(const ValidateCommand& command, const CommonFlags& flags,
                   models::ValidationSet& set) {
  if (command.pairs.empty()) return ExitCode::Success;
  const Expected<SourceText> file = read_source(command.pairs);
  if (!file) return fail(file.error(), {}, flags);
  const std::string_view gpu =
      command.pairs_gpu.empty() ? models::kLucidGpu : std::string_view(command.pairs_gpu);
  Expected<models::MeasurementSource> source = models::read_pairs(*file, gpu);
  if (!source) return fail(source.error(), {*file}, flags);
  set.sources.push_back(std::move(*source));
  return ExitCode::Success;
}

// "--measurements a.csv b.csv": what follows the first file comes as a name.
void move_files(const models::ValidationSet& set, ValidateCommand& command) {
  if (command.measurements.empty()) return;
  std::erase_if(command.names, [&](const std::string& name) {
    const bool is_study = std::ranges::any_of(
        set.studies, [&](const models::Study& study) { return is_named(study, name); });
    std::error_code unreadable;
    if (is_study || !std::filesystem::is_regular_file(name, unreadable)) return false;
    command.measurements.push_back(name);
    return true;
  });
}

ExitCode add_measurements(const ValidateCommand& command, const CommonFlags& flags,
                          const models::Catalogue& catalogue, models::ValidationSet& set) {
  if (command.measurements.empty()) return ExitCode::Success;
  const auto files = read_measured_texts(command.measurements);
  if (!files) return fail(files.error(), {}, flags);
  const auto read = read_measured(*files, catalogue, command.context);
  if (!read) return fail(read.error(), *files, flags);
  if (!flags.quiet) {
    for (const std::string& note : read->notes) print_error("note: " + note);
  }
  const Diagnostics notes =
      models::add_studies(read->measurements, joined(command.measurements, ", "), set);
  print_diagnostics(notes, *files, flags);
  return ExitCode::Success;
}

ExitCode write_charts(const sim::ValidationResult& result, const std::string& folder) {
  reports::ExportFiles charts{{"validation.svg", reports::validation_chart(result)}};
  for (const sim::StudyResult& study : result.studies) {
    charts.push_back({"validation-" + study.study.id + ".svg", reports::study_chart(study)});
  }
  return write_directory(folder, charts, Existing::Replaced);
}

ExitCode verdict(const sim::ValidationResult& result) {
  if (result.within_bounds()) return ExitCode::Success;
  std::string names;
  for (const sim::StudyResult& study : result.studies) {
    if (!study.within_bound) names += (names.empty() ? "" : ", ") + study.study.id;
  }
  print_error("error: the models are further off than their bound allows: " + names);
  return ExitCode::ObjectiveMissed;
}

}  // namespace

void add_flags(CLI::App& app, ValidateCommand& validate, CommonFlags& flags) {
  CLI::App& verb = add_verb(app, "validate", "Hold the models against published measurements",
                            "  slicewise validate\n"
                            "  slicewise validate parvagpu nos -o json\n"
                            "  slicewise validate MIG -o csv\n"
                            "  slicewise validate measurements --measurements "
                            "scenarios/examples/own/measurements.csv",
                            flags);
  verb.add_option("name", validate.names, "Only this study, source or mode (default: all)")
      ->type_name("NAME");
  add_format(verb, kValidateFormats, validate.format, "; csv has every point");
  CLI::Option* pairs = add_text(verb, "--pairs", validate.pairs, "FILE",
                                "CSV of pairs measured on one GPU, in the columns of Lucid's "
                                "colocate_info, as one more source");
  add_text(verb, "--pairs-gpu", validate.pairs_gpu, "GPU",
           "GPU of these pairs (default RTX-3090, that of Lucid)")
      ->needs(pairs);
  CLI::Option* measurements =
      verb.add_option("--measurements", validate.measurements,
                      "Measurements of your own, as `slicewise calibrate` reads them, as one more "
                      "source; several may be given")
          ->type_name("FILE")
          ->allow_extra_args(false);
  for (CLI::Option* of_them : add_context(verb, validate.context)) of_them->needs(measurements);
  add_catalogue(verb, flags);
  add_text(verb, "--out", validate.out, "DIR",
           "Write charts of predicted against measured here: validation.svg and one per study");
}

ExitCode execute(const ValidateCommand& given, const CommonFlags& flags) {
  const auto opened = open_catalogue(flags);
  if (!opened) return opened.error();
  const models::Catalogue& catalogue = *opened;
  models::ValidationSet set = models::load_validation_set();
  ValidateCommand command = given;
  move_files(set, command);
  if (const ExitCode code = add_measurements(command, flags, catalogue, set); failed(code)) {
    return code;
  }
  for (const ExitCode code : {keep_named(set, command), check_pairs_gpu(command, catalogue, set)}) {
    if (failed(code)) return code;
  }
  if (const ExitCode code = add_pairs(command, flags, set); failed(code)) return code;
  const sim::ValidationResult result = sim::validate(catalogue, set);
  if (!command.out.empty()) {
    if (const ExitCode code = write_charts(result, command.out); failed(code)) return code;
  }
  const reports::TextStyle style = style_for(STDOUT_FILENO, flags.color);
  if (const ExitCode code =
          write_text("", text_of<sim::ValidationResult>(result, command.format, style, nullptr));
      failed(code)) {
    return code;
  }
  return verdict(result);
}

}  // namespace slicewise::tools
