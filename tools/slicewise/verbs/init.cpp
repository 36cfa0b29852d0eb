#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/load.hpp"

#include "../command_line.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string template_list() {
  std::string text = "Scenarios to start from: slicewise init --template NAME --out FILE\n\n";
  for (const scenarios::Template& known : scenarios::templates()) {
    text += fmt::format("  {:<17}{}\n", known.name, known.situation);
  }
  return text;
}

ExitCode unknown_template(const std::string& name) {
  std::vector<std::string> names;
  for (const scenarios::Template& known : scenarios::templates()) names.emplace_back(known.name);
  return usage_error(fmt::format("no template \"{}\"{}", name, did_you_mean(name, names)),
                     "slicewise init lists them");
}

}  // namespace

void add_init(CLI::App& app, InitCommand& init, CommonFlags& flags) {
  CLI::App& verb = add_verb(app, "init", "Write a scenario to start from, with comments",
                            "  slicewise init\n"
                            "  slicewise init --template online-services",
                            flags);
  std::vector<std::string> names;
  for (const scenarios::Template& known : scenarios::templates()) names.emplace_back(known.name);
  add_text(verb, "--template", init.name, joined(names, "|"),
           "Which situation (default: list them)");
  add_text(verb, "--out", init.out, "FILE", "Write here instead of standard output");
  verb.add_flag("--force", init.force, "Overwrite FILE");
}

ExitCode execute(const InitCommand& command, const CommonFlags& flags) {
  if (command.name.empty()) {
    if (command.out.empty() && !command.force) return write_text("", template_list());
    return usage_error("init needs a --template to write", "slicewise init lists them");
  }
  if (command.force && command.out.empty()) {
    return usage_error("--force overwrites the file of --out, and there is none", "");
  }
  const auto found =
      std::ranges::find(scenarios::templates(), command.name, &scenarios::Template::name);
  if (found == scenarios::templates().end()) return unknown_template(command.name);
  if (!command.out.empty() && !command.force && std::filesystem::exists(command.out)) {
    print_error(fmt::format("error: {} exists\nhelp: --force overwrites it", command.out));
    return ExitCode::FileAccess;
  }
  const ExitCode code = write_text(command.out, found->text);
  if (code == ExitCode::Success && !command.out.empty() && !flags.quiet) {
    print_error(fmt::format("wrote {}; next: slicewise check -f {}", command.out, command.out));
  }
  return code;
}

}  // namespace slicewise::tools
