#include "slicewise/sim/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/junit_report.hpp"
#include "slicewise/reports/plan_report.hpp"
#include "slicewise/version.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../interrupt.hpp"
#include "../one_variant.hpp"
#include "../plan_journal.hpp"
#include "../plan_run.hpp"
#include "../progress.hpp"
#include "../terminal.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

std::string plan_text(const sim::Plan& plan, const PlanCommand& command, const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::plan_table(plan, style, false);
    case RunFormat::Wide:
      return reports::plan_table(plan, style, true);
    case RunFormat::Json:
      return reports::plan_json(plan);
    case RunFormat::Yaml:
      return reports::plan_yaml(plan);
    case RunFormat::Csv:
      return reports::plan_csv(plan);
    case RunFormat::Markdown:
      return reports::plan_markdown(plan);
    case RunFormat::Junit:
      return reports::plan_junit(plan);
  }
  return {};
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
  print_error(code == ExitCode::Infeasible ? "error: nothing that was tried can run the workloads"
              : code == ExitCode::PodsLost ? "error: nothing that was tried keeps all pods running"
                                           : "error: nothing that was tried meets the objectives");
  return code;
}

sim::PlanOptions plan_options(const PlanCommand& command) {
  sim::PlanOptions options;
  options.instance_types = command.instances;
  options.purchases = command.purchase;
  options.strategies = command.strategies;
  options.replicas = command.replicas;
  options.max_nodes = command.max_nodes;
  if (command.max_cost) options.max_monthly_cost = from_dollars(*command.max_cost);
  options.goal = command.goal;
  if (command.no_split) options.split = false;
  options.top = static_cast<std::size_t>(command.top.value_or(static_cast<int>(options.top)));
  options.headroom = !command.no_headroom;
  options.flips = !command.no_flips;
  options.run.threads = thread_count(command.jobs);
  return options;
}

}  // namespace

std::string plan_subject(const PlanCommand& command, const OneVariant& opened) {
  const scenarios::Scenario& scenario = opened.set().variants[opened.variant];
  std::string subject = fmt::format(
      "{} {} {} {} {} {}", kVersion, opened.set().sha256, scenario.name, scenario.seed,
      opened.prices.sha256.empty() ? "-" : opened.prices.sha256, fmt::join(command.set, " "));
  if (command.allow_pending) subject += " --allow-pending";
  std::ranges::replace(subject, '\n', ' ');
  return subject;
}

ExitCode run_plan(const PlanCommand& command, const CommonFlags& flags,
                  const MakeProbeRunner& make_runner) {
  const auto opened = open_variant(command, flags);
  if (!opened) return opened.error();
  std::optional<Expected<PlanJournal>> journal;
  if (!command.journal.empty()) {
    journal.emplace(PlanJournal::open(command.journal, plan_subject(command, *opened)));
    if (!*journal) return fail(journal->error(), {}, flags);
  }
  Progress progress(command.progress, flags.quiet, "simulations", Progress::Total::Grows);
  sim::PlanOptions options = plan_options(command);
  options.run.progress = [&](int done, int total) { progress.update(done, total); };
  options.run.interrupted = &catch_interrupt();
  options.probes = make_runner(*opened, options);
  if (journal) options.journal = (*journal)->hooks();
  auto plan = sim::make_plan(opened->set(), opened->variant, opened->catalogue, options);
  progress.finish();
  if (!plan) return fail(plan.error(), opened->file.texts, flags);
  if (journal && (*journal)->failed()) {
    print_error(fmt::format("error: cannot write {}", command.journal));
    return ExitCode::FileAccess;
  }
  if (journal && (*journal)->found() > 0 && !flags.quiet) {
    print_error(
        fmt::format("note: {} simulations were in {}", (*journal)->found(), command.journal));
  }
  stamp_files(opened->file, opened->prices, plan->stamp);
  if (const ExitCode code = write_text(command.out, plan_text(*plan, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  if (const ExitCode code = write_besides(command.junit, reports::plan_junit(*plan));
      code != ExitCode::Success) {
    return code;
  }
  print_diagnostics(opened->set().notes, opened->file.texts, flags);
  return plan_verdict(*plan);
}

ExitCode execute(const PlanCommand& command, const CommonFlags& flags) {
  return run_plan(command, flags,
                  [](const OneVariant&, const sim::PlanOptions&) { return sim::ProbeRunner(); });
}

}  // namespace slicewise::tools
