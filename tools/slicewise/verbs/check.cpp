#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "slicewise/counted.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/ci.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/lint.hpp"
#include "slicewise/sim/run.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

// Scenario files are judged as `run` does, without a run. Returns what a GPU of them holds.
std::string check_scenarios(const scenarios::ClusterFiles& files, std::vector<SourceText>& texts,
                            const CommonFlags& flags, Diagnostics& findings) {
  std::string rooms;
  for (const std::size_t index : files.scenarios) {
    const ScenarioFile file = scenario_of(texts[index], {});
    const scenarios::LoadedScenario& loaded = file.loaded;
    std::vector<SourceText> read;
    const auto catalogue = laid_catalogue(flags, &file, read);
    std::ranges::move(read, std::back_inserter(texts));
    if (!catalogue) {
      std::ranges::copy(catalogue.error(), std::back_inserter(findings));
      std::ranges::copy(loaded.problems, std::back_inserter(findings));
    } else if (!loaded.problems.empty()) {
      std::ranges::move(sim::check_names(loaded, *catalogue), std::back_inserter(findings));
    } else {
      Diagnostics found = sim::check_worlds(loaded.set, *catalogue);
      const auto variants = sim::rooms_before_run(loaded.set, *catalogue, found);
      for (Diagnostic& d : found) {
        // Scenarios show the trap beside what mends it: `check --strict` lets them.
        if (d.code == Code::GpuMemGreedy) d.severity = Severity::Note;
        findings.push_back(std::move(d));
      }
      for (const std::string& line : sim::room_lines(variants)) rooms += line + "\n";
    }
    std::ranges::copy(loaded.set.notes, std::back_inserter(findings));
  }
  return rooms;
}

// As `replay` reads them; the trace is not opened.
void check_replays(const scenarios::ClusterFiles& files, const std::vector<SourceText>& texts,
                   Diagnostics& findings) {
  for (const std::size_t index : files.replays) {
    const auto replay = scenarios::read_replay_file(texts[index]);
    if (!replay) std::ranges::copy(replay.error(), std::back_inserter(findings));
  }
}

// By file in the order given, then by line; each finding once.
void put_in_order(Diagnostics& findings, const std::vector<std::string>& names) {
  const auto place = [&](const Diagnostic& d) {
    return std::tuple(std::ranges::find(names, d.where.file) - names.begin(), d.where.line,
                      d.where.column);
  };
  std::ranges::stable_sort(findings, {}, place);
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.code == b.code && a.where == b.where && a.message == b.message;
  };
  // What is said twice of one place stands together.
  findings.erase(std::unique(findings.begin(), findings.end(), same), findings.end());
}

bool holds_nothing(const scenarios::ClusterFiles& files) {
  const std::size_t judged =
      files.pods.size() + files.configs.size() + files.charts.size() + files.config_maps.size() +
      files.groups.size() + files.overlays.size() + files.mig_configs.size() + files.dra.size() +
      files.metrics.size() + files.exporters.size() + files.scenarios.size() + files.replays.size();
  return judged == 0 && files.held_to_schema == 0 && files.plugin_daemons.empty() &&
         !files.eksctl_installs;
}

std::string summary_of(const reports::CheckReport& report, bool nothing) {
  const auto count = [&](Severity severity) {
    return std::ranges::count(report.findings, severity, &Diagnostic::severity);
  };
  if (count(Severity::Error) > 0) return {};
  return fmt::format("no errors, {}, {} in {}{}\n", counted(count(Severity::Warning), "warning"),
                     counted(count(Severity::Note), "note"), counted(report.files.size(), "file"),
                     nothing ? ": nothing there that is judged (slicewise explain check)" : "");
}

std::string rendered(const CheckCommand& command, const reports::CheckReport& report,
                     const std::vector<SourceText>& texts, const CommonFlags& flags,
                     const std::string& rooms, bool nothing) {
  switch (command.format) {
    case CheckFormat::Json:
      return reports::check_json(report);
    case CheckFormat::Sarif:
      return reports::check_sarif(report);
    case CheckFormat::Github:
      return reports::check_github(report);
    case CheckFormat::Junit:
      return reports::check_junit(report, command.strict);
    case CheckFormat::Table:
      break;
  }
  reports::TextStyle style;
  if (command.out.empty()) style = style_for(STDOUT_FILENO, flags.color);
  const Severity least = flags.quiet ? Severity::Error : Severity::Note;
  return reports::diagnostics_text(report.findings, texts, style, least) +
         (flags.quiet ? "" : rooms + summary_of(report, nothing));
}

}  // namespace

void add_flags(CLI::App& app, CheckCommand& check, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "check", "Say what a cluster will do with these files: Kubernetes, Helm, Karpenter, MIG",
      "  slicewise check -f scenarios/examples/cluster\n"
      "  slicewise check scenarios/examples/cluster/values.yaml "
      "scenarios/examples/cluster/pods.yaml\n"
      "  slicewise check -f - < scenarios/examples/cluster/pods.yaml\n"
      "  slicewise check -f scenarios/examples/cluster -o github --strict",
      flags);
  verb.add_option(kFileNames, check.files,
                  "Files or folders to read, - for standard input: all are judged together")
      ->type_name("FILE")
      ->required();
  add_format(verb, kCheckFormats, check.format);
  verb.add_flag("--strict", check.strict, "Exit with 3 for warnings as well");
  add_text(verb, "--plugin-version", check.plugin_version, "VERSION",
           fmt::format("Of NVIDIA's device plugin (default {}.{}.0)",
                       scenarios::PluginVersion{}.major, scenarios::PluginVersion{}.minor));
  add_catalogue(verb, flags);
  add_out(verb, check.out);
}

ExitCode execute(const CheckCommand& command, const CommonFlags& flags) {
  scenarios::PluginVersion version;
  if (!command.plugin_version.empty()) {
    const auto given = scenarios::plugin_version(command.plugin_version);
    if (!given) {
      return usage_error("--plugin-version: \"" + command.plugin_version + "\" is no version",
                         "for example --plugin-version 0.17.4");
    }
    version = *given;
  }
  Diagnostics unreadable;
  reports::CheckReport report;
  std::vector<SourceText> texts;
  for (const std::string& name : file_names(command.files, unreadable)) {
    Expected<SourceText> text = read_source(name);
    if (!text) {
      std::ranges::move(text.error(), std::back_inserter(unreadable));
      continue;
    }
    report.files.push_back(name);
    texts.push_back(std::move(*text));
  }
  if (!unreadable.empty()) return fail(unreadable, {}, flags);
  const auto opened = open_catalogue(flags);
  if (!opened) return opened.error();
  const models::Catalogue& catalogue = *opened;
  scenarios::ClusterFiles files = scenarios::read_cluster_files(texts, version);
  report.findings = files.problems;
  std::ranges::move(sim::lint_cluster(files, catalogue, version),
                    std::back_inserter(report.findings));
  check_replays(files, texts, report.findings);
  std::string rooms = check_scenarios(files, texts, flags, report.findings);
  for (const std::string& line : sim::cluster_room_lines(files, catalogue)) rooms += line + "\n";
  put_in_order(report.findings, report.files);
  const bool nothing = holds_nothing(files);
  const ExitCode written =
      write_text(command.out, rendered(command, report, texts, flags, rooms, nothing));
  if (failed(written)) return written;
  const bool fails = std::ranges::any_of(report.findings, [&](const Diagnostic& d) {
    return d.severity == Severity::Error || (command.strict && d.severity == Severity::Warning);
  });
  return fails ? ExitCode::InvalidInput : ExitCode::Success;
}

}  // namespace slicewise::tools
