#pragma once

#include <cstdint>
#include <limits>

#include "../commands.hpp"
#include "../options.hpp"

// The verbs that simulate, for command_line.cpp.
namespace slicewise::tools {

// Flags of the verbs that simulate a scenario in several ways.
template <class SimulatingCommand>
void add_simulation_flags(CLI::App& verb, SimulatingCommand& command) {
  add_number(verb, "--seed", 0, std::numeric_limits<std::int64_t>::max(), command.seed,
             "Seed of the random numbers (default: the scenario's)");
  add_number(verb, "--replications", 1, 100'000, command.replications,
             "Independent runs (default: the scenario's)");
  add_prices(verb, command.prices);
  add_number(verb, "-j,--jobs", 1, 1'024, command.jobs,
             "Threads; never changes the result (default: all CPUs)");
  add_choice(verb, "--progress", kProgress, command.progress,
             "Progress on standard error (default auto)");
}

inline void add_junit(CLI::App& verb, std::string& file) {
  add_text(verb, "--junit", file, "FILE",
           "Write objectives and policies as JUnit test cases as well");
}

inline void add_run(CLI::App& app, RunCommand& run, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "run", "Simulate a scenario and report cost, throughput and latency",
      "  slicewise run -f scenarios/examples/aws-cifar10.yaml\n"
      "  slicewise run -f scenarios/examples/aws-cifar10.yaml -o json --out result.json\n"
      "  slicewise run -f - --set nodePools.gpu.nodes=2 < scenarios/examples/aws-cifar10.yaml",
      flags);
  add_scenario_flags(verb, run.file, run.set, run.out);
  add_choice(verb, "-o,--output", kVerdictFormats, run.format, "Format (default table)");
  add_junit(verb, run.junit);
  verb.add_option("--variant", run.variants, "Only this variant; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_number(verb, "--seed", 0, std::numeric_limits<std::int64_t>::max(), run.seed,
             "Seed of the random numbers (default: the scenario's)");
  add_number(verb, "--replications", 1, 100'000, run.replications,
             "Independent runs (default: the scenario's)");
  add_choice(verb, "--fidelity", kFidelities, run.fidelity,
             "Engine choice (default: the scenario's)");
  add_prices(verb, run.prices);
  add_number(verb, "-j,--jobs", 1, 1'024, run.jobs,
             "Threads; never changes the result (default: all CPUs)");
  add_choice(verb, "--progress", kProgress, run.progress,
             "Progress on standard error (default auto)");
}

inline void add_compare(CLI::App& app, CompareCommand& compare, CommonFlags& flags) {
  CLI::App& verb =
      add_verb(app, "compare", "Put the same workloads under every way of sharing, side by side",
               "  slicewise compare -f scenarios/examples/shared-inference.yaml --variant shared\n"
               "  slicewise compare -f scenarios/examples/aws-cifar10.yaml --instances "
               "g5.xlarge,p4d.24xlarge",
               flags);
  add_scenario_flags(verb, compare.file, compare.set, compare.out);
  add_choice(verb, "-o,--output", kVerdictFormats, compare.format, "Format (default table)");
  add_junit(verb, compare.junit);
  add_text(verb, "--variant", compare.variant, "NAME", "Which variant (default: the first)");
  add_names(verb, "--instances", "TYPE,...", compare.instances,
            "Instance types or families (default "
            "p3.2xlarge,g4dn.xlarge,g5.xlarge,p4d.24xlarge)");
  add_names(verb, "--purchase", "OPTION,...", compare.purchase,
            "on-demand, spot, reserved or price plans of the scenario (default: as it buys)");
  add_names(verb, "--strategies", "NAME,...", compare.strategies,
            "exclusive, timeSlicing, mps, mpsUncapped, mig, mig+timeSlicing, mig+mps, vgpu "
            "(default: all)");
  add_numbers(verb, "--replicas", 2, 1'000, compare.replicas,
              "Pods per shared GPU (default: the scenario's, or as many as would meet)");
  add_number(verb, "--nodes", 1, 10'000, compare.nodes,
             "Nodes of every option (default: as few as hold all pods)");
  verb.add_flag("--force", compare.force, "Simulate what the stock plugin or EC2 does not offer");
  add_simulation_flags(verb, compare);
}

inline void add_plan(CLI::App& app, PlanCommand& plan, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "plan", "Find the cheapest configuration that meets the objectives",
      "  slicewise init --template online-services | slicewise plan -f -\n"
      "  slicewise plan -f scenarios/examples/shared-inference.yaml --instances g4dn.xlarge,g6 "
      "--max-nodes 4 -o json --out plan.json",
      flags);
  add_scenario_flags(verb, plan.file, plan.set, plan.out);
  add_choice(verb, "-o,--output", kVerdictFormats, plan.format, "Format (default table)");
  add_junit(verb, plan.junit);
  add_text(verb, "--variant", plan.variant, "NAME", "Which variant (default: the first)");
  add_names(verb, "--instances", "TYPE,...", plan.instances,
            "Instance types or families (default: the scenario's planning section, else its own "
            "types and a dozen others)");
  add_names(verb, "--purchase", "OPTION,...", plan.purchase,
            "on-demand, spot, reserved or price plans of the scenario (default on-demand and its "
            "plans)");
  add_names(
      verb, "--strategies", "NAME,...", plan.strategies,
      "exclusive, timeSlicing, mps, mig, mig+timeSlicing, vgpu (default: all that can be had)");
  add_numbers(verb, "--replicas", 2, 1'000, plan.replicas,
              "Pods per GPU that are tried (default 2, 3, 4, 6, 8, ... as many as fit)");
  add_number(verb, "--max-nodes", 1, 1'000, plan.max_nodes, "Nodes of a pool (default 32)");
  add_number(verb, "--max-cost", 1, 1'000'000'000, plan.max_cost, "Dollars a month");
  add_choice(verb, "--objective", kGoals, plan.goal,
             "What is minimised (default: the scenario's; else monthlyCost, for jobs costPerJob)");
  add_number(verb, "--top", 1, 100, plan.top, "Options to rank (default 5)");
  verb.add_flag("--no-split", plan.no_split, "One pool for all workloads");
  verb.add_flag("--no-headroom", plan.no_headroom, "Do not search for the load that breaks it");
  verb.add_flag("--no-flips", plan.no_flips, "Do not search for changes that flip the answer");
  add_text(verb, "--journal", plan.journal, "FILE",
           "Keep every simulation in this file as it ends, and do not repeat those it holds: a run "
           "that was killed goes on");
  add_simulation_flags(verb, plan);
}

inline void add_max_load(CLI::App& app, MaxLoadCommand& max_load, CommonFlags& flags) {
  CLI::App& verb =
      add_verb(app, "max-load", "Find the highest load that meets the objectives",
               "  slicewise max-load -f scenarios/examples/shared-inference.yaml\n"
               "  slicewise max-load -f scenarios/examples/shared-inference.yaml --variant shared "
               "--scale workloads.classifier.traffic --precision 5%",
               flags);
  add_scenario_flags(verb, max_load.file, max_load.set, max_load.out);
  add_choice(verb, "-o,--output", kRunFormats, max_load.format, "Format (default table)");
  add_text(verb, "--variant", max_load.variant, "NAME", "Which variant (default: the first)");
  verb.add_option("--scale", max_load.scale,
                  "What grows: workloads.NAME.traffic, workloads.NAME.notebooks or "
                  "pipelines.NAME.traffic; may be repeated (default: all traffic together)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_percent(verb, "--precision", max_load.precision,
              "Width of the interval that is good enough (default 2%)");
  add_number(verb, "--most", 2, 1'000'000, max_load.most,
             "Look up to this many times the scenario's load (default 1000)");
  add_number(verb, "--most-replications", 2, 100'000, max_load.most_replications,
             "Runs of a load that stays undecided (default: four times the first)");
  add_simulation_flags(verb, max_load);
}

inline void add_neighbours(CLI::App& app, NeighboursCommand& neighbours, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "neighbours", "Show how much each workload slows each other one down",
      "  slicewise neighbours -f scenarios/examples/shared-inference.yaml --variant shared", flags);
  verb.alias("neighbors");
  add_scenario_flags(verb, neighbours.file, neighbours.set, neighbours.out);
  add_choice(verb, "-o,--output", kRunFormats, neighbours.format, "Format (default table)");
  add_text(verb, "--variant", neighbours.variant, "NAME", "Which variant (default: the first)");
  add_simulation_flags(verb, neighbours);
}

inline void add_sensitivity(CLI::App& app, SensitivityCommand& sensitivity, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "sensitivity", "Vary one input at a time: what the answer depends on",
      "  slicewise sensitivity -f scenarios/examples/shared-inference.yaml --variant shared\n"
      "  slicewise sensitivity -f scenarios/examples/shared-inference.yaml --variant shared --by "
      "10% --vary traffic --vary workloads.classifier.measured.requestGpuTime",
      flags);
  add_scenario_flags(verb, sensitivity.file, sensitivity.set, sensitivity.out);
  add_choice(verb, "-o,--output", kRunFormats, sensitivity.format, "Format (default table)");
  add_text(verb, "--variant", sensitivity.variant, "NAME", "Which variant (default: the first)");
  verb.add_option(
          "--vary", sensitivity.vary,
          "A kind of input (traffic, requestGpuTime, price, ...) or the path of one; may be "
          "repeated (default: the scenario's `sensitivity`, else all)")
      ->type_name("INPUT")
      ->allow_extra_args(false);
  add_percent(verb, "--by", sensitivity.by, "How far down and up (default 20%)");
  add_number(verb, "--break-evens", 0, 20, sensitivity.break_evens,
             "Bisect for so many inputs where an objective starts to fail (default 3)");
  add_simulation_flags(verb, sensitivity);
}

}  // namespace slicewise::tools
