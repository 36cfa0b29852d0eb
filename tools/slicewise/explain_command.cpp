#include <unistd.h>

#include "slicewise/reports/explain.hpp"

#include "commands.hpp"
#include "files.hpp"
#include "terminal.hpp"

namespace slicewise::tools {

ExitCode execute(const ExplainCommand& command, const CommonFlags& flags) {
  if (command.topic.empty()) {
    return write_text("", reports::explain_topics());
  }
  const Expected<std::string> text =
      reports::explain(command.topic, style_for(STDOUT_FILENO, flags.color));
  if (!text) {
    print_diagnostics(text.error(), {}, flags);
    return ExitCode::Usage;
  }
  return write_text("", *text);
}

}  // namespace slicewise::tools
