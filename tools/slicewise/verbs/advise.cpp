#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/advice.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/sim/lint.hpp"

#include "../advice_commands.hpp"
#include "../cluster_reading.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../host.hpp"
#include "../import_notes.hpp"
#include "../kubectl.hpp"
#include "../options.hpp"
#include "../plan_run.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

// A cluster, read, simulated, compared with what was recorded and planned anew: the verbs that do
// these one after the other, their files in memory until all are there.
namespace slicewise::tools {
namespace {

using reports::Advice;
using reports::ExportFiles;

constexpr const char* kScenario = "scenario.yaml";
constexpr const char* kToday = "today.json";
constexpr const char* kPlan = "plan.json";
constexpr const char* kPage = "report.html";
constexpr const char* kApply = "apply";
// What an advice may be made of, beside README.md and the scenario: of one before it nothing stays.
constexpr std::array<std::string_view, 8> kParts = {
    kToday, kPlan, kPage, "metrics.prom", "dashboard.json", kApply, "today", "changes.diff"};

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

  // Of a file, or of a plan's option; nullopt: it cannot be read.
  std::optional<scenarios::Scenario> scenario(const std::string& file,
                                              const std::vector<std::string>& set = {}) {
    const HostScope scope(host_);
    const auto found = open_scenario_or_option(file, set, flags_);
    if (!found || found->loaded.set.variants.empty()) return std::nullopt;
    return found->loaded.set.variants.front();
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

// By which file of the disk, wherever it is named from: documents keep the name.
std::string whole_path(const std::string& path) {
  const Host* const host = current_host();
  const bool is_of_host = host != nullptr && host->files.contains(path);
  if (path.empty() || is_of_host) return path;
  return std::filesystem::absolute(path).lexically_normal().string();
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

ExportCommand bundle_command(const AdviseCommand& command, const std::string& file) {
  const auto bundle =
      std::ranges::find(reports::kExportKinds, "bundle", &reports::ExportKind::name);
  ExportCommand exporting;
  exporting.file = file;
  exporting.kind = &*bundle;
  exporting.limits = command.limits;
  exporting.out = kApply;
  return exporting;
}

class Adviser {
 public:
  Adviser(const AdviseCommand& command, const CommonFlags& flags, const std::string& name)
      : command_(command), flags_(flags), workshop_(command, flags) {
    advice_.scenario = name;
  }

  ExitCode advise(const ClusterReading& reading, const scenarios::Imported& imported) {
    advice_.recorded_from = reading.recorded_from;
    advice_.read_at_unix_s = reading.at_unix_s;
    if (command_.prometheus.empty() && !imported.recorded.empty()) {
      advice_.recorded_from = "answers of Prometheus among the files";
    }
    advice_.groups = imported.groups;
    advice_.notes = reading.notes;
    std::ranges::copy(import_notes(imported), std::back_inserter(advice_.notes));
    take_scenario(reading, imported);
    if (!flags_.quiet && !advice_.placeholders.empty()) {
      print_error(fmt::format(
          "warning: no recommendation: nobody says what load {} {}, nor what GPU time it takes",
          fmt::join(advice_.placeholders, ", "),
          advice_.placeholders.size() == 1 ? "has" : "have"));
    }
    ExitCode code = simulate(imported);
    if (is_answer(code)) code = plan(reading);
    if (workshop_.interrupted()) code = interrupted();
    workshop_.put("README.md", reports::advice_text(listed()));
    const ExitCode written =
        write_directory(command_.out, workshop_.files(),
                        command_.replace ? Existing::Replaced : Existing::Refused, kParts);
    if (failed(written)) return written;
    // What was found is in the advice, whatever it says of the cluster.
    return is_answer(code) ? ExitCode::Success : code;
  }

 private:
  void take_scenario(const ClusterReading& reading, const scenarios::Imported& imported) {
    const auto& text = std::get<scenarios::ScenarioText>(imported.content);
    workshop_.put(kScenario, text.yaml);
    if (!text.missing.empty()) {
      advice_.notes.push_back(text.missing +
                              (command_.set.empty() ? "" : " What --set gives takes their place."));
    }
    if (const auto scenario = workshop_.scenario(kScenario, command_.set)) {
      for (const scenarios::Workload& workload : scenario->workloads) {
        if (workload.placeholder) advice_.placeholders.push_back(workload.name.value);
      }
    }
    advice_.assumed_pools = text.assumed_pools;
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
    command("run", fmt::format("{}{} -o json --out {}", kScenario, shared_flags(command_, flags_),
                               kToday));
    if (!workshop_.has(kToday)) return stopped(code);
    advice_.deviations = reports::deviations(imported.recorded, workshop_.text(kToday));
    advice_.problem = reports::unplaced_pods(imported.on_nodes, workshop_.text(kToday));
    return code;
  }

  ExitCode plan(const ClusterReading& reading) {
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
                        plan_flags(command_, flags_), kPlan));
    const auto found = reports::read_plan({kPlan, workshop_.text(kPlan)});
    if (!found) return fail(found.error(), {}, flags_);
    workshop_.put("metrics.prom", reports::advice_metrics(*found, advice_));
    workshop_.put("dashboard.json", reports::advice_dashboard());
    draw();
    advice_.keeps_as_is = found->keep_as_is;
    // Nobody applies by mistake what follows from figures that nobody gave.
    const bool is_known = advice_.placeholders.empty();
    if (is_known && !found->options.empty() && !found->keep_as_is) write_configuration(reading);
    return code;
  }

  void draw() {
    ReportCommand report;
    report.file = kPlan;
    report.outputs = {fmt::format("html={}", kPage)};
    report.jobs = command_.jobs;
    report.limits = command_.limits;
    note_failure(workshop_.run(report));  // the plan says with which prices
    command("report", fmt::format("{}{} -o html={}", kPlan, input_flags(command_, flags_), kPage));
  }

  void write_configuration(const ClusterReading& reading) {
    const std::string option = std::string(kPlan) + "#1";
    note_failure(workshop_.run(bundle_command(command_, option)));
    if (!workshop_.has("apply/VERIFY.md")) return;
    note_warnings();
    command("export", fmt::format("{}{} --to bundle --out {}", option,
                                  input_flags(command_, flags_), kApply));
    advice_.option = workshop_.scenario(option);
    std::vector<scenarios::ClusterObject> there;
    for (const SourceText& source : reading.objects) {
      std::ranges::move(scenarios::cluster_objects(source), std::back_inserter(there));
    }
    const reports::AppliedObjects applied =
        reports::applied_objects(there, workshop_.files("apply/"));
    for (const reports::ExportFile& file : applied.before) {
      workshop_.put("today/" + file.path, file.text);
    }
    workshop_.put("changes.diff",
                  reports::files_diff(applied.before, applied.after, "today", kApply));
  }

  // Of a step that the advice can do without: its first line, without those that show where.
  void note_failure(ExitCode code) {
    const std::string& said = workshop_.said();
    if (!is_answer(code)) advice_.notes.push_back(said.substr(0, said.find('\n')));
  }

  // Of files that were written; those of today may have the same.
  void note_warnings() {
    constexpr std::string_view kWarning = "warning: ";
    std::istringstream lines(workshop_.said());
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(kWarning)) continue;
      line.erase(0, kWarning.size());
      std::vector<std::string>& notes = advice_.notes;
      if (std::ranges::find(notes, line) == notes.end()) notes.push_back(line);
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
    advice_.files = workshop_.files();
    return advice_;
  }

  const AdviseCommand& command_;
  const CommonFlags& flags_;
  Workshop workshop_;
  Advice advice_;
};

// What apply.sh writes beside itself for rollback.sh; "" where there is nothing to take back.
std::string applied_file(const std::string& directory) {
  constexpr std::array<const char*, 6> kWaysBack = {"release-before.txt",    "labels-before.txt",
                                                    "karpenter-before.yaml", "operator-before.txt",
                                                    "plugins-before.yaml",   "patched.txt"};
  for (const char* name : kWaysBack) {
    const auto file = std::filesystem::path(directory) / "apply" / name;
    std::error_code error;
    if (std::filesystem::exists(file, error)) return file.string();
  }
  return "";
}

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
  verb.add_option(
          kFileNames, advise.files,
          "What kubectl get -o json printed, or answers of Prometheus; may be repeated; .gz, .zst "
          "and .tar too "
          "(default: kubectl is asked, get only)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_more_files(verb, advise.files);
  add_text(verb, "--context", advise.context, "NAME", "Of kubectl (default: the current one)");
  add_text(verb, "--kubeconfig", advise.kubeconfig, "FILE", "Of kubectl");
  add_text(verb, "--name", advise.name, "NAME",
           "Of the cluster: in the scenario and its metrics (default: of kubectl's context)");
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

ExitCode execute(const AdviseCommand& given, const CommonFlags& given_flags) {
  AdviseCommand command = given;
  command.prices = whole_path(given.prices);
  CommonFlags flags = given_flags;
  for (std::string& file : flags.catalogues) file = whole_path(file);
  if (const std::string clash = clash_of(command); !clash.empty()) return usage_error(clash, "");
  std::error_code error;
  if (!command.replace && std::filesystem::exists(command.out, error) &&
      !std::filesystem::is_empty(command.out, error)) {
    return usage_error(
        fmt::format("--out: \"{}\" exists and is not an empty directory", command.out),
        "--replace writes over the advice that is there");
  }
  if (const std::string file = applied_file(command.out); !file.empty()) {
    return usage_error(fmt::format("--replace: that advice has been applied, and \"{}\" is the way "
                                   "back",
                                   file),
                       "apply/rollback.sh takes it back (--karpenter too, where apply.sh had it); "
                       "or choose another --out");
  }
  const auto catalogue = open_catalogue(flags);
  if (!catalogue) return catalogue.error();
  const Expected<ClusterReading> reading = read_cluster(command);
  if (!reading) return fail(reading.error(), {}, flags);
  scenarios::ImportOptions options;
  options.name = reading->name;
  options.latency = command.latency;
  sim::take_catalogue(*catalogue, options);
  const auto imported = scenarios::import_log(scenarios::ImportKind::K8s, reading->all, options);
  if (!imported) return fail(imported.error(), reading->all, flags);
  const ExitCode code = Adviser(command, flags, reading->name).advise(*reading, *imported);
  if (!flags.quiet && code != ExitCode::FileAccess) {
    print_error(fmt::format("note: the advice is in {}",
                            (std::filesystem::path(command.out) / "README.md").string()));
  }
  return code;
}

}  // namespace slicewise::tools
