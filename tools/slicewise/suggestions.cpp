#include "suggestions.hpp"

#include <optional>

#include "slicewise/nearest_name.hpp"

namespace slicewise::tools {

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = nearest_name(wrong, known);
  return nearest ? "; did you mean \"" + *nearest + "\"?" : "";
}

UsageError missing_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& message) {
  for (const PositionalInfo& positional : verb.positionals) {
    const std::vector<std::string> choices = split_choices(positional.value);
    if (!choices.empty() && message.starts_with(positional.name)) {
      return {message, full_name + positional_line(verb) + ", one of " + joined(choices, ", ")};
    }
  }
  const std::string help = "see " + full_name + " --help";
  return {message,
          verb.positionals.empty() ? help : full_name + positional_line(verb) + ", " + help};
}

UsageError unknown_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& argument) {
  const std::string help = "see " + full_name + " --help";
  if (argument.starts_with("-")) {
    const std::string name = argument.substr(0, argument.find('='));
    std::vector<std::string> known;
    for (const FlagInfo& flag : verb.flags) {
      known.insert(known.end(), flag.names.begin(), flag.names.end());
    }
    return {"unknown flag " + name + did_you_mean(name, known), help};
  }
  const std::string quoted = "\"" + argument + "\"";
  if (!verb.commands.empty()) {
    return {"unknown verb " + quoted + did_you_mean(argument, names_of(verb.commands)), help};
  }
  return {"unexpected argument " + quoted, help};
}

}  // namespace slicewise::tools
