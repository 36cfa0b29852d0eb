#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/without_names.hpp"
#include "slicewise/sim/run.hpp"

#include "../bug_report.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

Diagnostics mistakes_in(const ScenarioFile& file, const models::Catalogue& catalogue) {
  return sim::check_names(file.loaded, catalogue);
}

// Mistakes that are not among the others.
Diagnostics without(Diagnostics mistakes, const Diagnostics& others) {
  for (const Diagnostic& other : others) {
    const auto same = std::ranges::find(mistakes, other.code, &Diagnostic::code);
    if (same != mistakes.end()) mistakes.erase(same);
  }
  return mistakes;
}

// All but the variables of the environment, which may be left out.
std::ptrdiff_t values_in(const ScenarioFile& file) {
  return std::ranges::count_if(file.loaded.set.inputs, [](const std::string& input) {
    return input.find(".env.") == std::string::npos;
  });
}

// As many mistakes and values.
bool reads_alike(const ScenarioFile& a, const ScenarioFile& b, const models::Catalogue& catalogue) {
  return mistakes_in(a, catalogue).size() == mistakes_in(b, catalogue).size() &&
         values_in(a) == values_in(b) &&
         a.loaded.set.variants.size() == b.loaded.set.variants.size();
}

ExitCode cannot_pack(const char* why) {
  print_error(std::string("error: this cannot be packed: ") + why);
  return ExitCode::InvalidInput;
}

}  // namespace

void add_flags(CLI::App& app, BugReportCommand& bugreport, CommonFlags& flags) {
  CLI::App& verb =
      add_verb(app, "bugreport", "Pack a scenario for a report of a bug, without its names",
               "  slicewise bugreport -f scenarios/examples/aws-cifar10.yaml --command 'run "
               "--variant after'",
               flags);
  add_text(verb, kFileNames, bugreport.file, "FILE",
           "Scenario that shows the bug; - for standard "
           "input")
      ->required();
  add_text(verb, "--command", bugreport.command, "TEXT",
           "What you ran: its names are replaced too");
  add_catalogue(verb, flags);
  add_text(verb, "-o,--out", bugreport.out, "FILE", "Write here instead of standard output");
}

ExitCode execute(const BugReportCommand& command, const CommonFlags& flags) {
  Expected<ScenarioFile> file = open_scenario(command.file, {});
  if (!file) return fail(file.error(), {}, flags);
  const SourceText& source = file->source();
  const auto catalogue = open_catalogue(flags, &*file);
  if (!catalogue) return catalogue.error();
  const Diagnostics mistakes = mistakes_in(*file, *catalogue);
  if (std::ranges::find(mistakes, Code::ApiVersionUnknown, &Diagnostic::code) != mistakes.end()) {
    print_diagnostics(mistakes, {source}, flags);
    return cannot_pack("it is no scenario, whose names are known");
  }
  const auto packed = scenarios::without_names(source, command.command);
  if (!packed) return fail(packed.error(), {source}, flags);
  const ScenarioFile renamed = scenario_of({source.name, packed->text}, {});
  if (const Diagnostics gone = without(mistakes, mistakes_in(renamed, *catalogue)); !gone.empty()) {
    print_diagnostics(gone, {source}, flags);
    return cannot_pack(
        "with other names these would not be its mistakes\nhelp: mend them, or "
        "please replace the names by hand");
  }
  if (!reads_alike(*file, renamed, *catalogue)) {
    return cannot_pack(
        "with other names it would be another scenario\nhelp: please replace them "
        "by hand");
  }
  const BuildInfo build = build_info();
  std::string text = fmt::format(
      "# Made by `slicewise bugreport`: please say what you saw and what you expected.\n"
      "# version: {}, commit {}, built with {}\n",
      build.version, build.commit, build.compiler);
  if (!packed->command.empty()) text += fmt::format("# command: {}\n", packed->command);
  for (const SourceText& trace : file->traces()) {
    text += fmt::format("# It reads {}, which is not in here.\n", trace.name);
  }
  for (const models::CatalogueLayer& layer : catalogue->layers) {
    text += fmt::format("# It needs {}, which is not in here.\n", layer.file);
  }
  if (!packed->kept.empty()) {
    text += fmt::format("# Names that its trace has are still in here: {}.\n",
                        fmt::join(packed->kept, ", "));
  }
  return write_text(command.out, text + packed->text);
}

}  // namespace slicewise::tools
