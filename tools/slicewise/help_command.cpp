#include "commands.hpp"
#include "files.hpp"

namespace slicewise::tools {

ExitCode execute(const HelpExitCodesCommand& /*command*/, const CommonFlags& /*flags*/) {
  std::string text = "EXIT  MEANING\n";
  for (const ExitCodeInfo& info : kExitCodes) {
    std::string number = std::to_string(static_cast<int>(info.code));
    number.resize(6, ' ');
    text += number + std::string(info.meaning) + "\n";
  }
  return write_text("", text);
}

ExitCode execute(const ShowTextCommand& command, const CommonFlags& /*flags*/) {
  return write_text("", command.text);
}

}  // namespace slicewise::tools
