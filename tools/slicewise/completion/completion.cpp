#include <algorithm>

#include "completion_routes.hpp"

namespace slicewise::tools {
namespace {

void collect(const CommandInfo& command, const std::string& path, std::vector<Route>& found) {
  found.push_back({path, &command});
  for (const CommandInfo& child : command.commands) {
    collect(child, path + "/" + child.name, found);
  }
}

}  // namespace

std::vector<Route> routes(const CommandInfo& root) {
  std::vector<Route> found;
  collect(root, "", found);
  return found;
}

bool takes_file(const CommandInfo& command) {
  return std::ranges::any_of(command.positionals,
                             [](const PositionalInfo& given) { return given.value == "FILE"; });
}

std::vector<std::string> next_words(const CommandInfo& command) {
  std::vector<std::string> words;
  for (const CommandInfo& child : command.commands) {
    words.push_back(child.name);
  }
  words.insert(words.end(), command.positional_choices.begin(), command.positional_choices.end());
  for (const FlagInfo& flag : command.flags) {
    words.insert(words.end(), flag.names.begin(), flag.names.end());
  }
  return words;
}

std::string completion_script(const CommandInfo& root, Shell shell) {
  switch (shell) {
    case Shell::Bash:
      return bash_completion(root);
    case Shell::Zsh:
      return zsh_completion(root);
    case Shell::Fish:
      return fish_completion(root);
    case Shell::PowerShell:
      return powershell_completion(root);
  }
  return {};
}

}  // namespace slicewise::tools
