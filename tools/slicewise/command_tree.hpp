#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The command line as plain data, taken from the parser itself, so that completion scripts and
// suggestions cannot drift from what is accepted.
namespace slicewise::tools {

struct FlagInfo {
  std::vector<std::string> names;  // "--output", "-o"
  std::string description;
  bool takes_value = false;
  std::string value;  // "FILE": what it takes
  bool takes_file = false;
  std::vector<std::string> choices;  // allowed values, empty when free
};

struct PositionalInfo {
  std::string name;   // "file"
  std::string value;  // "FILE": what it takes, or the choices
  std::string description;
  bool required = false;
  bool several = false;
};

struct CommandInfo {
  std::string name;
  std::string description;
  std::string examples;
  std::vector<FlagInfo> flags;
  std::vector<PositionalInfo> positionals;
  std::vector<std::string> positional_choices;
  std::vector<CommandInfo> commands;
};

// Adds the names that free values may have, of the catalogue, the verbs and the topics of explain.
void add_known_names(CommandInfo& root);

std::vector<std::string> names_of(const std::vector<CommandInfo>& commands);
// The words of "table|wide|json"; none where there is no choice.
std::vector<std::string> split_choices(const std::string& text);
std::string joined(const std::vector<std::string>& words, const std::string& separator);

// " OLD NEW", " [FILE...]": how the arguments of a verb are written after its name.
std::string positional_line(const CommandInfo& verb);

// The manual page of all verbs, for man(1).
std::string man_page(const CommandInfo& root);

enum class Shell : std::uint8_t { Bash, Zsh, Fish, PowerShell };

// The script that completes `root` in a shell.
std::string completion_script(const CommandInfo& root, Shell shell);

}  // namespace slicewise::tools
