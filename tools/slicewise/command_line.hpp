#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "commands.hpp"

// The command line: how it is read, what it offers as plain data, and what to say when it is wrong.
namespace slicewise::tools {

// Decimal digits only, from `low` to `high`: "1.5", "+3", " 7" and "1e3" are refused with a
// message.
tl::expected<std::int64_t, std::string> whole_number(const std::string& text, std::int64_t low,
                                                     std::int64_t high);

// "2%" or "0.5 %" as a share of one, from 0.1 % to 100 %.
tl::expected<double, std::string> percentage(const std::string& text, bool may_be_zero = false);

// A decimal number above zero and up to a million: "0.25".
tl::expected<double, std::string> positive_factor(const std::string& text);

// "" for "path=value" with neither of them empty, else what is wrong.
std::string check_setting(const std::string& text);

// The command line as plain data, taken from the parser itself, so that completion scripts and
// suggestions cannot drift from what is accepted.

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

struct Invocation {
  CommonFlags flags;
  Command command;
  std::vector<std::string> warnings;  // about the environment
};

// Why the command line is not understood, with the nearest known name where there is one.
struct UsageError {
  std::string message;
  std::string help;
  std::string shown_first = {};  // the help of the program, for who typed its name and nothing else
};

// Reads flags, then SLICEWISE_* for the flags that are absent. Prints nothing.
tl::expected<Invocation, UsageError> parse_command_line(int argc, const char* const* argv);

// "; did you mean "run"?", or "" when nothing is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);

// What to say about an argument that `verb`, called as `full_name`, does not take.
UsageError unknown_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& argument);

// What to say where `message` says that an argument or a flag of `verb` is missing.
UsageError missing_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& message);

}  // namespace slicewise::tools
