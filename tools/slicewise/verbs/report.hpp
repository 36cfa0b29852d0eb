#pragma once

#include <cstdint>
#include <limits>

#include "../commands.hpp"
#include "../options.hpp"

// The verb that draws, for command_line.cpp.
namespace slicewise::tools {

inline void add_report(CLI::App& app, ReportCommand& report, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "report", "Write a page with charts about a scenario, a stored result or a plan",
      "  slicewise report scenarios/examples/aws-cifar10.yaml -o html=report.html\n"
      "  slicewise report scenarios/examples/aws-cifar10.yaml --variant after -o html -o "
      "md=after.md\n"
      "  slicewise plan -f scenarios/examples/shared-inference.yaml --instances g4dn.xlarge -o "
      "json "
      "--out plan.json && slicewise report plan.json -o html=plan.html\n"
      "  slicewise report scenarios/examples/aws-cifar10.yaml -o svg=charts/\n"
      "  slicewise report scenarios/examples/aws-cifar10.yaml -o svg=memory.svg --chart memory",
      flags);
  add_text(verb, kFileNames, report.file, "FILE",
           "Scenario, or the JSON of `run` or `plan`: simulated again, to the same figures")
      ->required();
  verb.add_option(
          "-o,--output", report.outputs,
          "Format and where to write it: html, svg (one chart, or with a path that ends with / all "
          "of them in that directory), md or csv; without a path standard output; may be repeated "
          "(default html)")
      ->type_name("FORMAT[=PATH]")
      ->allow_extra_args(false);
  add_text(verb, "--chart", report.chart, "NAME",
           "The chart that -o svg writes: options, memory, latency-1, ... (default options)");
  verb.add_option("--variant", report.variants, "Only this variant of a scenario; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb.add_option("--set", report.set, "Change the scenario first: workloads.train.count=3")
      ->type_name("PATH=VALUE")
      ->check(CLI::Validator(check_setting, ""))
      ->allow_extra_args(false);
  add_number(verb, "--seed", 0, std::numeric_limits<std::int64_t>::max(), report.seed,
             "Seed of the random numbers (default: the scenario's)");
  add_number(verb, "--replications", 1, 100'000, report.replications,
             "Independent runs (default: the scenario's)");
  verb.add_flag("--allow-pending", report.allow_pending,
                "Pods left Pending at the end do not count as lost");
  add_prices(verb, report.prices);
  add_number(verb, "-j,--jobs", 1, 1'024, report.jobs,
             "Threads; never changes the result (default: all CPUs)");
  add_choice(verb, "--progress", kProgress, report.progress,
             "Progress on standard error (default auto)");
}

}  // namespace slicewise::tools
