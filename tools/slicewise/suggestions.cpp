#include "suggestions.hpp"

#include <optional>

#include "slicewise/nearest_name.hpp"

namespace slicewise::tools {

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = nearest_name(wrong, known);
  return nearest ? "; did you mean \"" + *nearest + "\"?" : "";
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
