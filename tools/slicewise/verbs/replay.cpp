#include "slicewise/sim/replay/replay.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/reports/html_report.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/sim/run_size.hpp"

#include "../commands.hpp"
#include "../host.hpp"
#include "../options.hpp"
#include "../replay_input.hpp"
#include "../study.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

ExitCode stopped_early() {
  print_error("interrupted: the report covers the jobs that had ended");
  return ExitCode::Interrupted;
}

ExitCode verdict(const sim::ReplayStudy& study) {
  if (study.interrupted) return stopped_early();
  std::vector<sim::Verdict> verdicts;
  for (const sim::ReplayOutcome& outcome : study.outcomes) verdicts.push_back(outcome.verdict);
  // The report says under which ways no job ran.
  const ExitCode code = exit_code_of_ways(verdicts);
  if (code == ExitCode::Infeasible) print_error("error: no job ever ran");
  return code;
}

bool replans(sim::QueuePolicy queue) {
  return queue == sim::QueuePolicy::ShortestTime || queue == sim::QueuePolicy::ShortestService ||
         sim::interleaves(queue);
}

// A mistake that only the values of several flags together show.
std::string conflict(const ReplayCommand& command) {
  const int clusters = (command.gpus ? 1 : 0) + (command.nodes.empty() ? 0 : 1) +
                       (command.node_sizes.empty() ? 0 : 1) + (command.instances.empty() ? 0 : 1);
  if (clusters != 1) return "replay needs one of --gpus, --nodes and --instances";
  if (command.repeat.value_or(1) > 1 && !command.shift) return "--repeat needs --shift";
  if (!command.sharings.empty() && command.instances.empty()) {
    return "--sharing needs --instances: it has to know the GPUs";
  }
  if (command.sharings.empty() && (!command.profile_rules.empty() || command.backoff_limit)) {
    return std::string(command.backoff_limit ? "--backoff-limit" : "--profile-by") +
           " needs --sharing: without it nobody meets on a GPU";
  }
  if (command.sharings.empty() && command.inputs == InputChoice::Sampled) {
    return "--inputs sampled needs --sharing: without it nothing hangs on how busy GPUs were";
  }
  if (!command.sharings.empty() && std::ranges::any_of(command.queues, replans)) {
    return "--sharing does not go with --queue srtf, srsf, muri and antman: they place all jobs "
           "anew at each event";
  }
  if (command.sharings.empty() && std::ranges::any_of(command.placements, sim::knows_sharing)) {
    return "--placement memory-binpack, utilization-binpack, gavel, lucid and interference-aware "
           "look at who shares a GPU: they need --sharing";
  }
  if (!command.inflate) return "";
  if (command.gpus) return "--inflate needs nodes: --nodes or --instances";
  if (!command.queues.empty() || command.repeat || !command.job_times.empty()) {
    return "--inflate has no time: --queue, --repeat and --job-times do not go with it";
  }
  if (!command.sharings.empty() || command.group_by != sim::GroupBy::Nothing) {
    return "--inflate has no time: --sharing and --group-by do not go with it";
  }
  if (command.allow_pending) {
    return "--inflate turns jobs down on purpose: --allow-pending says nothing about it";
  }
  return "";
}

bool preempts(sim::QueuePolicy queue) {
  return queue == sim::QueuePolicy::Priority || replans(queue);
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
  if (!given.placements.empty() && !command.queues.empty() &&
      std::ranges::all_of(command.queues, sim::interleaves)) {
    return "--placement says nothing to muri and antman: they choose GPUs by themselves";
  }
  if (given.restart_preempted && std::ranges::none_of(command.queues, preempts)) {
    return "--restart-preempted needs a --queue that preempts: priority, srtf or srsf";
  }
  return "";
}

// What --group-by needs of the trace; "" where it has it, or needs nothing.
std::string_view missing_column(sim::GroupBy by, const scenarios::JobTrace& trace) {
  if (by == sim::GroupBy::User && trace.user.empty()) return "user";
  if (by == sim::GroupBy::Group && trace.group.empty()) return "group";
  if (by == sim::GroupBy::Project && trace.project.empty()) return "project";
  return "";
}

// On nodes every way of sharing with every queue and every placement, on a pool every queue. Who
// asks for sharing asks for Kubernetes: without a word its scheduler decides.
std::vector<sim::Scheduling> schedulings(
    const ReplayCommand& command, std::vector<std::shared_ptr<const sim::GpuSharing>> sharings,
    bool on_nodes) {
  std::vector<sim::QueuePolicy> queues = command.queues;
  std::vector<sim::NodePolicy> placements = command.placements;
  const bool by_kubernetes = !sharings.empty();
  if (queues.empty()) {
    queues = {by_kubernetes ? sim::QueuePolicy::Backfill : sim::QueuePolicy::Fifo};
  }
  if (placements.empty() || !on_nodes) {
    placements = {by_kubernetes ? sim::NodePolicy::LeastAllocated : sim::NodePolicy::BestFit};
  }
  if (sharings.empty()) sharings = {nullptr};
  std::vector<sim::Scheduling> all;
  for (const auto& sharing : sharings) {
    for (const sim::QueuePolicy queue : queues) {
      for (const sim::NodePolicy placement : placements) {
        all.push_back({queue, placement, sharing});
        if (sim::interleaves(queue)) break;  // no placement
      }
    }
  }
  return all;
}

// The trace as its jobs would run alone, with the profiles that --profile-by gives them; what that
// leaves open is said. The command names rules then, not files of them.
ExitCode prepare(scenarios::JobTrace& trace, ReplayCommand& command,
                 const models::Catalogue& catalogue, std::vector<SourceText>& sources,
                 const CommonFlags& flags) {
  if (command.sharings.empty()) return ExitCode::Success;
  const auto rules = profile_rules(command, catalogue, sources);
  if (!rules) return fail(rules.error(), sources, flags);
  command.profile_rules.clear();
  for (const scenarios::ProfileRule& rule : *rules)
    command.profile_rules.push_back(rule.text.value);
  const std::int64_t without =
      scenarios::give_profiles(trace, *rules, command.seed.value_or(sim::ReplaySettings{}.seed));
  if (without > 0) {
    print_diagnostics({make_diagnostic(Code::InputAssumed, {},
                                       fmt::format("no rule of --profile-by fits {} jobs", without),
                                       "add name~=.*:PROFILE as the last rule")},
                      {}, flags);
  }
  scenarios::take_out_company(trace);
  return ExitCode::Success;
}

ExitCode closed(const StudyJournal* journal, const ReplayCommand& command,
                const CommonFlags& flags) {
  return journal == nullptr ? ExitCode::Success : close_journal(*journal, command.journal, flags);
}

// All that a replay depends on but its flags: the bytes of every file that it reads.
std::string subject_of(const sim::ReplayOrigin& origin, const sim::ReplayCluster& cluster,
                       std::span<const SourceText> sources) {
  std::string read;
  for (const SourceText& source : sources) read += source.text + '\n';
  for (const sim::NodeShape& node : cluster.nodes) {
    read += fmt::format("{} {} {} {} {}\n", node.name, node.cpu.count, node.memory.count, node.gpus,
                        node.gpu_model);
  }
  const sim::Stamp& stamp = origin.stamp;
  return fmt::format("{} {} {} {}", stamp.scenario_sha256, scenarios::sha256_hex(read),
                     stamp.price_file_sha256.empty() ? "-" : stamp.price_file_sha256,
                     fmt::join(stamp.catalogue_sha256, " "));
}

ExitCode replay_trace(const ReplayInput& input, const NamedCluster& cluster,
                      std::vector<std::shared_ptr<const sim::GpuSharing>> sharings,
                      const sim::ReplayOrigin& origin, const ReplayCommand& command,
                      const CommonFlags& flags, StudyJournal* journal) {
  const scenarios::JobTrace& trace = input.trace;
  sim::ReplaySettings settings;
  settings.cluster = cluster.cluster;
  settings.seed = command.seed.value_or(settings.seed);
  settings.repeat = command.repeat.value_or(1);
  settings.shift = command.shift.value_or(Duration{});
  settings.restart_preempted = command.restart_preempted;
  settings.keep_jobs = !command.job_times.empty();
  settings.group_by = command.group_by;
  settings.sampled_inputs = command.inputs == InputChoice::Sampled;
  if (command.backoff_limit) settings.backoff_limit = *command.backoff_limit;
  Progress progress(command.progress, flags.quiet, "jobs");
  settings.progress = [&](std::int64_t done, std::int64_t total, TimePoint now) {
    progress.update(done, total, simulated_time(trace.origin_unix_s, now - TimePoint{}));
  };
  sim::RunOptions options{
      .threads = thread_count(command.jobs), .progress = {}, .interrupted = &catch_interrupt()};
  if (journal != nullptr) options.journal = &journal->tasks();
  const std::vector<sim::Scheduling> ways =
      schedulings(command, std::move(sharings), !settings.cluster.nodes.empty());
  for (const sim::Scheduling& way : ways) {
    const Diagnostics found =
        sim::beyond_limits(sim::estimate_size(trace, sim::under(way, settings)), command.limits);
    if (!found.empty()) return fail(found, {}, flags);
  }
  auto study = sim::replay_each(trace, settings, ways, origin, options);
  progress.finish();
  if (!study) return fail(study.error(), {}, flags);
  if (const ExitCode code = closed(journal, command, flags); failed(code)) return code;
  study->findings.insert(study->findings.begin(), input.skipped.begin(), input.skipped.end());
  if (!command.job_times.empty()) {
    const ExitCode code = write_text(command.job_times, reports::job_times_csv(trace, *study));
    if (failed(code)) return code;
  }
  if (Host* const host = current_host(); host != nullptr && !study->outcomes.empty()) {
    const auto page = reports::replay_page({"replay", reports::Report(*study).json()});
    for (std::size_t c = 0; page && c < page->charts.size(); ++c) {
      host->renderings[page->charts[c].name + ".svg"] = page->charts[c].svg;
    }
  }
  const ExitCode code = write_report(*study, command, flags);
  return code == ExitCode::Success ? verdict(*study) : code;
}

ExitCode inflate_trace(const scenarios::JobTrace& trace, const NamedCluster& cluster,
                       const sim::ReplayOrigin& origin, const ReplayCommand& command,
                       const CommonFlags& flags, StudyJournal* journal) {
  const Diagnostics found = sim::beyond_limits(
      sim::estimate_inflation(trace, cluster.cluster, *command.inflate), command.limits);
  if (!found.empty()) return fail(found, {}, flags);
  Progress progress(command.progress, flags.quiet);
  sim::RunOptions options{.threads = thread_count(command.jobs),
                          .progress = [&](int done, int total) { progress.update(done, total); },
                          .interrupted = &catch_interrupt()};
  if (journal != nullptr) options.journal = &journal->tasks();
  std::vector<sim::NodePolicy> placements = command.placements;
  if (placements.empty()) placements = {sim::NodePolicy::BestFit};
  const auto study = sim::inflate_each(trace, cluster.cluster, placements, *command.inflate,
                                       command.seed.value_or(sim::ReplaySettings{}.seed),
                                       command.replications.value_or(1), origin, options);
  progress.finish();
  if (!study) return fail(study.error(), {}, flags);
  if (const ExitCode code = closed(journal, command, flags); failed(code)) return code;
  const ExitCode code = write_report(*study, command, flags);
  return code == ExitCode::Success && study->interrupted ? stopped_early() : code;
}

// An option that takes several of a few words: "fifo,srtf".
template <class Value, std::size_t kCount>
void add_choices(CLI::App& app, const std::string& name,
                 const std::array<Choice<Value>, kCount>& choices, std::vector<Value>& target,
                 const std::string& description) {
  add_all_read(
      app, name, joined(words_of(choices), "|"), description,
      [&choices, name](const std::string& word) {
        return tl::expected<Value, std::string>(chosen(name, choices, word));
      },
      [&target](Value value) { target.push_back(value); });
}

// Of "p3.16xlarge=250"; "" where it is one, or none is said.
std::string wrong_count(const std::string& entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string::npos) return "";
  const auto count = whole_number(entry.substr(equals + 1), 1, kMostNodes);
  return count ? "" : fmt::format("\"{}\": {}", entry, count.error());
}

tl::expected<scenarios::SharingWay, std::string> sharing_way(const std::string& text) {
  auto way = scenarios::read_sharing_way(text);
  if (way) return std::move(*way);
  const Diagnostic& problem = way.error().front();
  return tl::unexpected(problem.message + "; " + problem.help);
}

auto percent_of(const std::string& text) {
  return whole_number(text.ends_with('%') ? text.substr(0, text.size() - 1) : text, 1, 1'000);
}

}  // namespace

void add_flags(CLI::App& app, ReplayCommand& replay, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "replay", "Replay a trace of jobs under one or several schedulers",
      "  slicewise replay -f scenarios/examples/logs/team-replay.yaml\n"
      "  slicewise replay -f scenarios/examples/logs/team-trace.csv --gpus 24 --queue fifo,easy\n"
      "  slicewise replay -f scenarios/examples/logs/team-trace.csv --instances p4d.24xlarge=2 "
      "--sharing exclusive,time-slicing:4,mps:4\n"
      "  slicewise replay -f scenarios/examples/logs/team-trace.csv --nodes 3x8 --inflate 130% "
      "--placement best-fit,fgd",
      flags);
  add_text(verb, kFileNames, replay.file, "FILE",
           "Trace that `slicewise import` wrote (also .gz, .zst), or a file of kind: Replay; - for "
           "standard input")
      ->required();
  add_number(verb, "--gpus", 1, 1'000'000'000, replay.gpus,
             "One pool of GPUs, any job takes any of them");
  add_text(verb, "--nodes", replay.nodes, "FILE",
           "CSV of nodes (name,cpu_milli,memory_mib,gpu,model), or 250x8: nodes x GPUs");
  verb.add_option("--instances", replay.instances, "Instance types and counts: p3.16xlarge=250")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("TYPE=N")
      ->check(CLI::Validator(wrong_count, ""));
  add_text(verb, "--region", replay.region, "REGION",
           fmt::format("Whose on-demand prices --instances cost (default {})",
                       scenarios::ReplayFile{}.region));
  add_prices(verb, replay.prices);
  add_catalogue(verb, flags);
  verb.add_flag("--any-gpu", replay.any_gpu, "Jobs take GPUs of any model, whatever they ask for");
  add_choices(
      verb, "--queue", kQueuePolicies, replay.queues,
      "Which waiting job goes next; several to compare (default fifo, with --sharing backfill)");
  add_choices(verb, "--placement", kNodePolicies, replay.placements,
              "Which node a job gets; several to compare (default best-fit, with --sharing "
              "least-allocated)");
  add_all_read(verb, "--sharing", "WAY",
               "How jobs share the GPUs of --instances: exclusive, time-slicing:4, mps:4, "
               "mig:all-1g.5gb; several to compare (default: a job gets the part of a GPU that the "
               "trace says, and nobody slows it down)",
               sharing_way,
               [&replay](const scenarios::SharingWay& way) { replay.sharings.push_back(way); });
  verb.add_option("--profile-by", replay.profile_rules,
                  "What jobs are, for what the trace does not say of their use: "
                  "name~=bert.*:PROFILE, user=ana:PROFILE, use=0.2..0.5:PROFILE, a draw "
                  "name~=.*:PROFILE*3|OTHER, or a file of such lines; the first that fits counts")
      ->type_name("RULE")
      ->allow_extra_args(false);
  add_number(verb, "--backoff-limit", 0, 1'000, replay.backoff_limit,
             "Times that a job comes back after it found no GPU memory left (default: the trace's "
             "backoff_limit, else 6)");
  add_choice(verb, "--inputs", kInputChoices, replay.inputs,
             "As given, or with the least and the most of GPU_UTIL that may be busy time as well "
             "(default given)");
  verb.add_flag("--skip-bad", replay.skip_bad,
                "Leave out and count rows that cannot be read instead of stopping");
  add_choice(verb, "--group-by", kGroupBys, replay.group_by,
             "Figures by what jobs have in common, worst first");
  verb.add_flag("--restart-preempted", replay.restart_preempted,
                "Preempted jobs start over instead of going on");
  add_number(verb, "--repeat", 1, 1'000'000, replay.repeat, "Replay the trace this many times");
  add_read(verb, "--shift", "DURATION", "Time between repetitions: 137d", scenarios::parse_duration,
           [&replay](Duration shift) { replay.shift = shift; });
  add_read(verb, "--inflate", "PERCENT",
           "Let jobs arrive and stay until they ask for this share of all GPUs: 130%", percent_of,
           [&replay](std::int64_t percent) { replay.inflate = static_cast<int>(percent); });
  add_seed(verb, replay.seed, fmt::format(" {}", scenarios::kUsualSeed));
  add_number(verb, "--replications", 1, 1'000, replay.replications,
             "Seeds of --inflate (default 1)");
  add_journal(verb, replay.journal);
  add_allow_pending(verb, replay.allow_pending);
  add_format(verb, kRunFormats, replay.format);
  add_text(verb, "--job-times", replay.job_times, "FILE",
           "Write start and end of each job under the first scheduler here");
  add_out(verb, replay.out);
  add_threads(verb, replay.jobs);
  add_size_limits(verb, replay.limits);
  add_progress(verb, replay.progress);
}

ExitCode execute(const ReplayCommand& given, const CommonFlags& flags) {
  ReplayCommand command = given;
  std::vector<SourceText> sources;
  Expected<ReplayInput> input = open_replay(command, sources);
  if (!input) return fail(input.error(), sources, flags);
  for (const std::string& wrong : {conflict(command), without_effect(given, command)}) {
    if (!wrong.empty()) return usage_error(wrong, "see slicewise replay --help");
  }
  const auto runs = input->trace.run.values();
  if (std::ranges::none_of(runs, [](Duration run) { return run.ns >= 0; })) {
    return fail({make_diagnostic(Code::TraceFormat, {command.file, 1, 1, 1},
                                 runs.empty() ? "the trace has no job to replay"
                                              : "no job of the trace says how long it ran",
                                 "each line after the one with the columns is a job")},
                {}, flags);
  }
  auto opened = open_catalogue(flags);
  if (!opened) return opened.error();
  models::Catalogue& catalogue = *opened;
  if (const ExitCode code = prepare(input->trace, command, catalogue, sources, flags);
      failed(code)) {
    return code;
  }
  if (const auto missing = missing_column(command.group_by, input->trace); !missing.empty()) {
    return fail({make_diagnostic(Code::TraceColumnMissing, {input->trace.file},
                                 fmt::format("--group-by: the trace has no column {}", missing))},
                sources, flags);
  }
  if (contains(command.queues, sim::QueuePolicy::Priority) && input->trace.priority.empty()) {
    add_note(input->skipped, Code::InputAssumed, {},
             "the trace has no priorities: --queue priority goes by arrival, as backfill does", "");
  }
  PriceFile prices;
  if (const ExitCode code = lay_prices_over(catalogue, command.prices, flags, &prices);
      failed(code)) {
    return code;
  }
  auto cluster = named_cluster(command, catalogue);
  if (!cluster) return fail(cluster.error(), sources, flags);
  if (!command.instances.empty()) name_gpus(input->trace, catalogue, cluster->cluster);
  sim::ReplayOrigin origin{.stamp = {}, .cluster = cluster->text, .price = cluster->price};
  origin.stamp.scenario_file = command.file;
  origin.stamp.scenario_sha256 = input->sha256;
  origin.stamp.allow_pending = command.allow_pending;
  origin.stamp.settings = flags_of(command, flags);
  sim::stamp_layers(catalogue, origin.stamp);
  if (cluster->price) {
    origin.stamp.price_date = catalogue.prices.date();
    origin.stamp.price_file = prices.name;
    origin.stamp.price_file_sha256 = prices.sha256;
  }
  const std::string subject =
      command.journal.empty() ? "" : subject_of(origin, cluster->cluster, sources);
  if (command.inflate) {
    return with_journal(command, flags, subject, [&](StudyJournal* journal) {
      return inflate_trace(input->trace, *cluster, origin, command, flags, journal);
    });
  }
  auto sharings = named_sharings(command, *cluster, catalogue);
  if (!sharings) return fail(sharings.error(), sources, flags);
  if (command.sharings.empty()) {
    const Diagnostics above = jobs_above_memory(input->trace, cluster->cluster, catalogue);
    input->skipped.insert(input->skipped.end(), above.begin(), above.end());
  }
  return with_journal(command, flags, subject, [&](StudyJournal* journal) {
    return replay_trace(*input, *cluster, std::move(*sharings), origin, command, flags, journal);
  });
}

}  // namespace slicewise::tools
