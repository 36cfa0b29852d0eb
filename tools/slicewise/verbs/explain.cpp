#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

#include "slicewise/reports/reference.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/reports/studies.hpp"

#include "../commands.hpp"
#include "../files.hpp"
#include "../options.hpp"
#include "../plan_part.hpp"
#include "../scenario_file.hpp"
#include "../terminal.hpp"

namespace slicewise::tools {
namespace {

constexpr std::string_view kProfileTopic = "profile";

// Of the catalogue, the user's own profiles included.
tl::expected<Expected<std::string>, ExitCode> explanation(const ExplainCommand& command,
                                                          const reports::TextStyle& style,
                                                          const CommonFlags& flags) {
  if (command.topic != kProfileTopic || command.name.empty()) {
    return reports::explain(command.topic, style);
  }
  const auto catalogue = open_catalogue(flags);
  if (!catalogue) return tl::unexpected(catalogue.error());
  return reports::explain_profile(*catalogue, command.name, style);
}

ExitCode explain_stored(const FilePart& topic, const CommonFlags& flags) {
  const Expected<SourceText> source = read_source(topic.file);
  if (!source) return fail(source.error(), {}, flags);
  const reports::TextStyle style = style_for(STDOUT_FILENO, flags.color);
  if (reports::looks_like_result(*source)) {
    const auto text = reports::explain_result(*source, topic.part.value_or(""), style);
    return text ? write_text("", *text) : fail(text.error(), {*source}, flags);
  }
  const std::string part = topic.part.value_or("");
  if (topic.part && !names_plan_part(part)) {
    return usage_error(names_no_part(part), "slicewise explain " + topic.file + "#2");
  }
  const auto number = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t step = number(step_number(part));
  const std::size_t option = number(option_number(part));
  const auto text = step > 0
                        ? reports::explain_step(*source, step, style)
                        : reports::explain_plan(
                              *source, option > 0 ? std::optional(option) : std::nullopt, style);
  return text ? write_text("", *text) : fail(text.error(), {*source}, flags);
}

}  // namespace

void add_flags(CLI::App& app, ExplainCommand& explain, CommonFlags& flags) {
  CLI::App& verb =
      add_verb(app, "explain", "Say what a code, a scenario field, a plan or a result means",
               "  slicewise explain GPU_MEM_GREEDY\n"
               "  slicewise explain spec.nodePools.devicePlugin\n"
               "  slicewise explain plan.json#2\n"
               "  slicewise explain result.json#after\n"
               "  slicewise explain profile resnet-50-inference/a100-80gb/b8",
               flags);
  add_text(verb, "topic", explain.topic, "TOPIC",
           "A code, a field path, a stored plan, an option or a step of it, a stored result or a "
           "variant or "
           "workload of it, or `profile` (default: list the topics)");
  add_text(verb, "name", explain.name, "NAME",
           "After `profile`: which one of `slicewise get profiles`");
  add_catalogue(verb, flags);
}

ExitCode execute(const ExplainCommand& command, const CommonFlags& flags) {
  if (command.topic.empty()) {
    return write_text("", reports::explain_index(style_for(STDOUT_FILENO, flags.color)));
  }
  if (!command.name.empty() && command.topic != kProfileTopic) {
    return usage_error("only `explain profile` takes a name, not `explain " + command.topic + "`",
                       "see slicewise explain --help");
  }
  // "plan.json", "plan.json#2", "plan.json#step1", "result.json#after".
  if (const FilePart stored = file_part(command.topic); stored.file.ends_with(".json")) {
    return explain_stored(stored, flags);
  }
  const auto found = explanation(command, style_for(STDOUT_FILENO, flags.color), flags);
  if (!found) return found.error();
  const Expected<std::string>& text = *found;
  if (!text) {
    print_diagnostics(text.error(), {}, flags);
    return ExitCode::Usage;
  }
  return write_text("", *text);
}

}  // namespace slicewise::tools
