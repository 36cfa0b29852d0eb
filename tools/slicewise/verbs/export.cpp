#include "slicewise/reports/export.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/sim/gpu_room.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "../commands.hpp"
#include "../environment.hpp"
#include "../files.hpp"
#include "../host.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

constexpr std::int64_t kLastStart = 7'258'118'400;  // 2200-01-01

reports::ExportOptions options_of(const ExportCommand& command, const scenarios::Scenario& exported,
                                  const std::string& scenario) {
  reports::ExportOptions options = reports::export_options(exported);
  if (!command.chart_version.empty()) {
    options.chart_version = command.chart_version;
  }
  options.image = command.image.value_or(options.image);
  options.by_operator = options.by_operator || command.by_operator;
  options.cluster = command.cluster;
  options.repository = command.repository;
  for (const std::string& label : command.node_selector) {
    const std::size_t sign = label.find('=');
    options.node_selector[label.substr(0, sign)] = label.substr(sign + 1);
  }
  options.scenario = scenario;
  options.dcgm_compat = command.dcgm_compat;
  options.most_requests = command.requests.value_or(options.most_requests);
  if (!command.start.empty()) {
    options.start_unix = scenarios::unix_seconds(command.start);
  }
  return options;
}

// Files that a scenario names by paths from its own folder, as a scenario in the folder of `out`
// has to name them.
void follow(const std::string& out, const SourceText& source, scenarios::Scenario& scenario) {
  namespace fs = std::filesystem;
  const fs::path from = source.name == "-" ? fs::path() : fs::path(source.name).parent_path();
  const fs::path to = fs::absolute(out).lexically_normal().parent_path();
  for (Located<std::string>& file : scenario.profile_files) {
    if (fs::path(file.value).is_absolute()) continue;
    const fs::path there = fs::absolute(from / file.value).lexically_normal();
    file.value = there.lexically_relative(to).string();
  }
}

// The variant that is exported as a file of its own, headed by where it is from.
std::string text_of(const ScenarioFile& file, const std::string& out) {
  const std::vector<std::string>& set = file.is_option ? file.planned_with : file.settings;
  std::string text = fmt::format("# Made by `slicewise export --to scenario` from {}",
                                 file.is_option ? file.texts.front().name : file.source().name);
  scenarios::Scenario scenario = file.loaded.set.variants.front();
  if (!out.empty()) follow(out, file.source(), scenario);
  if (scenario.name != "base") text += ", variant " + scenario.name;
  for (const std::string& setting : set) text += " --set " + setting;
  text += file.loaded.traces.empty()
              ? "\n"
              : "\n# It names traces by where they are from " + file.source().name + ".\n";
  return text + scenarios::scenario_text(file.source(), {set}, scenario);
}

// Whether somebody is to apply the scenario's pods.
bool runs_pods(const ExportCommand& command) {
  return !command.kind->shows_run && command.kind->render != reports::render_probe_job &&
         command.kind->render != reports::render_scenario;
}

// What no driver takes. Other errors, such as a figure that is missing, keep nobody from applying
// it.
Diagnostics mistakes_of(const scenarios::Scenario& scenario, const models::Catalogue& catalogue) {
  const auto world = sim::build_world(scenario, catalogue);
  Diagnostics found = world ? Diagnostics() : world.error();
  std::erase_if(found, [](const Diagnostic& d) { return d.code != Code::DraGatesExclude; });
  return found;
}

// What is known before any run to kill its pods: nobody should apply that unwarned.
Diagnostics traps_of(const scenarios::ScenarioSet& set, const models::Catalogue& catalogue) {
  Diagnostics found;
  static_cast<void>(sim::rooms_before_run(set, catalogue, found));
  // What asks for no GPU is not exported.
  const auto is_elsewhere = [&](const Diagnostic& d) {
    return std::ranges::any_of(set.variants.front().workloads, [&](const auto& workload) {
      return !workload.uses_gpu() && d.where == workload.name.where;
    });
  };
  std::erase_if(found, [&](const Diagnostic& d) {
    return (d.code != Code::GpuOom && d.code != Code::GpuMemGreedy &&
            d.code != Code::NodeSelectorUnmet) ||
           is_elsewhere(d);
  });
  return found;
}

// Of traps only these say that no pod of a workload can start.
bool starts_none(const Diagnostic& d) {
  return d.severity == Severity::Error || d.code == Code::NodeSelectorUnmet;
}

bool starts_nothing(const scenarios::Scenario& scenario, const Diagnostics& traps) {
  const auto may_start = [&](const scenarios::Workload& workload) {
    return workload.count > 0 && workload.uses_gpu() &&
           std::ranges::none_of(traps, [&](const Diagnostic& d) {
             return starts_none(d) && d.where == workload.name.where;
           });
  };
  return std::ranges::any_of(traps, starts_none) &&
         std::ranges::none_of(scenario.workloads, may_start);
}

std::string warning_of(const Diagnostics& traps) {
  std::string text;
  for (const Diagnostic& d : traps) {
    text += fmt::format("{}Warning: {}{}{}.", text.empty() ? "" : " ", d.message,
                        d.help.empty() ? "" : "; ", d.help);
  }
  return text;
}

// One file goes where it is wanted, several into a new directory.
ExitCode write_export(const reports::ExportKind& kind, const reports::ExportFiles& files,
                      const std::string& out) {
  const bool is_one = files.size() == 1 && !files.front().executable;
  if (is_one) {
    return write_text(out, files.front().text);
  }
  if (out.empty()) {
    std::string names;
    for (const reports::ExportFile& file : files) {
      names += (names.empty() ? "" : ", ") + file.path;
    }
    return usage_error("--to " + std::string(kind.name) + " writes several files: say where",
                       "add --out DIR; the files are " + names);
  }
  return write_directory(out, files);
}

// Says what is wrong with the flags of openmetrics.
ExitCode check_metrics_flags(const ExportCommand& command) {
  const bool given = !command.start.empty() || command.dcgm_compat;
  if (given && command.kind->render != reports::render_openmetrics) {
    return usage_error("--start and --dcgm-compat go with --to openmetrics", "leave them out");
  }
  const auto start = scenarios::unix_seconds(command.start);
  if (command.start.empty() || (start && *start >= 0 && *start <= kLastStart)) {
    return ExitCode::Success;
  }
  return usage_error("--start: \"" + command.start + "\" is no time from 1970 to 2200",
                     "write --start 2026-01-05T00:00:00Z");
}

// Every other word that an export refuses stands in the scenario.
bool chart_is_unknown(const Diagnostics& problems) {
  return std::ranges::any_of(problems, [](const Diagnostic& d) {
    return d.code == Code::EnumUnknown && d.where.file.empty();
  });
}

std::string check_node_label(const std::string& text) {
  const std::size_t sign = text.find('=');
  const bool is_one = sign != std::string::npos && sign > 0 && sign + 1 < text.size();
  return is_one ? "" : "\"" + text + "\" is not KEY=VALUE (eks-node=gpu)";
}

bool simulates(const reports::ExportKind& kind) {
  return kind.shows_run || kind.render == reports::render_prometheus_rule ||
         kind.render == reports::render_kueue;
}

// Flags that say nothing about this kind of file. A variable of the environment is for all kinds.
std::string idle_flag(const ExportCommand& command) {
  const auto idles = [](const char* name, bool is_given, bool is_used) {
    const bool by_environment =
        current_host() == nullptr && std::getenv(variable_of(name).c_str()) != nullptr;
    return is_given && !is_used && !by_environment;
  };
  const reports::ExportFlags& uses = command.kind->uses;
  if (idles("chart-version", !command.chart_version.empty(), uses.chart_version)) {
    return "--chart-version";
  }
  if (idles("gpu-operator", command.by_operator, uses.gpu_operator)) return "--gpu-operator";
  if (idles("image", command.image.has_value(), uses.image)) return "--image";
  if (idles("requests", command.requests.has_value(),
            command.kind->render == reports::render_csv_tables)) {
    return "--requests";
  }
  if (idles("repository", !command.repository.empty(), uses.repository)) return "--repository";
  if (idles("node-selector", !command.node_selector.empty(), uses.node_selector)) {
    return "--node-selector";
  }
  return idles("cluster", !command.cluster.empty(), uses.cluster) ? "--cluster" : "";
}

}  // namespace

void add_flags(CLI::App& app, ExportCommand& exporting, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "export", "Write the configuration that puts a scenario in place",
      "  slicewise export -f scenarios/examples/aws-cifar10.yaml --variant after --to helm-values\n"
      "  slicewise export -f scenarios/examples/aws-cifar10.yaml --variant after --to configmap "
      "--chart-version 0.14.5\n"
      "  slicewise export -f scenarios/examples/mig-multi-tenant.yaml --variant mixed --to bundle "
      "--out mig-rollout\n"
      "  slicewise export -f scenarios/examples/shared-inference.yaml --variant shared --to "
      "perfetto "
      "--out trace.json",
      flags);
  add_catalogue(verb, flags);
  add_scenario_flags(verb, exporting.file, exporting.set, exporting.out);
  add_choice(verb, "--to", kExportTargets, exporting.kind,
             "What to write (slicewise explain export)")
      ->required();
  add_text(verb, "--variant", exporting.variant, "NAME", "Which variant of the scenario");
  add_number(verb, "--candidate", 1, 100, exporting.candidate,
             "Which option, where FILE is a plan (default 1, the best)");
  add_text(verb, "--chart-version", exporting.chart_version, "VERSION",
           fmt::format("Device plugin chart to write for (default {})",
                       reports::ExportOptions{}.chart_version));
  add_choice(verb, "--image", kNodeImages, exporting.image,
             "Image of the nodes that karpenter and bundle start (default: as gpuSoftware of the "
             "scenario, al2023)");
  verb.add_flag(
      "--gpu-operator", exporting.by_operator,
      "The GPU Operator runs the device plugin: its values, not those of the plugin's chart");
  add_text(verb, "--cluster", exporting.cluster, "NAME",
           "Name of the cluster (default: the placeholder ${CLUSTER_NAME})");
  add_text(verb, "--repository", exporting.repository, "URL",
           "Git repository that Argo CD or Flux reads (default: ${REPOSITORY_URL})");
  verb.add_option("--node-selector", exporting.node_selector,
                  "Only nodes with this label run the device plugin: eks-node=gpu")
      ->type_name("KEY=VALUE")
      ->check(CLI::Validator(check_node_label, ""))
      ->allow_extra_args(false);
  add_text(
      verb, "--start", exporting.start, "TIME",
      "When the run of openmetrics begins: 2026-01-05T00:00:00Z (the default) or Unix seconds");
  verb.add_flag("--dcgm-compat", exporting.dcgm_compat,
                "Metrics of openmetrics under the names of dcgm-exporter as well");
  add_number(verb, "--requests", 1, std::numeric_limits<int>::max(), exporting.requests,
             fmt::format("Most rows of requests.csv (default {})", reports::kMostRequests));
  verb.add_flag("--force", exporting.force,
                "Write what no pod can start with, and what no driver takes, too");
  add_prices(verb, exporting.prices);
  add_size_limits(verb, exporting.limits);
}

ExitCode execute(const ExportCommand& command, const CommonFlags& flags) {
  if (const ExitCode code = check_metrics_flags(command); failed(code)) return code;
  if (const std::string flag = idle_flag(command); !flag.empty()) {
    return usage_error(fmt::format("{} says nothing about --to {}", flag, command.kind->name),
                       "leave it out; slicewise explain export says what each kind of file is");
  }
  auto opened = open_priced(command.file, command.set, command.prices, flags, command.candidate);
  if (!opened) return opened.error();
  ScenarioFile* const file = &opened->file;
  const models::Catalogue& catalogue = opened->catalogue;
  Diagnostics problems = sim::check_names(file->loaded, catalogue);
  if (!simulates(*command.kind)) {
    // What is put in place has no price.
    std::erase_if(problems, [](const Diagnostic& d) { return d.code == Code::PriceUnknown; });
  }
  if (!problems.empty()) return fail(problems, file->texts, flags);
  scenarios::ScenarioSet& set = file->loaded.set;
  if (command.variant.empty() && set.variants.size() > 1) {
    return usage_error(set.name + " has several variants: say which one with --variant",
                       "its variants are " + variant_names(set));
  }
  const std::vector<std::string> wanted =
      command.variant.empty() ? std::vector<std::string>() : std::vector{command.variant};
  if (const ExitCode code = keep_variants(set, wanted); failed(code)) return code;
  if (const ExitCode code = check_size(file->texts, set.variants, catalogue, command.limits, flags);
      failed(code)) {
    return code;
  }
  reports::ExportOptions options = options_of(command, set.variants.front(), set.name);
  // A plan has simulated its options.
  const bool is_new = !file->is_option && runs_pods(command);
  if (is_new && !command.force) {
    const Diagnostics mistakes = mistakes_of(set.variants.front(), catalogue);
    if (!mistakes.empty()) {
      const ExitCode code = fail(mistakes, file->texts, flags);
      print_error("error: no driver takes what is exported; --force writes it all the same");
      return code;
    }
  }
  Diagnostics traps = is_new ? traps_of(set, catalogue) : Diagnostics();
  if (!command.force && starts_nothing(set.variants.front(), traps)) {
    static_cast<void>(fail(traps, file->texts, flags));
    print_error("error: no pod of what is exported can start; --force writes it all the same");
    return ExitCode::Infeasible;
  }
  std::erase_if(traps, [](const Diagnostic& d) { return d.severity == Severity::Error; });
  options.origin = file->is_option ? file->origin : warning_of(traps);
  if (command.kind->render == reports::render_scenario)
    options.scenario_text = text_of(*file, command.out);
  scenarios::Scenario& exported = set.variants.front();
  // What asks for no GPU stays as the cluster has it.
  std::erase_if(exported.workloads, [](const auto& workload) { return !workload.uses_gpu(); });
  Expected<reports::ExportFiles> files = command.kind->render(exported, catalogue, options);
  if (!files) {
    const ExitCode code = fail(files.error(), file->texts, flags);
    return chart_is_unknown(files.error()) ? ExitCode::Usage : code;
  }
  const bool has_origin =
      command.kind->shows_run || command.kind->render == reports::render_scenario;
  if (!has_origin) reports::put_on_top(*files, options.origin);
  print_diagnostics(set.notes, file->texts, flags);
  print_diagnostics(traps, file->texts, flags);
  for (const reports::ExportFile& written : *files) {
    if (!written.left_out.empty()) print_error("warning: " + written.left_out);
  }
  return write_export(*command.kind, *files, command.out);
}

}  // namespace slicewise::tools
