#include <algorithm>

#include "completion_routes.hpp"

namespace slicewise::tools {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return "'" + escaped + "'";
}

// The fish condition that holds when the words so far lead to this route and no further.
std::string condition(const Route& route) {
  std::string text;
  std::string rest = route.path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    text += (text.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
            rest.substr(1, end - 1);
    rest.erase(0, end);
  }
  if (!route.command->commands.empty()) {
    text += (text.empty() ? "" : "; and ") + std::string("not __fish_seen_subcommand_from ") +
            joined(names_of(route.command->commands), " ");
  }
  return text;
}

std::string flag_arguments(const FlagInfo& flag) {
  std::string text;
  for (const std::string& name : flag.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (flag.takes_file) {
    text += " -r -F";
  } else if (flag.takes_value) {
    text += " -x";
  }
  if (!flag.choices.empty()) {
    text += " -a " + fish_quoted(joined(flag.choices, " "));
  }
  return text + " -d " + fish_quoted(flag.description);
}

}  // namespace

std::string fish_completion(const CommandInfo& root) {
  std::string text =
      "# fish completion of slicewise: slicewise completion fish | source\n"
      "complete -c slicewise -f\n";
  for (const Route& route : routes(root)) {
    const std::string start = "complete -c slicewise -n " + fish_quoted(condition(route));
    for (const CommandInfo& child : route.command->commands) {
      text += start + " -a " + child.name + " -d " + fish_quoted(child.description) + "\n";
    }
    if (!route.command->positional_choices.empty()) {
      text += start + " -a " + fish_quoted(joined(route.command->positional_choices, " ")) + "\n";
    }
    if (takes_file(*route.command)) text += start + " -F\n";
    for (const FlagInfo& flag : route.command->flags) {
      text += start + flag_arguments(flag) + "\n";
    }
  }
  return text;
}

}  // namespace slicewise::tools
