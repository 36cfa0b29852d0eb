#pragma once

#include "../commands.hpp"
#include "../options.hpp"

// The verb that judges cluster files, for command_line.cpp.
namespace slicewise::tools {

inline void add_check(CLI::App& app, CheckCommand& check, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "check", "Say what a cluster will do with these files: Kubernetes, Helm, Karpenter, MIG",
      "  slicewise check -f scenarios/examples/cluster\n"
      "  slicewise check scenarios/examples/cluster/values.yaml "
      "scenarios/examples/cluster/pods.yaml\n"
      "  slicewise check -f - < scenarios/examples/cluster/pods.yaml\n"
      "  slicewise check -f scenarios/examples/cluster -o github --strict",
      flags);
  verb.add_option(kFileNames, check.files,
                  "Files or folders to read, - for standard input: all are judged together")
      ->type_name("FILE")
      ->required();
  add_choice(verb, "-o,--output", kCheckFormats, check.format, "Format (default table)");
  verb.add_flag("--strict", check.strict, "Exit with 3 for warnings as well");
  add_text(verb, "--plugin-version", check.plugin_version, "VERSION",
           "Of NVIDIA's device plugin (default 0.20.0)");
  add_text(verb, "--out", check.out, "FILE", "Write here instead of standard output");
}

}  // namespace slicewise::tools
