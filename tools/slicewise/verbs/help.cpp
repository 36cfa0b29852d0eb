#include "../commands.hpp"
#include "../files.hpp"

namespace slicewise::tools {

ExitCode execute(const ShowTextCommand& command, const CommonFlags& /*flags*/) {
  return write_text("", command.text);
}

}  // namespace slicewise::tools
