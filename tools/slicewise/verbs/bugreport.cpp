#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/without_names.hpp"
#include "slicewise/sim/run.hpp"

#include "../build_info.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::vector<Code> mistakes_in(const ScenarioFile& file) {
  const Diagnostics problems = sim::check_names(file.loaded, models::load_catalogue());
  std::vector<Code> codes(problems.size());
  std::ranges::transform(problems, codes.begin(), &Diagnostic::code);
  return codes;
}

// All but the variables of the environment, which may be left out.
std::ptrdiff_t values_in(const ScenarioFile& file) {
  return std::ranges::count_if(file.loaded.set.inputs, [](const std::string& input) {
    return input.find(".env.") == std::string::npos;
  });
}

// The same mistakes, and as many values.
bool reads_alike(const ScenarioFile& a, const ScenarioFile& b) {
  return mistakes_in(a) == mistakes_in(b) && values_in(a) == values_in(b) &&
         a.loaded.set.variants.size() == b.loaded.set.variants.size();
}

}  // namespace

void add_bugreport(CLI::App& app, BugReportCommand& bugreport, CommonFlags& flags) {
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
  add_text(verb, "-o,--out", bugreport.out, "FILE", "Write here instead of standard output");
}

ExitCode execute(const BugReportCommand& command, const CommonFlags& flags) {
  Expected<ScenarioFile> file = open_scenario(command.file, {});
  if (!file) return fail(file.error(), {}, flags);
  const SourceText& source = file->source();
  const auto packed = scenarios::without_names(source, command.command);
  if (!packed) return fail(packed.error(), {source}, flags);
  if (!reads_alike(*file, scenario_of({source.name, packed->text}, {}))) {
    print_error(
        "error: with other names it would be another scenario\nhelp: please replace them by "
        "hand");
    return ExitCode::InternalError;
  }
  const BuildInfo build = build_info();
  std::string text = fmt::format(
      "# Made by `slicewise bugreport`: please say what you saw and what you expected.\n"
      "# version: {}, commit {}, built with {}\n",
      build.version, build.commit, build.compiler);
  if (!packed->command.empty()) text += fmt::format("# command: {}\n", packed->command);
  for (std::size_t n = 2; n < file->texts.size(); ++n) {
    text += fmt::format("# It reads {}, which is not in here.\n", file->texts[n].name);
  }
  return write_text(command.out, text + packed->text);
}

}  // namespace slicewise::tools
