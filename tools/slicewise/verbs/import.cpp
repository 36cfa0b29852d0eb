#include "slicewise/scenarios/import.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/lint.hpp"

#include "../cluster_reading.hpp"
#include "../command_line.hpp"
#include "../commands.hpp"
#include "../files.hpp"
#include "../import_notes.hpp"
#include "../options.hpp"
#include "../prometheus_server.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

using scenarios::Imported;
using scenarios::ImportKind;
using scenarios::ImportOptions;
using scenarios::ScenarioText;

bool guesses_nodes(ImportKind kind) {
  return kind == ImportKind::K8s || kind == ImportKind::Pods || kind == ImportKind::Prometheus;
}

// The flags as the importers take them; the message of the one that is wrong.
tl::expected<ImportOptions, UsageError> options_of(const ImportCommand& command) {
  ImportOptions options = command.options;
  const auto set = [](const std::string& flag, const std::string& text, auto parse,
                      auto& target) -> std::optional<UsageError> {
    if (text.empty()) return std::nullopt;
    const auto value = parse(text);
    if (!value) return UsageError{flag + ": " + value.error().message, value.error().help};
    target = *value;
    return std::nullopt;
  };
  for (auto problem :
       {set("--time-zone", command.time_zone, scenarios::parse_time_zone, options.time_zone),
        set("--from", command.from, scenarios::parse_duration, options.from),
        set("--length", command.length, scenarios::parse_duration, options.length)}) {
    if (problem) return tl::unexpected(std::move(*problem));
  }
  if (!command.rate_scale.empty()) {
    const auto factor = positive_factor(command.rate_scale);
    if (!factor) return tl::unexpected(UsageError{"--rate-scale: " + factor.error(), ""});
    options.rate_scale = *factor;
  }
  if (!command.out.empty() && command.format != ImportFormat::Scenario) {
    options.trace_path = command.out;
  }
  return options;
}

// What there is to read: files, or the answers of a server.
Expected<PrometheusAnswers> read_sources(const ImportCommand& command) {
  if (command.url.empty()) {
    return read_files(command.files).map([](std::vector<SourceText> texts) {
      return PrometheusAnswers{std::move(texts), {}};
    });
  }
  const auto window = scenarios::prometheus_window(command.start, command.end, command.step,
                                                   static_cast<std::int64_t>(std::time(nullptr)));
  if (!window) return tl::unexpected(window.error());
  return ask_prometheus(command.url, *window);
}

// A flag that the importer of this kind of log does not read; "" when there is none.
std::string without_effect(const ImportCommand& command) {
  using enum ImportKind;
  const auto is = [&](std::initializer_list<ImportKind> kinds) {
    return std::ranges::find(kinds, command.kind) != kinds.end();
  };
  struct Reading {
    std::string_view flag;
    bool given;
    bool read;
  };
  const bool writes_scenario = command.format == ImportFormat::Scenario || is({K8s});
  const Reading readings[] = {
      {"--columns", !command.options.columns.empty(), is({Jobs, Sacct})},
      {"--time-zone", !command.time_zone.empty(), is({Jobs, Sacct, Azure})},
      {"--from", !command.from.empty(), !is({K8s})},
      {"--length", !command.length.empty(), !is({K8s})},
      {"--replicas", command.options.replicas.has_value(), is({Sacct, Pods, Prometheus, K8s})},
      {"--pool", !command.options.pool.empty(), is({ServeGen})},
      {"--rate-scale", !command.rate_scale.empty(), is({ServeGen})},
      {"--region", !command.options.region.empty(), is({K8s})},
      {"--partitions", !command.options.partitions.empty(), is({Swf})}};
  for (const Reading& reading : readings) {
    if (reading.given && !reading.read) {
      return fmt::format("{} says nothing about `import {}`", reading.flag,
                         scenarios::kind_name(command.kind));
    }
  }
  return command.options.name.empty() || writes_scenario ? "" : "--name goes with -o scenario";
}

// Flags of a server and of files that do not go together; "" when all is well.
std::string clash_of(const ImportCommand& command) {
  if (command.url.empty()) {
    const bool of_server = !command.start.empty() || !command.end.empty() || !command.step.empty();
    return of_server ? "--start, --end and --step go with --url" : "";
  }
  if (command.kind != ImportKind::Prometheus) return "--url is for `import prometheus`";
  return command.files.empty() ? "" : "-f and --url do not go together";
}

// What is written; `missing` is of scenarios.
ScenarioText render(const Imported& imported, const ImportCommand& command,
                    const ImportOptions& options) {
  // Manifests become a scenario and nothing else.
  const bool is_scenario = std::holds_alternative<ScenarioText>(imported.content);
  switch (is_scenario ? ImportFormat::Scenario : command.format) {
    case ImportFormat::Trace:
      return {scenarios::trace_csv(imported)};
    case ImportFormat::Binary:
      return {scenarios::trace_binary(imported)};
    case ImportFormat::Scenario:
      return scenarios::scenario_of(imported, command.kind, options);
  }
  return {};
}

// "binary", or "trace.swt": a file, whose format its name tells.
void take_output(const std::string& word, ImportCommand& import) {
  const auto named = std::ranges::find(kImportFormats, word, &Choice<ImportFormat>::word);
  if (named != kImportFormats.end()) {
    import.format = named->value;
    return;
  }
  const std::string extension = std::filesystem::path(word).extension().string();
  if (extension == ".swt") {
    import.format = ImportFormat::Binary;
  } else if (extension == ".yaml" || extension == ".yml") {
    import.format = ImportFormat::Scenario;
  } else if (extension == ".csv") {
    import.format = ImportFormat::Trace;
  } else {
    throw CLI::ValidationError("--output",
                               "\"" + word +
                                   "\" is not one of trace, binary, scenario, or a file "
                                   "*.swt, *.csv, *.yaml");
  }
  import.file_named_by_format = word;
}

// `import jobs --columns sacct`: a log that has an importer of its own.
ImportKind kind_by_columns(const ImportCommand& command) {
  const auto named =
      std::ranges::find(kImportKinds, command.options.columns, &Choice<ImportKind>::word);
  if (command.kind != ImportKind::Jobs || named == kImportKinds.end()) return command.kind;
  const bool of_jobs = named->value == ImportKind::Sacct || named->value == ImportKind::Swf ||
                       named->value == ImportKind::Openb;
  return of_jobs ? named->value : command.kind;
}

}  // namespace

void add_flags(CLI::App& app, ImportCommand& import, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "import", "Turn the log of another system into a trace or a scenario",
      "  slicewise import openb -f scenarios/examples/logs/openb.csv\n"
      "  slicewise import jobs -f scenarios/examples/logs/cluster.csv --columns "
      "arrival=submit_time,run=run_time,gpus=gpu_num,group=vc\n"
      "  slicewise import sacct -f - --time-zone Europe/Berlin < scenarios/examples/logs/sacct.txt",
      flags);
  add_choice(verb, "kind", kImportKinds, import.kind, "What kind of log it is (DCGM: prometheus)")
      ->required();
  verb.add_option(
          kFileNames, import.files,
          "File to read, - for standard input; may be repeated; .gz, .zst and .tar too; k8s: "
          "folders of manifests, too")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_more_files(verb, import.files);
  verb.add_option_function<std::string>(
          "-o,--output", [&import](const std::string& word) { take_output(word, import); },
          "Format (default trace: CSV), or a file whose name tells it: trace.swt is binary")
      ->type_name("trace|binary|scenario|FILE");
  add_out(verb, import.out);
  add_catalogue(verb, flags);
  add_text(verb, "--columns", import.options.columns, "MAP",
           "jobs: which column is what, arrival=submit:ms,run=duration, or a ready map (philly, "
           "helios, sacct ...); sacct: the names of --format");
  add_text(verb, "--time-zone,--utc-offset", import.time_zone, "ZONE",
           "jobs, sacct, azure: zone of times that name none: Europe/Berlin, +08:00 (default UTC)");
  add_text(verb, "--from", import.from, "DURATION", "Leave out what arrives earlier: 100d");
  add_text(verb, "--length", import.length, "DURATION", "Leave out what arrives after that: 7d");
  verb.add_flag("--skip-bad", import.options.skip_bad,
                "Leave out and count rows that cannot be read instead of stopping");
  add_number(verb, "--replicas", 1, 1'000, import.options.replicas,
             "pods, prometheus, k8s, sacct: of the device plugin, where the log does not say");
  add_text(verb, "--pool", import.options.pool, "NAME",
           "servegen: which clients: language/m-large");
  add_text(verb, "--partitions", import.options.partitions, "MAP",
           "swf: GPUs of a processor by partition: 1=1,2=0 (default: 1 in all)");
  add_text(verb, "--rate-scale", import.rate_scale, "FACTOR", "servegen: times the rates");
  add_text(
      verb, "--region", import.options.region, "REGION",
      fmt::format("k8s: of the nodes, whose prices choose among instance types (default: as the "
                  "files say, else {})",
                  scenarios::Scenario{}.region));
  add_text(verb, "--name", import.options.name, "NAME", "Of the scenario (default: of the file)");
  add_text(verb, "--url", import.url, "URL", "prometheus: ask this server instead of a file");
  add_text(verb, "--start", import.start, "TIME",
           "prometheus: 2024-06-10T00:00:00Z or Unix seconds");
  add_text(verb, "--end", import.end, "TIME", "prometheus: likewise");
  add_text(verb, "--step", import.step, "DURATION", "prometheus: between two samples: 60s");
}

ExitCode execute(const ImportCommand& given, const CommonFlags& flags) {
  ImportCommand command = given;
  if (!command.file_named_by_format.empty()) {
    if (!command.out.empty()) {
      return usage_error("-o " + command.file_named_by_format + " and --out name a file each",
                         "-o binary --out FILE");
    }
    command.out = command.file_named_by_format;
  }
  if (const ImportKind kind = kind_by_columns(command); kind != command.kind) {
    command.kind = kind;
    command.options.columns.clear();
  }
  if (const std::string clash = clash_of(command); !clash.empty()) return usage_error(clash, "");
  if (const std::string flag = without_effect(command); !flag.empty()) {
    return usage_error(flag, "leave it out; slicewise import --help says what goes with what");
  }
  if (command.files.empty() && command.url.empty()) {
    return usage_error("--file is required", "slicewise import KIND FILE; - is standard input");
  }
  auto options = options_of(command);
  if (!options) return usage_error(options.error().message, options.error().help);
  if (guesses_nodes(command.kind)) {
    const auto catalogue = open_catalogue(flags);
    if (!catalogue) return catalogue.error();
    sim::take_catalogue(*catalogue, *options);
    const std::vector<std::string>& regions = catalogue->prices.regions();
    const std::string& region = options->region;
    if (!region.empty() && std::ranges::find(regions, region) == regions.end()) {
      const auto near = nearest_name(region, regions);
      return usage_error(fmt::format("--region: the price book has no region \"{}\"", region),
                         near ? fmt::format("did you mean {}?", *near)
                              : "slicewise get prices lists them; --prices can add one");
    }
  }
  if (command.kind == ImportKind::K8s) {
    Diagnostics problems;
    command.files = file_names(command.files, problems);
    if (!problems.empty()) return fail(problems, {}, flags);
  }
  const Expected<PrometheusAnswers> sources = read_sources(command);
  if (!sources) return fail(sources.error(), {}, flags);
  const std::vector<SourceText>& texts = sources->texts;
  const Expected<Imported> imported = scenarios::import_log(command.kind, texts, *options);
  if (!imported) return fail(imported.error(), texts, flags);
  const ScenarioText written = render(*imported, command, *options);
  if (written.yaml.empty()) {
    return usage_error(
        fmt::format("{} cannot be written in this format", scenarios::kind_name(command.kind)),
        "try -o scenario");
  }
  if (const ExitCode code = write_text(command.out, written.yaml); failed(code)) return code;
  Diagnostics left_out = imported->log.bad;
  for (Diagnostic& row : left_out) row.severity = Severity::Warning;
  print_diagnostics(left_out, texts, flags);
  if (flags.quiet) return ExitCode::Success;
  for (const std::string& series : sources->missing) {
    print_error("note: the import does without " + series);
  }
  for (const std::string& note : import_notes(*imported)) print_error("note: " + note);
  if (!written.missing.empty()) print_error("note: " + written.missing);
  return ExitCode::Success;
}

}  // namespace slicewise::tools
