#include <string>

#include "slicewise/reports/difference.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../one_variant.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

std::string difference_text(const reports::DocumentDifference& difference,
                            const DiffCommand& command, const CommonFlags& flags) {
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
  }
  return {};
}

}  // namespace

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
    if (!source) return fail(source.error(), {}, flags);
    sources.push_back(std::move(*source));
  }
  const auto difference = reports::compare_documents(sources[0], sources[1]);
  if (!difference) return fail(difference.error(), sources, flags);
  if (const ExitCode code = write_text(command.out, difference_text(*difference, command, flags));
      code != ExitCode::Success) {
    return code;
  }
  const auto failed = reports::failed_conditions(*difference, conditions);
  for (const std::string& sentence : failed) print_error("fail-on " + sentence);
  if (!failed.empty()) return ExitCode::ObjectiveMissed;
  return command.exit_code && difference->differs() ? ExitCode::Different : ExitCode::Success;
}

}  // namespace slicewise::tools
