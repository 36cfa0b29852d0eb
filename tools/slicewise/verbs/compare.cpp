#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/sharing_strategy.hpp"
#include "slicewise/sim/comparison.hpp"

#include "../commands.hpp"
#include "../options.hpp"
#include "../study.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

std::string strategies_tried() {
  using Way = scenarios::SharingStrategy;
  std::string names;
  for (const Way& way : scenarios::kSharingStrategies) {
    if (way.tried == Way::Tried::Never) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", way.key);
  }
  return names;
}

sim::ComparisonOptions comparison_options(const CompareCommand& command,
                                          const sim::RunOptions& run) {
  sim::ComparisonOptions options = with_run(command.options, run);
  if (command.max_cost) options.max_monthly_cost = from_dollars(*command.max_cost);
  options.sampled_inputs = command.inputs == InputChoice::Sampled;
  return options;
}

// One option that does the job is a success: those that do not are what a comparison is for.
ExitCode comparison_verdict(const sim::StrategyComparison& comparison) {
  if (comparison.interrupted) {
    print_error("interrupted: the report covers the options that had finished");
    return ExitCode::Interrupted;
  }
  const auto runs = [](const sim::ComparedOption& option) {
    return option.result.pods.running_max > 0;
  };
  if (std::ranges::none_of(comparison.options, runs)) {
    print_error("error: no option runs any pod");
    return ExitCode::Infeasible;
  }
  std::vector<sim::Verdict> verdicts;
  for (const sim::ComparedOption& option : comparison.options) {
    if (!option.too_dear) verdicts.push_back(option.result.verdict);
  }
  if (verdicts.empty()) print_error("error: every option costs more than --max-cost");
  return best_exit_code(verdicts);
}

}  // namespace

void add_flags(CLI::App& app, CompareCommand& compare, CommonFlags& flags) {
  CLI::App& verb =
      add_verb(app, "compare", "Put the same workloads under every way of sharing, side by side",
               "  slicewise compare -f scenarios/examples/shared-inference.yaml --variant shared\n"
               "  slicewise compare -f scenarios/examples/aws-cifar10.yaml --instances "
               "g5.xlarge,p4d.24xlarge",
               flags);
  begin_study(verb, kVerdictPageFormats, compare);
  add_names(verb, "--instances", "TYPE,...", compare.options.instance_types,
            fmt::format("Instance types or families (default {})",
                        fmt::join(sim::kComparedInstances, ",")));
  verb.add_flag(
      "--retired", compare.options.retired,
      fmt::format("By default {} too, which AWS no longer offers", sim::kComparedRetired));
  add_names(verb, "--purchase", "OPTION,...", compare.options.purchases,
            "on-demand, spot, reserved or price plans of the scenario (default: as it buys)");
  add_names(verb, "--strategies", "NAME,...", compare.options.strategies,
            strategies_tried() + " (default: all)");
  add_numbers(verb, "--replicas", 2, 1'000, compare.options.replicas,
              "Pods per shared GPU (default: the scenario's, or as many as would meet)");
  verb.add_flag("--dra", compare.options.dra,
                "MPS without a cap on threads and MIG + MPS, which NVIDIA's DRA driver sets up and "
                "the device plugin does not, may be the best");
  add_serving_ways(verb, compare.options.serving, "as it serves");
  add_number(verb, "--nodes", 1, 10'000, compare.options.nodes,
             "Nodes of every option (default: as few as hold all pods)");
  add_number(verb, "--max-cost", 1, 1'000'000'000, compare.max_cost,
             "Dollars a month: what costs more is not the best");
  add_choice(verb, "--objective", kGoals, compare.options.goal,
             "What makes an option the best (default: the price of an hour of work)");
  add_choice(verb, "--inputs", kInputChoices, compare.inputs,
             "In the replications of each option: as given, or drawn anew in each as in run "
             "--inputs sampled (default {})");
  verb.add_flag("--force", compare.options.force,
                "Simulate what the stock plugin or EC2 does not offer");
  end_study(verb, compare, flags);
}

ExitCode execute(const CompareCommand& command, const CommonFlags& flags) {
  const Study<sim::StrategyComparison> study{
      .find =
          [&](const OneVariant& opened, const sim::RunOptions& run) {
            return sim::compare_strategies(opened.set(), opened.variant, opened.catalogue,
                                           comparison_options(command, run));
          },
      .verdict = comparison_verdict,
      .junit = reports::comparison_junit};
  return execute_study(command, flags, study);
}

}  // namespace slicewise::tools
