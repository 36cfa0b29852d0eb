#include <unistd.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/reports/explain.hpp"
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

}  // namespace

ExitCode execute(const ExplainCommand& command, const CommonFlags& flags) {
  if (command.topic.empty()) {
    return write_text("", reports::explain_topics());
  }
  if (!command.name.empty() && command.topic != kProfileTopic) {
    return usage_error("only `explain profile` takes a name, not `explain " + command.topic + "`",
                       "see slicewise explain --help");
  }
  const Expected<std::string> text = explanation(command, style_for(STDOUT_FILENO, flags.color));
  if (!text) {
    print_diagnostics(text.error(), {}, flags);
    return ExitCode::Usage;
  }
  return write_text("", *text);
}

}  // namespace slicewise::tools
