#include "slicewise/filled_text.hpp"

#include "completion_routes.hpp"
#include "embedded/completion_files.hpp"

namespace slicewise::tools {
namespace {

std::string list(const std::vector<std::string>& words) {
  return "@('" + joined(words, "', '") + "')";
}

}  // namespace

std::string powershell_completion(const CommandInfo& root) {
  std::string words;
  std::string values;
  for (const Route& route : routes(root)) {
    words += "    '" + route.path + "' = " + list(next_words(*route.command)) + "\n";
    for (const FlagInfo& flag : route.command->flags) {
      for (const std::string& name : flag.names) {
        if (!flag.choices.empty()) {
          values += "    '" + route.path + " " + name + "' = " + list(flag.choices) + "\n";
        }
      }
    }
  }
  return filled(completion_files::powershell_ps1(), {{"words", words}, {"values", values}});
}

}  // namespace slicewise::tools
