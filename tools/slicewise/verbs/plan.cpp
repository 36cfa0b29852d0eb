#include "slicewise/sim/plan.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tl/expected.hpp>

#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/sim/lint.hpp"

#include "../cluster_reading.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../journals.hpp"
#include "../options.hpp"
#include "../plan_part.hpp"
#include "../plan_run.hpp"
#include "../scenario_file.hpp"
#include "../study.hpp"
#include "../terminal.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

using Pools = tl::expected<std::vector<sim::PoolChoice>, ExitCode>;

// The workloads may have changed since the plan was made: only its pools count.
Pools of_plan(const SourceText& source, const FilePart& named, const OneVariant& opened,
              const CommonFlags& flags) {
  const auto plan = reports::read_plan(source);
  if (!plan) return tl::unexpected(fail(plan.error(), {source}, flags));
  const auto part = part_of_plan(*plan, named.part.value_or("1"));
  if (!part) return tl::unexpected(usage_error("--from: " + part.error(), kPlanParts));
  Diagnostics problems =
      reports::check_plan_names(source, part->option.pools, part->at,
                                opened.set().variants[opened.variant], opened.catalogue);
  if (!problems.empty()) return tl::unexpected(fail(problems, {source}, flags));
  return part->option.pools;
}

Pools of_scenario(const ScenarioFile& file, const OneVariant& opened, const CommonFlags& flags) {
  if (!file.loaded.problems.empty()) {
    return tl::unexpected(fail(file.loaded.problems, file.texts, flags));
  }
  const auto& variants = file.loaded.set.variants;
  const auto same = std::ranges::find(variants, opened.set().variants[opened.variant].name,
                                      &scenarios::Scenario::name);
  auto pools =
      sim::pools_as_they_stand(same == variants.end() ? variants.front() : *same, opened.catalogue);
  if (!pools) return tl::unexpected(fail(pools.error(), file.texts, flags));
  return std::move(*pools);
}

// The objects of a cluster in a folder, as `import k8s` has them.
Pools of_cluster(const std::string& folder, const OneVariant& opened, const CommonFlags& flags) {
  Diagnostics problems;
  AdviseCommand cluster;
  cluster.files = file_names({folder}, problems);
  if (!problems.empty()) return tl::unexpected(fail(problems, {}, flags));
  const Expected<ClusterReading> reading = read_cluster(cluster);
  if (!reading) return tl::unexpected(fail(reading.error(), {}, flags));
  scenarios::ImportOptions options;
  sim::take_catalogue(opened.catalogue, options);
  const auto imported = scenarios::import_log(scenarios::ImportKind::K8s, reading->all, options);
  if (!imported) return tl::unexpected(fail(imported.error(), reading->all, flags));
  auto written = scenarios::scenario_of(*imported, scenarios::ImportKind::K8s, options);
  if (!written.assumed_pools.empty()) {
    return tl::unexpected(
        fail({make_diagnostic(Code::FieldMissing, {},
                              fmt::format("no file in {} says which nodes there are", folder),
                              "kubectl get nodes,nodepools -o yaml, or node groups of eksctl")},
             {}, flags));
  }
  return of_scenario(scenario_of({folder, std::move(written.yaml)}, {}), opened, flags);
}

// Where the path of a plan starts: the pools of --from, a scenario, the files of a cluster or an
// option of a stored plan; with --max-changes alone those of the planned scenario; empty where
// nobody asks for a path. Mistakes are printed.
Pools present_pools(const PlanCommand& command, const CommonFlags& flags,
                    const OneVariant& opened) {
  if (command.from.empty()) {
    if (!command.options.max_changes) return std::vector<sim::PoolChoice>{};
    return of_scenario(opened.file, opened, flags);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(command.from, ignored)) {
    return of_cluster(command.from, opened, flags);
  }
  const FilePart named = file_part(command.from);
  const Expected<SourceText> source = read_source(named.file);
  if (!source) return tl::unexpected(fail(source.error(), {}, flags));
  if (reports::looks_like_plan(*source)) return of_plan(*source, named, opened, flags);
  const auto file = open_scenario_or_option(command.from, {}, flags);
  if (!file) return tl::unexpected(file.error());
  return of_scenario(*file, opened, flags);
}

ExitCode plan_verdict(const sim::Plan& plan) {
  if (plan.interrupted) {
    print_error("interrupted: the report covers what had been simulated");
    return ExitCode::Interrupted;
  }
  if (!plan.options.empty()) return ExitCode::Success;
  std::vector<sim::Verdict> verdicts;
  for (const sim::RejectedChoice& rejected : plan.rejected) {
    if (!rejected.figures) continue;
    verdicts.push_back(rejected.figures->verdict);
    // What stands was refused for something else: its price, or the headroom that a policy asks
    // for.
    if (verdicts.back().stands()) {
      verdicts.back().reasons.push_back({sim::Verdict::Cause::PolicyDenies, "", "", ""});
    }
  }
  const ExitCode code = best_exit_code(verdicts);
  const bool misses_none = std::ranges::all_of(verdicts, &sim::Verdict::meets_objectives);
  const bool denies = std::ranges::any_of(verdicts, [](const sim::Verdict& verdict) {
    return verdict.has(sim::Verdict::Cause::PolicyDenies);
  });
  const bool ruled_out = verdicts.empty() && plan.counts.bounded > 0;
  print_error(ruled_out ? "error: closed forms and limits such as --max-cost leave nothing to try"
              : code == ExitCode::Infeasible ? "error: nothing that was tried can run the workloads"
              : code == ExitCode::PodsLost ? "error: nothing that was tried keeps all pods running"
              : misses_none && !denies     ? "error: nothing that was tried answers all requests"
              : misses_none                ? "error: policies deny what was tried"
                                           : "error: nothing that was tried meets the objectives");
  return code;
}

sim::PlanOptions plan_options(const PlanCommand& command, const sim::RunOptions& run) {
  sim::PlanOptions options = command.options;
  if (command.max_cost) options.max_monthly_cost = from_dollars(*command.max_cost);
  if (command.no_split) options.split = false;
  options.top = static_cast<std::size_t>(command.top.value_or(static_cast<int>(options.top)));
  options.headroom = !command.no_headroom;
  options.risk = !command.no_risk;
  options.sampled_inputs = command.inputs == InputChoice::Sampled;
  options.flips = !command.no_flips;
  options.survive = command.survive.value_or(sim::Outage::None);
  options.vary_pods = command.vary_pods.value_or(0);
  options.run = run;
  return options;
}

}  // namespace

void add_plan_choices(CLI::App& verb, PlanCommand& plan) {
  add_names(verb, "--instances", "TYPE,...", plan.options.instance_types,
            "Instance types or families (default: the scenario's planning section, else its own "
            "types and a dozen others)");
  add_names(verb, "--purchase", "OPTION,...", plan.options.purchases,
            "on-demand, spot, reserved, capacity-block or price plans of the scenario (default "
            "on-demand and its "
            "plans). spot also tries spot-fallback, which is the answer where it costs no more: "
            "on-demand nodes while EC2 has no spot; beside on-demand, some nodes of each");
  add_names(
      verb, "--strategies", "NAME,...", plan.options.strategies,
      "exclusive, timeSlicing, mps, mig, mig+timeSlicing, vgpu (default: all that can be had); by "
      "NVIDIA's DRA driver mpsUncapped and mig+mps");
  verb.add_option("--replicas", plan.options.replicas,
                  "Pods per GPU that are tried (default 2, 3, 4, 6, 8, ... as many as fit)")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(2, 1'000));
  add_serving_ways(verb, plan.options.serving);
  add_number(verb, "--max-nodes", 1, 1'000, plan.options.max_nodes,
             fmt::format("Nodes of a pool (default: the scenario's, else {})",
                         scenarios::Planning{}.max_nodes));
  add_number(verb, "--max-cost", 1, 1'000'000'000, plan.max_cost, "Dollars a month");
  add_number(verb, "--vary-pods", 0, 100, plan.vary_pods,
             "So many pods more or fewer than in the scenario may a Service have (default 0; what "
             "one more or fewer would save is said)");
  add_choice(
      verb, "--survive", kOutages, plan.survive,
      "Every pool keeps its objectives after the loss of a node, or of one of three zones over "
      "which its nodes are spread");
  add_choice(verb, "--objective", kGoals, plan.options.goal,
             "What is minimised (default: the scenario's; else monthlyCost, for jobs that run once "
             "costPerJob)");
  add_number(
      verb, "--top", 1, 100, plan.top,
      fmt::format("Options to rank, none at more than three times the cost of the first, which is "
                  "confirmed in other runs at 95 % for all that stood together (default {})",
                  sim::PlanOptions{}.top));
  verb.add_flag("--no-split", plan.no_split, "One pool for all workloads");
  verb.add_flag("--no-headroom", plan.no_headroom, "Do not search for the load that breaks it");
  verb.add_flag("--no-risk", plan.no_risk,
                "Do not run the best two options 20 times more, to see what chance does to them "
                "(never done where that takes over ten million requests)");
  verb.add_flag("--no-flips", plan.no_flips, "Do not search for changes that flip the answer");
}

void add_flags(CLI::App& app, PlanCommand& plan, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "plan", "Find the cheapest configuration that meets the objectives",
      "  slicewise init --template online-services | slicewise plan -f -\n"
      "  slicewise plan -f scenarios/examples/shared-inference.yaml --instances g4dn.xlarge,g6 "
      "--max-nodes 4 -o json --out plan.json\n"
      "  slicewise plan -f scenarios/examples/shared-inference.yaml --max-changes 1",
      flags);
  begin_study(verb, kVerdictFormats, plan);
  add_plan_choices(verb, plan);
  verb.add_flag("--dra", plan.options.dra,
                "Without --strategies: also what NVIDIA's DRA driver sets up and the device plugin "
                "does not, MPS without a cap on threads and MIG + MPS (which of the two sets an "
                "option up is always said)");
  add_choice(verb, "--inputs", kInputChoices, plan.inputs,
             "In the 20 runs of the best two options: as given, or drawn anew in each as in run "
             "--inputs sampled (default given; not with --no-risk)");
  add_text(
      verb, "--from", plan.from, "FILE",
      "The present pools: a scenario, a folder of the cluster's manifests, or of a plan an option "
      "(plan.json#2) or what a step of its path leaves (plan.json#step1). Says the way to cheaper "
      "ones step by step: what each saves, "
      "which pods restart, which nodes come and go");
  add_number(verb, "--max-changes", 1, 1'000, plan.options.max_changes,
             "On that way no more than so many pools change (without --from: from the scenario's "
             "own pools)");
  add_names(verb, "--regions", "NAME,...", plan.options.regions,
            "What the options cost in these regions, or in all of the price book: which is the "
            "cheapest there, and the difference");
  CLI::Option* horizon = add_number(
      verb, "--horizon", 1, 60, plan.options.horizon,
      "So many months: what the best option becomes, what they cost, which nodes to commit to");
  add_percent(verb, "--growth", plan.options.growth,
              "Of the traffic, from month to month (default 0%)", true)
      ->needs(horizon);
  end_study(verb, plan, flags);
}

ExitCode run_plan(const PlanCommand& command, const CommonFlags& flags,
                  const MakeProbeRunner& make_runner) {
  if (command.no_risk && command.inputs == InputChoice::Sampled) {
    return usage_error("--inputs sampled is about the runs that --no-risk leaves out",
                       "leave one of them out");
  }
  const auto opened = open_variant(command, flags);
  if (!opened) return opened.error();
  const auto present = present_pools(command, flags, *opened);
  if (!present) return present.error();
  std::optional<Expected<PlanJournal>> journal;
  if (!command.journal.empty()) {
    journal.emplace(PlanJournal::open(command.journal, subject_of(*opened, opened->variant)));
    if (!*journal) return fail(journal->error(), {}, flags);
  }
  Study<sim::Plan> study{
      .counted = "simulations",
      .total = Progress::Total::Grows,
      .find =
          [&](const OneVariant& from, const sim::RunOptions& run) {
            sim::PlanOptions options = plan_options(command, run);
            options.from = *present;
            options.probes = make_runner(from, options);
            if (journal) options.journal = (*journal)->hooks();
            Expected<sim::Plan> plan =
                sim::make_plan(from.set(), from.variant, from.catalogue, options);
            if (plan) reports::add_routes(from.set().variants[from.variant], from.catalogue, *plan);
            return plan;
          },
      .verdict = plan_verdict,
      .junit = reports::plan_junit};
  if (journal) study.after = [&] { return close_journal(**journal, command.journal, flags); };
  return execute_study(command, flags, *opened, study);
}

ExitCode execute(const PlanCommand& command, const CommonFlags& flags) {
  return run_plan(command, flags,
                  [](const OneVariant&, const sim::PlanOptions&) { return sim::ProbeRunner(); });
}

}  // namespace slicewise::tools
