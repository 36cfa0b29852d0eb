#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/explain.hpp"
#include "slicewise/reports/plan_report.hpp"
#include "slicewise/reports/profile_report.hpp"

#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
namespace {

constexpr std::string_view kProfileTopic = "profile";

Expected<std::string> explanation(const ExplainCommand& command, const reports::TextStyle& style) {
  if (command.topic != kProfileTopic || command.name.empty()) {
    return reports::explain(command.topic, style);
  }
  return reports::explain_profile(models::load_catalogue(), command.name, style);
}

// "plan.json", "plan.json#2".
struct PlanTopic {
  std::string file;
  std::optional<std::size_t> option;
  bool well_formed = true;
};

std::optional<PlanTopic> plan_topic(const std::string& topic) {
  constexpr std::string_view kEnding = ".json";
  const std::size_t mark = topic.rfind('#');
  PlanTopic plan{topic.substr(0, mark), std::nullopt, true};
  if (!plan.file.ends_with(kEnding)) return std::nullopt;
  if (mark == std::string::npos) return plan;
  const std::string number = topic.substr(mark + 1);
  std::size_t option = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), option);
  plan.well_formed = error == std::errc{} && end == number.data() + number.size();
  plan.option = option;
  return plan;
}

ExitCode explain_stored(const PlanTopic& topic, const CommonFlags& flags) {
  if (!topic.well_formed) {
    return usage_error("the number of an option comes after the #",
                       "slicewise explain plan.json#2");
  }
  const Expected<SourceText> source = read_source(topic.file);
  if (!source) return fail(source.error(), {}, flags);
  const auto text =
      reports::explain_plan(*source, topic.option, style_for(STDOUT_FILENO, flags.color));
  if (!text) return fail(text.error(), {*source}, flags);
  return write_text("", *text);
}

}  // namespace

ExitCode execute(const ExplainCommand& command, const CommonFlags& flags) {
  if (command.topic.empty()) {
    return write_text("", reports::explain_topics());
  }
  if (!command.name.empty() && command.topic != kProfileTopic) {
    return usage_error("only `explain profile` takes a name, not `explain " + command.topic + "`",
                       "see slicewise explain --help");
  }
  if (const auto plan = plan_topic(command.topic)) return explain_stored(*plan, flags);
  const Expected<std::string> text = explanation(command, style_for(STDOUT_FILENO, flags.color));
  if (!text) {
    print_diagnostics(text.error(), {}, flags);
    return ExitCode::Usage;
  }
  return write_text("", *text);
}

}  // namespace slicewise::tools
