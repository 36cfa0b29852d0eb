#pragma once

#include <string>
#include <vector>

#include "slicewise/scenarios/templates.hpp"

#include "../commands.hpp"
#include "../options.hpp"

// The verb that a new user starts with, for command_line.cpp.
namespace slicewise::tools {

inline void add_init(CLI::App& app, InitCommand& init, CommonFlags& flags) {
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

}  // namespace slicewise::tools
