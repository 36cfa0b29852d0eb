#include <algorithm>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/advice.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/sim/lint.hpp"

#include "../choices.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../host.hpp"
#include "../import_notes.hpp"
#include "../kubectl.hpp"
#include "../options.hpp"
#include "../plan_run.hpp"
#include "../prometheus_server.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

// A cluster, read, simulated, compared with what was recorded and planned anew: the verbs that do
// these one after the other, their files in memory until all are there.
namespace slicewise::tools {
namespace {

using reports::Advice;
using reports::ExportFiles;

constexpr const char* kCluster = "cluster";
constexpr const char* kScenario = "scenario.yaml";
constexpr const char* kToday = "today.json";
constexpr const char* kPlan = "plan.json";
constexpr const char* kPage = "report.html";

// What is known of the cluster before anything is simulated.
struct ClusterReading {
  std::vector<SourceText> objects;
  std::vector<SourceText> all;  // with the answers of Prometheus
  std::string recorded_from;
  std::vector<std::string> notes;
};

Expected<std::vector<SourceText>> read_texts(const std::vector<std::string>& names) {
  std::vector<SourceText> texts;
  Diagnostics unreadable;
  for (const std::string& name : names) {
    auto text = read_source(name, scenarios::kLargestUnpacked);
    if (text) {
      texts.push_back(std::move(*text));
    } else {
      std::ranges::move(text.error(), std::back_inserter(unreadable));
    }
  }
  if (!unreadable.empty()) return tl::unexpected(std::move(unreadable));
  return texts;
}

Expected<ClusterReading> read_cluster(const AdviseCommand& command) {
  auto objects = command.files.empty()
                     ? objects_of({"kubectl", command.context, command.kubeconfig})
                     : read_texts(command.files);
  if (!objects) return tl::unexpected(objects.error());
  ClusterReading reading{*objects, std::move(*objects), "", {}};
  if (command.prometheus.empty()) return reading;
  const auto window = scenarios::prometheus_window(command.start, command.end, command.step,
                                                   static_cast<std::int64_t>(std::time(nullptr)));
  if (!window) return tl::unexpected(window.error());
  auto answers = ask_prometheus(command.prometheus, *window, command.latency);
  if (!answers) return tl::unexpected(answers.error());
  for (const std::string& series : answers->missing) {
    reading.notes.push_back("the import does without " + series);
  }
  std::ranges::move(answers->texts, std::back_inserter(reading.all));
  reading.recorded_from =
      fmt::format("{}, Unix seconds {} to {}", without_credentials(command.prometheus),
                  window->start_s, window->end_s);
  return reading;
}

// The verbs in memory: what one writes the next ones read.
class Workshop {
 public:
  explicit Workshop(const AdviseCommand& command, const CommonFlags& flags)
      : flags_(flags),
        stop_(catch_interrupt()),
        progress_(command.progress, flags.quiet, "simulations", Progress::Total::Grows) {
    if (const Host* const outer = current_host()) host_.files = outer->files;
    host_.stop = &stop_;
    host_.progress = [this](std::int64_t done, std::int64_t total, std::string_view) {
      progress_.update(done, total);
    };
  }

  template <class AnyCommand>
  ExitCode run(const AnyCommand& command) {
    host_.errors.clear();
    ExitCode code = ExitCode::Success;
    {
      const HostScope scope(host_);
      code = execute(command, flags_);
    }
    progress_.finish();
    for (auto& [path, written] : host_.written) host_.files[path] = written.text;
    return code;
  }

  // A file that is there from the start.
  void put(const std::string& path, std::string text) {
    host_.written[path] = {text, false};
    host_.files[path] = std::move(text);
  }

  // Files whose paths begin so.
  void drop(std::string_view start) {
    std::erase_if(host_.written, [&](const auto& file) { return file.first.starts_with(start); });
  }

  bool interrupted() const { return stop_.load(); }
  bool has(const std::string& path) const { return host_.written.contains(path); }
  const std::string& text(const std::string& path) const { return host_.files.at(path); }
  // In another format of -o.
  std::string rendering(const std::string& format) const {
    const auto found = host_.renderings.find(format);
    return found == host_.renderings.end() ? std::string() : found->second;
  }
  // What the last verb had to say.
  const std::string& said() const { return host_.errors; }

  // All files, or those of a folder by their paths in it.
  ExportFiles files(const std::string& folder = "") const {
    ExportFiles files;
    for (const auto& [path, written] : host_.written) {
      if (path.starts_with(folder)) {
        files.push_back({path.substr(folder.size()), written.text, written.executable});
      }
    }
    return files;
  }

 private:
  const CommonFlags& flags_;
  const std::atomic<bool>& stop_;
  Progress progress_;
  Host host_{.files = {}};
};

// A flag as it was given, for the commands that people may repeat.
std::string flag_words(const std::string& flag, const std::vector<std::string>& values) {
  return values.empty() ? "" : fmt::format(" {} {}", flag, fmt::join(values, ","));
}

std::string shared_flags(const AdviseCommand& command) {
  std::string text;
  for (const std::string& setting : command.set) text += fmt::format(" --set '{}'", setting);
  if (command.seed) text += fmt::format(" --seed {}", *command.seed);
  if (command.replications) text += fmt::format(" --replications {}", *command.replications);
  if (!command.prices.empty()) text += fmt::format(" --prices {}", command.prices);
  if (command.allow_pending) text += " --allow-pending";
  return text;
}

std::string plan_flags(const AdviseCommand& command) {
  std::string text = flag_words("--instances", command.options.instance_types) +
                     flag_words("--purchase", command.options.purchases) +
                     flag_words("--strategies", command.options.strategies);
  const auto numbers = [&](const char* flag, const std::vector<int>& values) {
    if (!values.empty()) text += fmt::format(" {} {}", flag, fmt::join(values, ","));
  };
  numbers("--replicas", command.options.replicas);
  numbers("--tensor-parallel", command.options.tensor_parallel);
  numbers("--max-batch", command.options.max_batches);
  std::vector<std::string> delays;
  for (const Duration delay : command.options.max_delays) {
    delays.push_back(fmt::format("{:.10g}ms", to_seconds(delay) * 1e3));
  }
  text += flag_words("--max-delay", delays);
  numbers("--concurrency", command.options.concurrencies);
  const auto number = [&](const char* flag, const std::optional<int>& value) {
    if (value) text += fmt::format(" {} {}", flag, *value);
  };
  number("--max-nodes", command.options.max_nodes);
  number("--max-cost", command.max_cost);
  number("--vary-pods", command.vary_pods);
  number("--top", command.top);
  const auto word = [&](const char* flag, const auto& choices, const auto& value) {
    for (const auto& choice : choices) {
      if (value && choice.value == *value) text += fmt::format(" {} {}", flag, choice.word);
    }
  };
  word("--survive", kOutages, command.survive);
  word("--objective", kGoals, command.options.goal);
  if (command.no_split) text += " --no-split";
  if (command.no_headroom) text += " --no-headroom";
  if (command.no_risk) text += " --no-risk";
  if (command.no_flips) text += " --no-flips";
  return text + shared_flags(command);
}

// Whether a verb did what it is for; a verdict against the cluster is no failure of it.
bool is_answer(ExitCode code) {
  return code == ExitCode::Success || code == ExitCode::Infeasible || code == ExitCode::PodsLost ||
         code == ExitCode::ObjectiveMissed;
}

RunCommand run_command(const AdviseCommand& command) {
  RunCommand run;
  static_cast<SimulatingCommand&>(run) = command;
  run.file = kScenario;
  run.format = RunFormat::Json;
  run.out = kToday;
  return run;
}

PlanCommand plan_command(const AdviseCommand& command, const std::string& from) {
  PlanCommand plan = command;
  plan.file = kScenario;
  plan.format = RunFormat::Json;
  plan.from = from;
  plan.out = kPlan;
  return plan;
}

ExportCommand bundle_command(const AdviseCommand& command, const std::string& file,
                             const std::string& folder) {
  const auto bundle =
      std::ranges::find(reports::kExportKinds, "bundle", &reports::ExportKind::name);
  ExportCommand exporting;
  exporting.file = file;
  exporting.kind = &*bundle;
  exporting.limits = command.limits;
  if (file == kScenario) exporting.set = command.set;
  exporting.out = folder;
  return exporting;
}

class Adviser {
 public:
  Adviser(const AdviseCommand& command, const CommonFlags& flags)
      : command_(command), flags_(flags), workshop_(command, flags) {}

  ExitCode advise(const ClusterReading& reading, const scenarios::Imported& imported) {
    advice_.recorded_from = reading.recorded_from;
    if (command_.prometheus.empty() && !imported.recorded.empty()) {
      advice_.recorded_from = "answers of Prometheus among the files";
    }
    has_operator_ = imported.has_operator;
    advice_.notes = reading.notes;
    std::ranges::copy(import_notes(imported), std::back_inserter(advice_.notes));
    take_scenario(reading, imported);
    ExitCode code = simulate(imported);
    if (is_answer(code)) code = plan();
    if (workshop_.interrupted()) code = interrupted();
    workshop_.put("README.md", reports::advice_text(listed()));
    const ExitCode written = write_directory(
        command_.out, workshop_.files(), command_.replace ? Existing::Replaced : Existing::Refused);
    if (written != ExitCode::Success) return written;
    // What was found is in the advice, whatever it says of the cluster.
    return is_answer(code) ? ExitCode::Success : code;
  }

 private:
  void take_scenario(const ClusterReading& reading, const scenarios::Imported& imported) {
    const auto& text = std::get<scenarios::ScenarioText>(imported.content);
    workshop_.put(kScenario, text.yaml);
    if (!text.missing.empty()) advice_.notes.push_back(text.missing);
    if (!command_.prometheus.empty()) return;
    const std::string forward = port_forward(reading.objects);
    advice_.how_to_record =
        forward.empty() ? "With --prometheus URL the figures of its server are read."
                        : fmt::format(
                              "There is a Prometheus in the cluster. Beside this command:\n\n"
                              "    {}\n\nadvise again, with --prometheus "
                              "http://localhost:9090.",
                              forward);
  }

  ExitCode simulate(const scenarios::Imported& imported) {
    const ExitCode code = workshop_.run(run_command(command_));
    command("run", fmt::format("{}{} -o json --out {}", kScenario, shared_flags(command_), kToday));
    if (!workshop_.has(kToday)) return stopped(code);
    advice_.deviations = reports::deviations(imported.recorded, workshop_.text(kToday));
    return code;
  }

  ExitCode plan() {
    std::string from = kScenario;
    ExitCode code = workshop_.run(plan_command(command_, from));
    if (!workshop_.has(kPlan)) {
      // Not every cluster is a set of pools that a path can start from.
      advice_.no_path = workshop_.said();
      from.clear();
      if (!workshop_.interrupted()) code = workshop_.run(plan_command(command_, from));
      if (!workshop_.has(kPlan)) return stopped(code);
    }
    advice_.plan_markdown = workshop_.rendering("md");
    // Pages and files to apply, and metrics that call an option the best, are of whole plans.
    if (workshop_.interrupted()) return code;
    command("plan",
            fmt::format("{}{}{} -o json --out {}", kScenario, from.empty() ? "" : " --from " + from,
                        plan_flags(command_), kPlan));
    const auto found = reports::read_plan({kPlan, workshop_.text(kPlan)});
    if (!found) return fail(found.error(), {}, flags_);
    workshop_.put("metrics.prom",
                  reports::advice_metrics(*found, advice_.deviations, listed().scenario));
    workshop_.put("dashboard.json", reports::advice_dashboard());
    draw();
    advice_.keeps_as_is = found->keep_as_is;
    if (!found->options.empty() && !found->keep_as_is) write_configuration();
    return code;
  }

  void draw() {
    ReportCommand report;
    report.file = kPlan;
    report.outputs = {fmt::format("html={}", kPage)};
    report.jobs = command_.jobs;
    report.limits = command_.limits;
    note_failure(workshop_.run(report));  // the plan says with which prices
    command("report", fmt::format("{} -o html={}", kPlan, kPage));
  }

  void write_configuration() {
    const auto write = [&](const std::string& file, const std::string& words, const char* folder) {
      ExportCommand bundle = bundle_command(command_, file, folder);
      bundle.by_operator = has_operator_;
      note_failure(workshop_.run(bundle));
      note_warnings();
      command("export", fmt::format("{}{} --to bundle{} --out {}", file, words,
                                    has_operator_ ? " --gpu-operator" : "", folder));
    };
    write(std::string(kPlan) + "#1", "", "apply");
    std::string settings;
    for (const std::string& setting : command_.set) settings += fmt::format(" --set '{}'", setting);
    write(kScenario, settings, "today");
    workshop_.put("changes.diff", reports::files_diff(files_to_apply("today/"),
                                                      files_to_apply("apply/"), "today", "apply"));
  }

  // Sums change with every file, and nobody reads them.
  reports::ExportFiles files_to_apply(const std::string& folder) const {
    reports::ExportFiles files = workshop_.files(folder);
    std::erase_if(files, [](const auto& file) { return file.path.ends_with("SHA256SUMS"); });
    return files;
  }

  // Of a step that the advice can do without.
  void note_failure(ExitCode code) {
    if (!is_answer(code)) advice_.notes.push_back(workshop_.said());
  }

  // Of files that were written.
  void note_warnings() {
    constexpr std::string_view kWarning = "warning: ";
    std::istringstream lines(workshop_.said());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kWarning)) advice_.notes.push_back(line.substr(kWarning.size()));
    }
  }

  // The directory has what there is until here, and says so: nothing that may be half of itself.
  ExitCode interrupted() {
    constexpr const char* kSaid = "interrupted: the advice covers what had been simulated";
    print_error(kSaid);
    for (const char* half :
         {kPage, "metrics.prom", "dashboard.json", "apply/", "today/", "changes.diff"}) {
      workshop_.drop(half);
    }
    advice_.problem += fmt::format("{}\n", kSaid);
    return ExitCode::Interrupted;
  }

  // What ends the advice is said at once.
  ExitCode stopped(ExitCode code) {
    print_error(workshop_.said());
    advice_.problem = workshop_.said();
    return code;
  }

  void command(const std::string& verb, const std::string& rest) {
    advice_.commands.push_back(fmt::format("slicewise {} {}", verb, rest));
  }

  const Advice& listed() {
    advice_.scenario = command_.name.empty() ? kCluster : command_.name;
    advice_.files = workshop_.files();
    return advice_;
  }

  const AdviseCommand& command_;
  const CommonFlags& flags_;
  Workshop workshop_;
  bool has_operator_ = false;
  Advice advice_;
};

// What does not go together, before anything is read; "" when all is well.
std::string clash_of(const AdviseCommand& command) {
  if (!command.files.empty() && (!command.context.empty() || !command.kubeconfig.empty())) {
    return "-f reads files: --context and --kubeconfig are for kubectl";
  }
  const bool of_server = !command.start.empty() || !command.end.empty() || !command.step.empty() ||
                         !command.latency.empty();
  return of_server && command.prometheus.empty()
             ? "--start, --end, --step and --latency go with --prometheus"
             : "";
}

}  // namespace

void add_flags(CLI::App& app, AdviseCommand& advise, CommonFlags& flags) {
  CLI::App& verb = add_verb(app, "advise",
                            "Read a cluster, simulate it as it is, and write what would be cheaper",
                            "  slicewise advise -f scenarios/examples/logs/kubectl.json "
                            "--instances g4dn.xlarge,g5.xlarge "
                            "--out advice",
                            flags);
  verb.add_option(kFileNames, advise.files,
                  "What kubectl get -o json printed, or answers of Prometheus; may be repeated "
                  "(default: kubectl is asked, get only)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_more_files(verb, advise.files);
  add_text(verb, "--context", advise.context, "NAME", "Of kubectl (default: the current one)");
  add_text(verb, "--kubeconfig", advise.kubeconfig, "FILE", "Of kubectl");
  add_text(verb, "--name", advise.name, "NAME", "Of the cluster: in the scenario and its metrics");
  add_text(verb, "--prometheus", advise.prometheus, "URL",
           "Server with what DCGM exporter and kube-state-metrics recorded");
  add_text(
      verb, "--start", advise.start, "TIME",
      "Of the recording: 2024-06-10T00:00:00Z or Unix seconds (default: a day before the end)");
  add_text(verb, "--end", advise.end, "TIME", "Likewise (default: now)");
  add_text(verb, "--step", advise.step, "DURATION", "Between two samples: 60s");
  add_text(verb, "--latency", advise.latency, "METRIC",
           "A histogram to hold latencies to: vllm:e2e_request_latency_seconds");
  add_text(verb, "--out", advise.out, "DIR", "Directory to write")->required();
  verb.add_flag("--replace", advise.replace, "Write over an advice that is there");
  add_plan_choices(verb, advise);
  add_allow_pending(verb, advise.allow_pending);
  verb.add_option("--set", advise.set,
                  "Change the scenario first: workloads.asr.slo.latencyP99=300ms")
      ->type_name("PATH=VALUE")
      ->check(CLI::Validator(check_setting, ""))
      ->allow_extra_args(false)
      ->group(kCommonFlags);
  add_replications(verb, advise);
  add_prices_and_progress(verb, advise);
  add_catalogue(verb, flags);
}

ExitCode execute(const AdviseCommand& command, const CommonFlags& flags) {
  if (const std::string clash = clash_of(command); !clash.empty()) return usage_error(clash, "");
  std::error_code error;
  if (!command.replace && std::filesystem::exists(command.out, error) &&
      !std::filesystem::is_empty(command.out, error)) {
    return usage_error(
        fmt::format("--out: \"{}\" exists and is not an empty directory", command.out),
        "--replace writes over the advice that is there");
  }
  const auto catalogue = open_catalogue(flags);
  if (!catalogue) return catalogue.error();
  const Expected<ClusterReading> reading = read_cluster(command);
  if (!reading) return fail(reading.error(), {}, flags);
  scenarios::ImportOptions options;
  options.name = command.name.empty() ? kCluster : command.name;
  options.latency = command.latency;
  sim::take_catalogue(*catalogue, options);
  const auto imported = scenarios::import_log(scenarios::ImportKind::K8s, reading->all, options);
  if (!imported) return fail(imported.error(), reading->all, flags);
  const ExitCode code = Adviser(command, flags).advise(*reading, *imported);
  if (!flags.quiet && code != ExitCode::FileAccess) {
    print_error(fmt::format("note: the advice is in {}",
                            (std::filesystem::path(command.out) / "README.md").string()));
  }
  return code;
}

}  // namespace slicewise::tools
