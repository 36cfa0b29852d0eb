#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/reports/difference.hpp"
#include "slicewise/reports/html_report.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/reports/studies.hpp"
#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/load.hpp"

#include "../commands.hpp"
#include "../engine_inside.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../replay_input.hpp"
#include "../report_input.hpp"
#include "../terminal.hpp"
#include "../verdict_exit.hpp"

namespace slicewise::tools {
namespace {

constexpr std::array<std::string_view, 4> kReportFormats = {"html", "svg", "md", "csv"};

struct ReportOutput {
  std::string format;
  std::string path;  // "": standard output
};

std::string report_text(const reports::HtmlReport& report, const std::string& format) {
  if (format == "html") return reports::html_report(report);
  if (format == "md") {
    return report.plan ? reports::Report(*report.plan).markdown()
                       : reports::Report(report.result).markdown();
  }
  return report.plan ? reports::Report(*report.plan).csv() : reports::Report(report.result).csv();
}

using Charts = std::vector<reports::ReportChart>;

ExitCode write_all_charts(const Charts& charts, const std::string& path) {
  reports::ExportFiles files;
  for (const reports::ReportChart& chart : charts) {
    files.push_back({chart.name + ".svg", chart.svg, false});
  }
  return write_directory(path, files);
}

ExitCode write_chart(const Charts& charts, const std::string& name, const std::string& path) {
  const auto chart = std::ranges::find(charts, name, &reports::ReportChart::name);
  if (chart != charts.end()) return write_text(path, chart->svg);
  std::vector<std::string_view> names;
  names.reserve(charts.size());
  for (const reports::ReportChart& other : charts) names.push_back(other.name);
  const auto nearest = nearest_name(name, names);
  return usage_error(fmt::format("--chart: this report has no chart \"{}\"{}", name,
                                 nearest ? "; did you mean \"" + *nearest + "\"?" : ""),
                     fmt::format("it has {}", fmt::join(names, ", ")));
}

// `main_chart`: what is drawn where no chart is named.
ExitCode write_charts(const Charts& charts, const ReportCommand& command,
                      const ReportOutput& output, const char* main_chart) {
  if (output.path.ends_with('/')) return write_all_charts(charts, output.path);
  return write_chart(charts, command.chart.empty() ? main_chart : command.chart, output.path);
}

ExitCode write_output(const reports::HtmlReport& report, const ReportCommand& command,
                      const ReportOutput& output) {
  if (output.format != "svg") return write_text(output.path, report_text(report, output.format));
  return write_charts(reports::report_charts(report), command, output, "options");
}

// What the page of a replay replays: the trace as it was, with the files that its flags name.
ExitCode let_page_replay(const SourceText& document, const ReportCommand& command,
                         const CommonFlags& flags, reports::EngineInside& engine) {
  auto script = engine_script(command, flags);
  if (!script) return script.error();
  reports::ReplaySource source = reports::replay_source(document);
  const auto refuse = [&](Code code, const std::string& what) {
    return fail({make_diagnostic(code, {document.name, 1, 1, 1}, what,
                                 "make it again: slicewise replay -f TRACE ... -o json")},
                {document}, flags);
  };
  if (source.flags.empty()) {
    return refuse(Code::FileUnreadable,
                  "--interactive: this replay does not say by which flags it was made");
  }
  auto trace = read_source(source.trace, reports::kLargestDocument);
  if (!trace) return fail(trace.error(), {}, flags);
  if (scenarios::sha256_hex(trace->text) != source.sha256) {
    return refuse(Code::ResultStale, fmt::format("\"{}\" has changed since", source.trace));
  }
  trace = scenarios::decompressed(std::move(*trace));  // a page holds text
  if (!trace) return fail(trace.error(), {}, flags);
  std::vector<SourceText> files = {std::move(*trace)};
  for (const std::string& flag : source.flags) {
    const std::string name = flag.substr(flag.find('=') + 1);
    const bool is_file = flag.starts_with("--prices=") || flag.starts_with("--catalogue=") ||
                         (flag.starts_with("--nodes=") && !nodes_times_gpus(name));
    if (!is_file) continue;
    auto file = read_source(name);
    if (!file) return fail(file.error(), {}, flags);
    files.push_back(std::move(*file));
  }
  engine.script = std::move(*script);
  engine.file = source.trace;
  engine.words = std::move(source.flags);
  return put_files_inside(files, flags, engine);
}

ExitCode report_on_replay(const SourceText& document, const ReportCommand& command,
                          const std::vector<ReportOutput>& outputs, const CommonFlags& flags) {
  if (!command.set.empty() || !command.variants.empty() || !command.prices.empty() ||
      command.split || !command.group_by.empty() || command.seed || command.replications ||
      command.allow_pending) {
    return usage_error("a replay is drawn as it is: no flag changes its figures",
                       "give them to slicewise replay");
  }
  for (const ReportOutput& output : outputs) {
    if (output.format == "html" || output.format == "svg") continue;
    return usage_error("--output: of a replay there are html and svg",
                       "slicewise replay -o " + output.format + " writes it");
  }
  reports::EngineInside engine;
  if (command.interactive) {
    const ExitCode code = let_page_replay(document, command, flags, engine);
    if (failed(code)) return code;
  }
  const auto page = reports::replay_page(document, command.interactive ? &engine : nullptr);
  if (!page) return fail(page.error(), {document}, flags);
  for (const ReportOutput& output : outputs) {
    const ExitCode code = output.format == "html"
                              ? write_text(output.path, page->html)
                              : write_charts(page->charts, command, output, "waiting");
    if (failed(code)) return code;
  }
  return exit_code_of_ways(page->verdicts);
}

// "html=report.html": printed and refused unless the format is known and at most one of them goes
// to standard output.
ExitCode read_outputs(const std::vector<std::string>& flags, std::vector<ReportOutput>& outputs) {
  for (const std::string& flag : flags) {
    const std::size_t equals = flag.find('=');
    const ReportOutput output{flag.substr(0, equals),
                              equals == std::string::npos ? "" : flag.substr(equals + 1)};
    if (std::ranges::find(kReportFormats, output.format) == kReportFormats.end()) {
      const auto nearest = nearest_name(output.format, kReportFormats);
      return usage_error("--output: \"" + output.format + "\" is not one of html, svg, md, csv" +
                             (nearest ? "; did you mean \"" + *nearest + "\"?" : ""),
                         "-o html=report.html");
    }
    if (equals != std::string::npos && output.path.empty()) {
      return usage_error("--output: no path after " + flag,
                         "-o " + flag + "report." + output.format);
    }
    const auto same = [&output](const ReportOutput& other) { return other.path == output.path; };
    if (std::ranges::any_of(outputs, same)) {
      return usage_error(output.path.empty()
                             ? std::string("--output: two formats for standard output")
                             : "--output: two formats for " + output.path,
                         "give each a path of its own: -o html=report.html -o md=report.md");
    }
    outputs.push_back(output);
  }
  if (outputs.empty()) outputs.push_back({"html", ""});
  return ExitCode::Success;
}

}  // namespace

void add_flags(CLI::App& app, ReportCommand& report, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "report", "Write a page with charts about a scenario, a stored result or a plan",
      "  slicewise report scenarios/examples/aws-cifar10.yaml -o html=report.html\n"
      "  slicewise report scenarios/examples/aws-cifar10.yaml --variant after -o html -o "
      "md=after.md\n"
      "  slicewise replay -f scenarios/examples/logs/team-trace.csv --instances p4d.24xlarge=2 "
      "--sharing exclusive,mps:4 -o json --out replay.json && slicewise report replay.json -o "
      "html=replay.html\n"
      "  slicewise plan -f scenarios/examples/shared-inference.yaml --instances g4dn.xlarge -o "
      "json "
      "--out plan.json && slicewise report plan.json -o html=plan.html\n"
      "  slicewise report scenarios/examples/aws-cifar10.yaml -o svg=charts/\n"
      "  slicewise report scenarios/examples/aws-cifar10.yaml -o svg=memory.svg --chart memory",
      flags);
  add_text(verb, kFileNames, report.file, "FILE",
           "Scenario, or the JSON of `run` or `plan`: simulated again, to the same figures; an "
           "option of a plan (plan.json#2) or what a step of its path leaves (plan.json#step1); or "
           "the JSON of `replay`: drawn as it is")
      ->required();
  verb.add_option(
          "-o,--output", report.outputs,
          "Format and where to write it: html, svg (one chart, or with a path that ends with / all "
          "of them in that directory), md or csv; without a path standard output; may be repeated "
          "(default html)")
      ->type_name("FORMAT[=PATH]")
      ->allow_extra_args(false);
  add_text(verb, "--chart", report.chart, "NAME",
           "The chart that -o svg writes: options, memory, latency-1, ... (default options)");
  verb.add_flag("--interactive", report.interactive,
                "With the simulator inside the page: what is moved there is simulated again");
  add_text(verb, "--engine", report.engine, "FILE",
           "The simulator that --interactive puts inside, made by tools/web/build (default: "
           "slicewise-engine.js beside the program or in ../share/slicewise)");
  verb.add_option("--variant", report.variants, "Only this variant of a scenario; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_set(verb, report.set);
  add_seed(verb, report.seed);
  add_runs(verb, report.replications);
  add_allow_pending(verb, report.allow_pending);
  add_split(verb, report.split);
  add_group_by(verb, report.group_by);
  add_prices(verb, report.prices);
  add_catalogue(verb, flags);
  add_threads(verb, report.jobs);
  add_size_limits(verb, report.limits);
  add_progress(verb, report.progress);
}

ExitCode execute(const ReportCommand& command, const CommonFlags& flags) {
  std::vector<ReportOutput> outputs;
  if (const ExitCode code = read_outputs(command.outputs, outputs); failed(code)) return code;
  const auto one_chart = [](const ReportOutput& output) {
    return output.format == "svg" && !output.path.ends_with('/');
  };
  if (!command.chart.empty() && std::ranges::none_of(outputs, one_chart)) {
    return usage_error("--chart: no output is one chart", "add -o svg=" + command.chart + ".svg");
  }
  const auto is_page = [](const ReportOutput& output) { return output.format == "html"; };
  if (command.interactive && std::ranges::none_of(outputs, is_page)) {
    return usage_error("--interactive: no output is a page", "add -o html=report.html");
  }
  if (!command.engine.empty() && !command.interactive) {
    return usage_error("--engine: nothing goes inside a page", "add --interactive");
  }
  if (command.file != "-" && !file_part(command.file).part) {
    const Expected<SourceText> source = read_source(command.file, reports::kLargestDocument);
    if (source && reports::looks_like_replay(*source)) {
      return report_on_replay(*source, command, outputs, flags);
    }
  }
  ReportInput input;
  input.is_drawn = std::ranges::any_of(outputs, [&](const ReportOutput& output) {
    return is_page(output) || output.format == "svg";
  });
  if (command.interactive) {
    auto engine = engine_script(command, flags);
    if (!engine) return engine.error();
    input.engine = std::move(*engine);
  }
  if (const ExitCode code = make_report_input(command, flags, input); failed(code)) return code;
  for (const ReportOutput& output : outputs) {
    if (const ExitCode code = write_output(input.html, command, output); failed(code)) return code;
  }
  print_diagnostics(input.notes, input.texts, flags);
  if (input.html.result.interrupted) {
    print_error("interrupted: the report covers the replications that had finished");
    return ExitCode::Interrupted;
  }
  // A page about a missed objective is what was asked for; pods that were lost are an accident. Of
  // a plan, only the scenario's own pools may lose some: it is what they are compared with.
  if (input.html.plan) return ExitCode::Success;
  std::vector<sim::Verdict> verdicts;
  for (const sim::VariantResult& variant : input.html.result.variants) {
    verdicts.push_back(variant.verdict);
    if (!variant.verdict.has(sim::Verdict::Cause::NothingRan)) continue;
    print_error(fmt::format("error: no pod ever ran in {}", variant.name));
  }
  return lost_pods_code(verdicts);
}

}  // namespace slicewise::tools
