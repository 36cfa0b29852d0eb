#pragma once

#include "../commands.hpp"
#include "../options.hpp"

// The verb that compares stored documents, for command_line.cpp.
namespace slicewise::tools {

inline void add_diff(CLI::App& app, DiffCommand& diff, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "diff",
      "Say what changed between two stored results or plans: cost, objectives, configuration",
      "  slicewise diff <(slicewise run -f scenarios/examples/aws-cifar10.yaml --variant before "
      "-o json) <(slicewise run -f scenarios/examples/aws-cifar10.yaml --variant after -o json)\n"
      "  slicewise diff <(slicewise run -f scenarios/examples/aws-cifar10.yaml -o json) "
      "<(slicewise "
      "run -f scenarios/examples/aws-cifar10.yaml -o json --set "
      "nodePools.gpu.instanceType=g5.12xlarge) -o md --fail-on pods.pending,cost:+10%",
      flags);
  add_text(verb, "old", diff.older, "FILE",
           "JSON of run, compare, max-load or plan; - for standard input")
      ->required();
  add_text(verb, "new", diff.newer, "FILE", "JSON of the same verb")->required();
  add_choice(verb, "-o,--output", kDiffFormats, diff.format, "Format (default table)");
  verb.add_flag("--exit-code", diff.exit_code, "Exit with 1 when the documents differ");
  verb.add_option("--fail-on", diff.fail_on,
                  "Exit with 99 when one holds: cost:+10%, cost.total, cost.per1k, cost.perJob, "
                  "p50, p90, p95, p99:+20%, p999, headroom:-10%, slo.newlyFailing, slo.failing, "
                  "pods.pending, pods.oom, pods.failed; may be repeated")
      ->type_name("CONDITION,...")
      ->allow_extra_args(false);
  add_text(verb, "--out", diff.out, "FILE", "Write here instead of standard output");
}

}  // namespace slicewise::tools
