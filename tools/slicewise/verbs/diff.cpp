#include <string>

#include <fmt/format.h>

#include "slicewise/reports/difference.hpp"
#include "slicewise/reports/html_report.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../host.hpp"
#include "../options.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string difference_text(const reports::DocumentDifference& difference,
                            const std::string& picture, const DiffCommand& command,
                            const CommonFlags& flags) {
  const reports::TextStyle style = report_style(command.out, flags);
  switch (command.format) {
    case DiffFormat::Table:
      return reports::difference_table(difference, style, false);
    case DiffFormat::Wide:
      return reports::difference_table(difference, style, true);
    case DiffFormat::Json:
      return reports::difference_json(difference);
    case DiffFormat::Yaml:
      return reports::difference_yaml(difference);
    case DiffFormat::Markdown:
      return reports::difference_markdown(difference);
    case DiffFormat::Svg:
      return picture;
  }
  return {};
}

}  // namespace

void add_flags(CLI::App& app, DiffCommand& diff, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "diff",
      "Say what changed between two stored results or plans: cost, objectives, configuration",
      "  slicewise diff <(slicewise run -f scenarios/examples/aws-cifar10.yaml --variant before "
      "-o json) <(slicewise run -f scenarios/examples/aws-cifar10.yaml --variant after -o json)\n"
      "  slicewise diff <(slicewise run -f scenarios/examples/aws-cifar10.yaml -o json) "
      "<(slicewise "
      "run -f scenarios/examples/aws-cifar10.yaml -o json --set "
      "nodePools.gpu.instanceType=g5.12xlarge) -o md --fail-on pods.pending,cost:+10%",
      flags);
  add_text(verb, "old", diff.older, "FILE",
           "JSON of run, compare, max-load, plan or replay; - for standard input")
      ->required();
  add_text(verb, "new", diff.newer, "FILE", "JSON of the same verb")->required();
  add_format(verb, kDiffFormats, diff.format, "; svg draws before and after in one scatter");
  verb.add_flag("--exit-code", diff.exit_code, "Exit with 1 when the documents differ");
  verb.add_option("--fail-on", diff.fail_on,
                  "Exit with 99 when one holds: cost:+10%, cost.total, cost.per1k, cost.perJob, "
                  "p50, p90, p95, p99:+20%, p999, headroom:-10%, slo.newlyFailing, slo.failing, "
                  "verdict (it is worse), pods.pending, pods.oom, pods.failed; may be repeated")
      ->type_name("CONDITION,...")
      ->allow_extra_args(false);
  add_out(verb, diff.out);
}

ExitCode execute(const DiffCommand& command, const CommonFlags& flags) {
  std::vector<reports::FailCondition> conditions;
  for (const std::string& text : command.fail_on) {
    auto parsed = reports::parse_fail_on(text);
    if (!parsed) return usage_error("--fail-on: " + parsed.error(), "see slicewise diff --help");
    conditions.insert(conditions.end(), parsed->begin(), parsed->end());
  }
  std::vector<SourceText> sources;
  for (const std::string& path : {command.older, command.newer}) {
    Expected<SourceText> source = read_source(path, reports::kLargestDocument);
    if (!source) {
      if (const FilePart part = file_part(path); part.part) {
        source.error().front().help = fmt::format(
            "an option of a plan is a scenario: slicewise run -f '{}' -o json > option-{}.json",
            path, *part.part);
      }
      return fail(source.error(), {}, flags);
    }
    sources.push_back(std::move(*source));
  }
  auto difference = reports::compare_documents(sources[0], sources[1]);
  if (!difference) return fail(difference.error(), sources, flags);
  difference->failed = reports::failed_conditions(*difference, conditions);
  const auto picture = reports::difference_svg(*difference);
  if (!picture && command.format == DiffFormat::Svg) {
    return usage_error("--output svg: nothing has both a price and a limit, a latency or jobs",
                       "leave -o out: the table says what changed");
  }
  if (Host* const host = current_host()) {
    if (picture) host->renderings["difference.svg"] = *picture;
    const auto waiting =
        difference->kind == "Replay" ? reports::waiting_svg(sources[0], sources[1]) : std::nullopt;
    if (waiting) host->renderings["waiting.svg"] = *waiting;
  }
  const std::string text = difference_text(*difference, picture.value_or(""), command, flags);
  if (const ExitCode code = write_text(command.out, text); failed(code)) return code;
  for (const std::string& sentence : difference->failed) print_error("fail-on " + sentence);
  if (!difference->failed.empty()) return ExitCode::ObjectiveMissed;
  return command.exit_code && difference->differs() ? ExitCode::Different : ExitCode::Success;
}

}  // namespace slicewise::tools
