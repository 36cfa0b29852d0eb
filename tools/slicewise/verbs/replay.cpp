#include <algorithm>
#include <string>
#include <vector>

#include "slicewise/reports/replay_report.hpp"
#include "slicewise/sim/replay/replay_study.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../interrupt.hpp"
#include "../one_variant.hpp"
#include "../prices.hpp"
#include "../progress.hpp"
#include "../replay_cluster.hpp"
#include "../replay_input.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string render(const sim::ReplayStudy& study, const ReplayCommand& command,
                   const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::replay_table(study, style, false);
    case RunFormat::Wide:
      return reports::replay_table(study, style, true);
    case RunFormat::Json:
      return reports::replay_json(study);
    case RunFormat::Yaml:
      return reports::replay_yaml(study);
    case RunFormat::Csv:
      return reports::replay_csv(study);
    case RunFormat::Markdown:
      return reports::replay_markdown(study);
    case RunFormat::Junit:
      break;  // not offered
  }
  return {};
}

std::string render(const sim::InflationStudy& study, const ReplayCommand& command,
                   const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case RunFormat::Table:
      return reports::inflation_table(study, style, false);
    case RunFormat::Wide:
      return reports::inflation_table(study, style, true);
    case RunFormat::Json:
      return reports::inflation_json(study);
    case RunFormat::Yaml:
      return reports::inflation_yaml(study);
    case RunFormat::Csv:
      return reports::inflation_csv(study);
    case RunFormat::Markdown:
      return reports::inflation_markdown(study);
    case RunFormat::Junit:
      break;  // not offered
  }
  return {};
}

ExitCode write_interrupted(bool interrupted) {
  if (!interrupted) return ExitCode::Success;
  print_error("interrupted: the report covers the jobs that had ended");
  return ExitCode::Interrupted;
}

// A mistake that only the values of several flags together show.
std::string conflict(const ReplayCommand& command) {
  const int clusters = (command.gpus ? 1 : 0) + (command.nodes.empty() ? 0 : 1) +
                       (command.node_sizes.empty() ? 0 : 1) + (command.instances.empty() ? 0 : 1);
  if (clusters != 1) return "replay needs one of --gpus, --nodes and --instances";
  if (command.repeat.value_or(1) > 1 && !command.shift) return "--repeat needs --shift";
  if (!command.inflate) return "";
  if (command.gpus) return "--inflate needs nodes: --nodes or --instances";
  if (!command.queues.empty() || command.repeat || !command.job_times.empty()) {
    return "--inflate has no time: --queue, --repeat and --job-times do not go with it";
  }
  return "";
}

bool preempts(sim::QueuePolicy queue) {
  return queue == sim::QueuePolicy::Priority || queue == sim::QueuePolicy::ShortestTime ||
         queue == sim::QueuePolicy::ShortestService;
}

// A flag of the command line that changes nothing beside the others and what the file says.
std::string without_effect(const ReplayCommand& given, const ReplayCommand& command) {
  if (given.shift && command.repeat.value_or(1) == 1) return "--shift needs --repeat";
  if (given.replications && !command.inflate) {
    return "--replications goes with --inflate: a replay has one outcome";
  }
  if (command.gpus && given.any_gpu) {
    return "--any-gpu says nothing about --gpus, of which any job takes any";
  }
  if (command.gpus && !given.placements.empty()) {
    return "--placement needs nodes: --nodes or --instances";
  }
  if (given.restart_preempted && std::ranges::none_of(command.queues, preempts)) {
    return "--restart-preempted needs a --queue that preempts: priority, srtf or srsf";
  }
  return "";
}

// On nodes every queue with every placement, on a pool every queue.
std::vector<sim::Scheduling> schedulings(const ReplayCommand& command, bool on_nodes) {
  std::vector<sim::QueuePolicy> queues = command.queues;
  std::vector<sim::NodePolicy> placements = command.placements;
  if (queues.empty()) queues = {sim::QueuePolicy::Fifo};
  if (placements.empty() || !on_nodes) placements = {sim::NodePolicy::BestFit};
  std::vector<sim::Scheduling> all;
  for (const sim::QueuePolicy queue : queues) {
    for (const sim::NodePolicy placement : placements) all.push_back({queue, placement});
  }
  return all;
}

ExitCode replay_trace(const scenarios::JobTrace& trace, const NamedCluster& cluster,
                      const sim::ReplayOrigin& origin, const ReplayCommand& command,
                      const CommonFlags& flags) {
  sim::ReplaySettings settings;
  settings.cluster = cluster.cluster;
  settings.seed = command.seed.value_or(settings.seed);
  settings.repeat = command.repeat.value_or(1);
  settings.shift = command.shift.value_or(Duration{});
  settings.restart_preempted = command.restart_preempted;
  settings.keep_jobs = !command.job_times.empty();
  Progress progress(command.progress, flags.quiet, "jobs");
  sim::RunOptions options{.threads = thread_count(command.jobs),
                          .progress = [&](int done, int total) { progress.update(done, total); },
                          .interrupted = &catch_interrupt()};
  const auto study = sim::replay_each(
      trace, settings, schedulings(command, !settings.cluster.nodes.empty()), origin, options);
  progress.finish();
  if (!study) return fail(study.error(), {}, flags);
  if (!command.job_times.empty()) {
    const ExitCode code = write_text(command.job_times, reports::job_times_csv(trace, *study));
    if (code != ExitCode::Success) return code;
  }
  const ExitCode code = write_text(command.out, render(*study, command, flags));
  return code == ExitCode::Success ? write_interrupted(study->interrupted) : code;
}

ExitCode inflate_trace(const scenarios::JobTrace& trace, const NamedCluster& cluster,
                       const sim::ReplayOrigin& origin, const ReplayCommand& command,
                       const CommonFlags& flags) {
  Progress progress(command.progress, flags.quiet);
  sim::RunOptions options{.threads = thread_count(command.jobs),
                          .progress = [&](int done, int total) { progress.update(done, total); },
                          .interrupted = &catch_interrupt()};
  std::vector<sim::NodePolicy> placements = command.placements;
  if (placements.empty()) placements = {sim::NodePolicy::BestFit};
  const auto study = sim::inflate_each(trace, cluster.cluster, placements, *command.inflate,
                                       command.seed.value_or(sim::ReplaySettings{}.seed),
                                       command.replications.value_or(1), origin, options);
  progress.finish();
  if (!study) return fail(study.error(), {}, flags);
  const ExitCode code = write_text(command.out, render(*study, command, flags));
  return code == ExitCode::Success ? write_interrupted(study->interrupted) : code;
}

}  // namespace

ExitCode execute(const ReplayCommand& given, const CommonFlags& flags) {
  ReplayCommand command = given;
  std::vector<SourceText> sources;
  const Expected<ReplayInput> input = open_replay(command, sources);
  if (!input) return fail(input.error(), sources, flags);
  for (const std::string& wrong : {conflict(command), without_effect(given, command)}) {
    if (!wrong.empty()) return usage_error(wrong, "see slicewise replay --help");
  }
  if (input->trace.size() == 0) {
    return fail({make_diagnostic(Code::TraceFormat, {command.file, 1, 1, 1},
                                 "the trace has no job to replay",
                                 "each line after the one with the columns is a job")},
                {}, flags);
  }
  models::Catalogue catalogue = models::load_catalogue();
  if (const ExitCode code = lay_prices_over(catalogue, command.prices, flags);
      code != ExitCode::Success) {
    return code;
  }
  const auto cluster = named_cluster(command, catalogue);
  if (!cluster) return fail(cluster.error(), {}, flags);
  const sim::ReplayOrigin origin{
      .trace = command.file,
      .trace_sha256 = input->sha256,
      .cluster = cluster->text,
      .price_date = cluster->price ? catalogue.prices.date() : std::string(),
      .price = cluster->price};
  return command.inflate ? inflate_trace(input->trace, *cluster, origin, command, flags)
                         : replay_trace(input->trace, *cluster, origin, command, flags);
}

}  // namespace slicewise::tools
